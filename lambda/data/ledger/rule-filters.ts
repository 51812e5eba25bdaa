import QuickLRU from 'quick-lru';
import * as z from 'zod/mini';
import { MINUTE_MS } from '../../domain/calendar/units.ts';
import { ruleFilterOf, storedRuleFilter } from '../../domain/limits/config-members.ts';
import type { RuleFilter } from '../../domain/limits/spend-series.ts';
import type { CountedDimensionName } from '../../domain/spend/dimensions.ts';
import { openServiceKeys, type ServiceKey } from '../accounts/service-keys.ts';
import { ruleKey } from '../table/keys.ts';
import { itemsUnder } from '../table/read.ts';
import type { Table } from '../table/table.ts';

/** Which counters an active rule counts. */
export type CounterFilter = Readonly<Partial<Record<CountedDimensionName, string>>>;

const MAX_ENTRIES = 1_000;

const storedFilter = z.object({ isActive: z.literal(true), config: z.object({ filter: storedRuleFilter }) });

/** A rule's filter by the dimensions that are counted: one for each key of its project. */
const countedFilters = ({ project, ...filter }: RuleFilter, keys: readonly ServiceKey[]): CounterFilter[] =>
  project === undefined
    ? [filter]
    : keys
        .filter(({ keyId, projectId }) => projectId === project && (filter.keyId ?? keyId) === keyId)
        .map(({ keyId }) => ({ ...filter, keyId }));

/** The filters of accounts' active alert rules, cached for a minute. */
export const openRuleFilters = (table: Table, now: () => number = Date.now) => {
  const cache = new QuickLRU<string, { readonly filters: readonly CounterFilter[]; readonly readAtMs: number }>({
    maxSize: MAX_ENTRIES,
  });
  const { list: listKeys } = openServiceKeys(table);
  return {
    find: async (accountId: string): Promise<readonly CounterFilter[]> => {
      const cached = cache.get(accountId);
      if (cached && now() - cached.readAtMs < MINUTE_MS) return cached.filters;
      const filters: RuleFilter[] = [];
      for await (const item of itemsUnder(table, ruleKey(accountId, ''))) {
        // A rule that is switched off, has no filter, or that this version cannot read, keeps no names.
        const { data } = storedFilter.safeParse(item);
        if (data) filters.push(ruleFilterOf(data.config.filter));
      }
      const keys = filters.some(({ project }) => project !== undefined) ? await listKeys(accountId) : [];
      const counted = filters.flatMap((filter) => countedFilters(filter, keys));
      cache.set(accountId, { filters: counted, readAtMs: now() });
      return counted;
    },
  };
};
