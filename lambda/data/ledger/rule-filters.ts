import QuickLRU from 'quick-lru';
import * as z from 'zod/mini';
import type { RuleFilter } from '../../domain/alert-rules/spend-series.ts';
import { MINUTE_MS } from '../../domain/calendar/units.ts';
import { ACTIVE_RULE_SHARDS, activeRulesIndexKey } from '../table/keys.ts';
import { queryItems } from '../table/query-items.ts';
import { shardOf } from '../table/shard-of.ts';
import type { Table } from '../table/table.ts';

const MAX_ENTRIES = 1_000;

const storedFilter = z.object({
  config: z.object({
    filter: z.object({
      provider: z.optional(z.string()),
      model: z.optional(z.string()),
      tag: z.optional(z.string()),
    }),
  }),
});

/** The filters of accounts' active alert rules, cached for a minute. */
export const openRuleFilters = (table: Table, now: () => number = Date.now) => {
  const cache = new QuickLRU<string, { readonly filters: readonly RuleFilter[]; readonly readAtMs: number }>({
    maxSize: MAX_ENTRIES,
  });
  return {
    find: async (accountId: string): Promise<readonly RuleFilter[]> => {
      const cached = cache.get(accountId);
      if (cached && now() - cached.readAtMs < MINUTE_MS) return cached.filters;
      const { gsi1pk, gsi1sk } = activeRulesIndexKey(shardOf(accountId, ACTIVE_RULE_SHARDS), accountId, '');
      const filters: RuleFilter[] = [];
      for await (const item of queryItems(table, {
        IndexName: 'gsi1',
        KeyConditionExpression: 'gsi1pk = :shard AND begins_with(gsi1sk, :account)',
        ExpressionAttributeValues: { ':shard': gsi1pk, ':account': gsi1sk },
      })) {
        // A rule without a filter, or that this version cannot read, keeps no names.
        const { data } = storedFilter.safeParse(item);
        if (data) filters.push(data.config.filter);
      }
      cache.set(accountId, { filters, readAtMs: now() });
      return filters;
    },
  };
};
