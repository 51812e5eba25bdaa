import * as z from 'zod/mini';
import { type Day, dayOf, endOf, type Month, monthOf } from '../../domain/calendar/utc.ts';
import { timeOfRequestId } from '../../domain/usage/request-id.ts';
import { ACCOUNT_SHARDS, type Bounds, parseMonthSk, spendPartition, timeRange } from '../table/keys.ts';
import { itemsBetween } from '../table/read.ts';
import { shardOf, type Table } from '../table/table.ts';

/** The prefix that ids of this millisecond or later sort after. */
export const lowestRequestId = (time: number): string => {
  const hex = Math.max(0, time).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
};

/**
 * The gateway of version 0.1 read the clock for `startedAt` a moment after it made the id, and ids do not follow a clock that is set back
 * by less than ten seconds. So the id of an old record may be of another day than its `startedAt`.
 */
export const ID_SLACK_MS = 10_000;

/** Later days have longer names, which no key of a request has and no function's policy allows. */
const LATEST_MS = Date.UTC(9999, 11, 31);

export const daysOfRequestId = (requestId: string): Day[] => {
  const time = timeOfRequestId(requestId);
  if (time === undefined || time > LATEST_MS) return [];
  return [...new Set([time, time - ID_SLACK_MS, time + ID_SLACK_MS].map((at) => dayOf(new Date(at).toISOString())))];
};

/**
 * The requests of a sharded month are spread over the shards of their day if their ids sort after `shardedAfter`; the others, and all of a
 * month that is not sharded, are in shard 0. So the place of a request depends on nothing but its id and its month, which never change.
 */
export const shardOfRequest = (shardedAfter: string | undefined, requestId: string): number =>
  shardedAfter === undefined || requestId <= shardedAfter ? 0 : shardOf(requestId, ACCOUNT_SHARDS);

/** Every shard that may hold the request, whether its month is sharded or not. */
export const possibleShards = (requestId: string): number[] => [...new Set([0, shardOf(requestId, ACCOUNT_SHARDS)])];

const storedShard = z.object({ sk: z.string(), shardedAfter: z.string() });

/**
 * How many shards the days of an account have, for the months between two days. Half a read unit where none is sharded; a sharded
 * month adds one unit.
 */
export const readShardCounts = async (
  table: Table,
  accountId: string,
  range: Bounds,
): Promise<(day: Day) => number> => {
  const shardedAfter = new Map<Month, string>();
  const months = timeRange('MONTH', monthOf(range.from), monthOf(range.to));
  for await (const item of itemsBetween(table, spendPartition(accountId), months)) {
    const shard = storedShard.parse(item);
    shardedAfter.set(parseMonthSk(shard.sk), shard.shardedAfter);
  }
  return (day) => {
    const after = shardedAfter.get(monthOf(day));
    const isSharded = after !== undefined && lowestRequestId(endOf(day).getTime() + ID_SLACK_MS) > after;
    return isSharded ? ACCOUNT_SHARDS : 1;
  };
};
