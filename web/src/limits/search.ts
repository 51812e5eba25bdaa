import type { ScopeValues } from '../scope/scope.ts';

const filterNames = ['provider', 'model', 'tag', 'key', 'project', 'client'] as const;

/** What a new rule begins with: the page that links here knows its type and what it is about. */
export type RuleSearch = { readonly type?: string | undefined } & Partial<
  Pick<ScopeValues, (typeof filterNames)[number]>
>;

export const ruleSearch = (search: Record<string, unknown>): RuleSearch => ({
  ...Object.fromEntries(
    filterNames.flatMap((name) => (typeof search[name] === 'string' ? [[name, search[name] as string]] : [])),
  ),
  type: typeof search['type'] === 'string' ? search['type'] : undefined,
});
