import { createHash, randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { HOUR_MS } from '../../domain/calendar/units.ts';
import { type Day, endOf, type Month } from '../../domain/calendar/utc.ts';
import {
  ROLLUP_MARK_SHARDS,
  rollupMarkIndexKey,
  rollupMarkIndexPartition,
  rollupMarkKey,
  spendPartition,
  timeRange,
} from '../table/keys.ts';
import { itemsBetween, queryItems } from '../table/query-items.ts';
import type { Table } from '../table/table.ts';

/**
 * A day is sealed an hour after its end, not sooner: a writer that began before midnight does not know yet that its day is over,
 * and no writer lives that long (a Lambda function ends after 15 minutes).
 */
const GRACE_MS = HOUR_MS;

const shardOf = (accountId: string): number =>
  createHash('sha256').update(accountId).digest().readUInt32BE() % ROLLUP_MARK_SHARDS;

/**
 * The write that says: this period's summary is not, or no longer, what its cells say. Every mark has a nonce of its own; who
 * seals takes the mark away only if it still is the one that stood there before the cells were read.
 */
export const markForRollup = (table: string, accountId: string, period: Day | Month, now: number) => {
  const dueAt = new Date(Math.max(endOf(period).getTime() + GRACE_MS, now)).toISOString();
  return {
    Put: {
      TableName: table,
      Item: {
        ...rollupMarkKey(accountId, period),
        ...rollupMarkIndexKey(shardOf(accountId), dueAt, accountId, period),
        accountId,
        period,
        nonce: randomUUID(),
      },
    },
  };
};

/** A day or month whose summary must be made (again). */
export interface RollupMark {
  readonly accountId: string;
  readonly period: Day | Month;
  readonly nonce: string;
}

const storedMark = z.object({ accountId: z.string(), period: z.string(), nonce: z.string() });

/** The write that takes a mark away, unless the period changed after the mark was read. */
export const removeRollupMark = (table: string, { accountId, period, nonce }: RollupMark) => ({
  Delete: {
    TableName: table,
    Key: { ...rollupMarkKey(accountId, period) },
    ConditionExpression: 'nonce = :nonce',
    ExpressionAttributeValues: { ':nonce': nonce },
  },
});

/** Marks of a shard that may be sealed by now, those due longest first. */
export async function* dueMarks(table: Table, shard: number, now: number): AsyncGenerator<RollupMark> {
  const query = {
    IndexName: 'gsi1',
    KeyConditionExpression: 'gsi1pk = :pk AND gsi1sk < :now',
    ExpressionAttributeValues: { ':pk': rollupMarkIndexPartition(shard), ':now': new Date(now).toISOString() },
  };
  for await (const item of queryItems(table, query)) yield storedMark.parse(item);
}

/** The marked days and months of an account in a range of periods, both ends included. */
export const periodsToRollUp = async (table: Table, accountId: string, from: string, to: string): Promise<string[]> => {
  const periods: string[] = [];
  const range = timeRange('UNSEALED', from, to);
  for await (const item of itemsBetween(table, spendPartition(accountId), range, { ConsistentRead: true }))
    periods.push(storedMark.parse(item).period);
  return periods;
};
