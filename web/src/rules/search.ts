import type { FilterValues } from './rule-filter.ts';

/** What a new rule begins with: the page that links here knows its type and what it is about. */
export type RuleSearch = { readonly type?: string | undefined } & Partial<
  Pick<FilterValues, 'provider' | 'model' | 'tag' | 'key' | 'client'>
>;

const filterNames = ['provider', 'model', 'tag', 'key', 'client'] as const;

export const ruleSearch = (search: Record<string, unknown>): RuleSearch => ({
  ...Object.fromEntries(
    filterNames.flatMap((name) => (typeof search[name] === 'string' ? [[name, search[name] as string]] : [])),
  ),
  type: typeof search['type'] === 'string' ? search['type'] : undefined,
});
