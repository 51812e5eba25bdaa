import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { HOUR_MS } from '../../domain/calendar/units.ts';
import { type Day, endOf, type Month, monthOf } from '../../domain/calendar/utc.ts';
import { check, put, remove, update } from '../table/actions.ts';
import {
  type Key,
  monthKey,
  ROLLUP_MARK_SHARDS,
  rollupMarkIndexKey,
  rollupMarkIndexPartition,
  rollupMarkKey,
  spendPartition,
  timeRange,
} from '../table/keys.ts';
import { itemsBetween, itemsOfIndex } from '../table/read.ts';
import { shardOf, type Table } from '../table/table.ts';
import { tryTransact } from '../table/write.ts';
import { monthShardKeys, readMonth } from './sharding.ts';

/** A day is rolled up an hour after its end, not sooner: until then its last events still come, and each would mark it again. */
const GRACE_MS = HOUR_MS;

/** A day or month whose summary must be written (again). */
export interface RollupMark {
  readonly accountId: string;
  readonly period: Day | Month;
  readonly nonce: string;
}

/**
 * The write that marks a period: its summary differs, or may soon differ, from its counters. Every mark has a nonce of its own. A rollup
 * removes the mark only if it still is the mark that was read before the counters.
 */
export const markForRollup = (accountId: string, period: Day | Month, now: number) => {
  const dueAt = new Date(Math.max(endOf(period).getTime() + GRACE_MS, now)).toISOString();
  return put({
    ...rollupMarkKey(accountId, period),
    ...rollupMarkIndexKey(shardOf(accountId, ROLLUP_MARK_SHARDS), dueAt, accountId, period),
    accountId,
    period,
    nonce: randomUUID(),
  });
};

/** The write that removes a mark, unless the period was marked again after the mark was read. */
export const removeRollupMark = ({ accountId, period, nonce }: RollupMark) =>
  remove(rollupMarkKey(accountId, period), 'nonce = :nonce', { nonce });

/** The check that a period was not marked again after a mark was read. */
export const requireRollupMark = ({ accountId, period, nonce }: RollupMark) =>
  check(rollupMarkKey(accountId, period), 'nonce = :nonce', { nonce });

/** Condition on a month counter: the day `:day` is not closed, nor any later day of the month. */
export const IS_OPEN = 'attribute_not_exists(closedDay) OR closedDay < :day';

/**
 * Closes a day, before its counters are read for a rollup. From then on no transaction counts in the day without marking it, not even one
 * of a process that stood still since before midnight. The month counter holds the last closed day: the transactions of a day write it
 * anyway, so their check costs nothing. Closing costs two write units and one read unit, the first time for a day; in a sharded month each
 * of its shards as much again. Shard 0 comes first: a month that is sharded after it copies its closed day.
 *
 * @throws UnavailableError where other writers keep changing the month counter
 */
export const closeDay = async (table: Table, accountId: string, day: Day): Promise<void> => {
  const month = monthOf(day);
  const close = (key: Key) => update(key, 'SET closedDay = :day', IS_OPEN, { day });
  // False where it is closed already.
  await tryTransact(table, [close(monthKey(accountId, month))]);
  const { shardedAfter } = await readMonth(table, accountId, month);
  // All shards are closed at once, so that either all or none of them are.
  if (shardedAfter) await tryTransact(table, monthShardKeys(accountId, month).map(close));
};

const storedMark = z.object({ accountId: z.string(), period: z.string(), nonce: z.string() });

/** The marks of an account in a range of periods, both ends included, each with the time since which it may be rolled up, ISO 8601 UTC. */
const marksBetween = (table: Table, accountId: string, from: string, to: string) => {
  const range = timeRange('UNSEALED', from, to);
  const items = itemsBetween(table, spendPartition(accountId), range, { ConsistentRead: true });
  return Array.fromAsync(items, (item) => ({
    ...storedMark.parse(item),
    dueAt: String(item['gsi1sk']).split('#')[0] as string,
  }));
};

/** The marks of periods whose summaries must be written. */
export const openRollupMarks = (table: Table, now: () => number = Date.now) => ({
  /** Marks of a shard whose periods may be rolled up by now, the longest due first. */
  async *due(shard: number): AsyncGenerator<RollupMark> {
    for await (const item of itemsOfIndex(table, rollupMarkIndexPartition(shard), new Date(now()).toISOString()))
      yield storedMark.parse(item);
  },

  /** The accounts of a shard that have marks: all with usage since their last rollup. */
  async *accounts(shard: number): AsyncGenerator<string> {
    const seen = new Set<string>();
    for await (const item of itemsOfIndex(table, rollupMarkIndexPartition(shard))) {
      const { accountId } = storedMark.parse(item);
      if (!seen.has(accountId)) yield accountId;
      seen.add(accountId);
    }
  },

  list: (accountId: string, from: string, to: string) => marksBetween(table, accountId, from, to),

  /** The marked days and months of an account in a range of periods, both ends included. */
  markedPeriods: async (accountId: string, from: string, to: string): Promise<string[]> =>
    (await marksBetween(table, accountId, from, to)).map(({ period }) => period),
});

export type RollupMarks = ReturnType<typeof openRollupMarks>;
