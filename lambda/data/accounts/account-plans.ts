import { GetCommand } from '@aws-sdk/lib-dynamodb';
import QuickLRU from 'quick-lru';
import * as z from 'zod/mini';
import { type PlanName, planNames } from '../../domain/billing/plans.ts';
import { MINUTE_MS } from '../../domain/calendar/units.ts';
import { accountKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

/** Plans rarely change, and a retention may follow a change some minutes late. */
const TTL_MS = 5 * MINUTE_MS;
const MAX_ENTRIES = 10_000;

const stored = z.object({ plan: z.catch(z.enum(planNames), 'FREE') });

/** The plans of accounts, cached for five minutes. A deleted account counts as FREE. */
export const openAccountPlans = (table: Table, now: () => number = Date.now) => {
  const cache = new QuickLRU<string, { readonly plan: PlanName; readonly readAtMs: number }>({ maxSize: MAX_ENTRIES });
  return {
    find: async (accountId: string): Promise<PlanName> => {
      const cached = cache.get(accountId);
      if (cached && now() - cached.readAtMs < TTL_MS) return cached.plan;
      const { Item } = await table.client.send(
        new GetCommand({ TableName: table.name, Key: { ...accountKey(accountId) } }),
      );
      const { plan } = stored.parse(Item ?? {});
      cache.set(accountId, { plan, readAtMs: now() });
      return plan;
    },
  };
};
