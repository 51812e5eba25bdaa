import * as z from 'zod/mini';
import type { Day, Hour, Month } from '../../domain/calendar/utc.ts';
import {
  addCounters,
  type CounterName,
  type Counters,
  isCounterName,
  PAST_EXACT,
  type SpendCounter,
} from '../../domain/spend/counters.ts';
import type { AllocationName } from '../../domain/spend/dimensions.ts';
import { currentName } from '../../domain/spend/former-names.ts';
import {
  allocationPrefix,
  type Bounds,
  monthKey,
  parseAllocationCounterSk,
  parseSpendCounterSk,
  spendPartition,
  timeRange,
  withoutShard,
} from '../table/keys.ts';
import { findItem, itemsBetween } from '../table/read.ts';
import type { Table } from '../table/table.ts';

const storedKey = z.object({ sk: z.string() });
/** The SDK returns numbers above 2^53 as bigint. */
const storedSum = z.union([z.int(), z.bigint()]);

export const parseCounters = (item: Record<string, unknown>): Counters => {
  const counters: Partial<Record<CounterName, number>> = {};
  for (const [stored, value] of Object.entries(item)) {
    const name = currentName(stored);
    if (!isCounterName(name)) continue;
    const sum = storedSum.parse(value);
    if (sum !== 0) counters[name] = typeof sum === 'bigint' ? PAST_EXACT : sum;
  }
  return counters;
};

type ParseSk = (sk: string) => Pick<SpendCounter, 'time' | 'dimensions'>;

async function* read(
  table: Table,
  accountId: string,
  range: Bounds,
  consistent: boolean,
  parseSk: ParseSk = parseSpendCounterSk,
): AsyncGenerator<SpendCounter> {
  let time = '';
  /** Those of one time, by sort key: the shards of a busy counter add up to it. */
  let found = new Map<string, Counters>();
  for await (const item of itemsBetween(table, spendPartition(accountId), range, { ConsistentRead: consistent })) {
    const sk = withoutShard(storedKey.parse(item).sk);
    const { time: next } = parseSk(sk);
    if (next !== time) {
      yield* spendCountersOf(found, parseSk);
      found = new Map();
      time = next;
    }
    const [counters, others] = [parseCounters(item), found.get(sk)];
    found.set(sk, others ? addCounters(others, counters) : counters);
  }
  yield* spendCountersOf(found, parseSk);
}

function* spendCountersOf(found: ReadonlyMap<string, Counters>, parseSk: ParseSk): Generator<SpendCounter> {
  for (const [sk, counters] of found) {
    // All sums are zero where every request moved to another spend counter: a late close event named the model.
    if (Object.keys(counters).length > 0) yield { ...parseSk(sk), counters };
  }
}

const storedMonth = z.object({ trackedRequests: z._default(z.int(), 0), shardedAfter: z.optional(z.string()) });

/** Live spend counters, exact at any moment. For ranges of many days use openSpend, which reads the summaries of closed days. */
export const openSpendCounters = (table: Table) => ({
  /** Spend counters of a range of days, both ends included, ascending by day. */
  days: (accountId: string, from: Day, to: Day, options = { consistent: false }): AsyncIterable<SpendCounter> =>
    read(table, accountId, timeRange('DAY', from, to), options.consistent),

  /** Spend counters of a range of hours, both ends included, ascending by hour. Kept for 90 days. */
  hours: (accountId: string, from: Hour, to: Hour, options = { consistent: false }): AsyncIterable<SpendCounter> =>
    read(table, accountId, timeRange('HOUR', from, to), options.consistent),

  /** Spend counters of an allocation dimension in a range of hours, both ends included, ascending by hour. Consistent. */
  allocationHours: (accountId: string, allocation: AllocationName, from: Hour, to: Hour): AsyncIterable<SpendCounter> =>
    read(table, accountId, timeRange(allocationPrefix(allocation), from, to), true, parseAllocationCounterSk),

  /** Tracked requests of a calendar month (UTC). */
  trackedRequests: async (accountId: string, month: Month): Promise<number> => {
    const item = await findItem(table, monthKey(accountId, month), { consistent: false });
    const { shardedAfter, ...first } = storedMonth.parse(item ?? {});
    let { trackedRequests } = first;
    if (!shardedAfter) return trackedRequests;
    const shards = itemsBetween(table, spendPartition(accountId), timeRange('MONTH', month, month));
    for await (const shard of shards) trackedRequests += storedMonth.parse(shard).trackedRequests;
    return trackedRequests;
  },
});
