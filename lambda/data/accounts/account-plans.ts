import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { LRUCache } from 'lru-cache';
import * as z from 'zod/mini';
import { type PlanName, planNames } from '../../domain/billing/plans.ts';
import { MINUTE_MS } from '../../domain/calendar/units.ts';
import { accountKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

/** A plan changes a few times in an account's life, and a retention that is minutes late harms nobody. */
const REMEMBERED_MS = 5 * MINUTE_MS;
const MAX_REMEMBERED = 10_000;

const stored = z.object({ plan: z.catch(z.enum(planNames), 'FREE') });

/** The plans of accounts, remembered for five minutes; an account that is gone counts as FREE. */
export const openAccountPlans = (table: Table, now: () => number = Date.now) => {
  const remembered = new LRUCache<string, PlanName>({ max: MAX_REMEMBERED, ttl: REMEMBERED_MS, perf: { now } });
  return {
    find: async (accountId: string): Promise<PlanName> => {
      const known = remembered.get(accountId);
      if (known !== undefined) return known;
      const { Item } = await table.client.send(
        new GetCommand({ TableName: table.name, Key: { ...accountKey(accountId) } }),
      );
      const { plan } = stored.parse(Item ?? {});
      remembered.set(accountId, plan);
      return plan;
    },
  };
};
