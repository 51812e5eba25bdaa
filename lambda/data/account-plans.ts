import { z } from 'zod';
import { type PlanName, planNames } from '../domain/plans.ts';
import { batchRead } from './batch-read.ts';
import { accountKey } from './keys.ts';
import type { Table } from './table.ts';

/** A plan changes a few times in an account's life, and a retention that is minutes late harms nobody. */
const REMEMBERED_MS = 300_000;
const MAX_REMEMBERED = 10_000;

const stored = z.object({ pk: z.string(), plan: z.enum(planNames).catch('FREE') });

/** The plans of accounts, remembered for five minutes; an account that is gone counts as FREE. */
export const openAccountPlans = (table: Table, now: () => number = Date.now) => {
  const remembered = new Map<string, { readonly plan: PlanName; readonly until: number }>();
  return {
    find: async (accountIds: readonly string[]): Promise<ReadonlyMap<string, PlanName>> => {
      const missing = [...new Set(accountIds)].filter((id) => (remembered.get(id)?.until ?? 0) <= now());
      const items = (await batchRead(table, missing.map(accountKey), { consistent: false })).map((item) =>
        stored.parse(item),
      );
      const plans = new Map(items.map(({ pk, plan }) => [pk, plan]));
      if (remembered.size + missing.length > MAX_REMEMBERED) remembered.clear();
      for (const id of missing)
        remembered.set(id, { plan: plans.get(accountKey(id).pk) ?? 'FREE', until: now() + REMEMBERED_MS });
      return new Map(accountIds.map((id) => [id, remembered.get(id)?.plan ?? 'FREE']));
    },
  };
};
