import type { ScopeValues } from '../scope/scope.ts';

const filterNames = ['provider', 'model', 'tag', 'key', 'project', 'member', 'client'] as const;

/** A new limit begins with these: the page that links here knows its type and what it is about. */
export type LimitSearch = { readonly type?: string | undefined } & Partial<
  Pick<ScopeValues, (typeof filterNames)[number]>
>;

export const limitSearch = (search: Record<string, unknown>): LimitSearch => ({
  ...Object.fromEntries(
    filterNames.flatMap((name) => (typeof search[name] === 'string' ? [[name, search[name] as string]] : [])),
  ),
  type: typeof search['type'] === 'string' ? search['type'] : undefined,
});
