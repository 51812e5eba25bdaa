import * as z from 'zod/mini';
import { type Day, endOf, type Month, monthOf } from '../../domain/calendar/utc.ts';
import { ACCOUNT_SHARDS, parseMonthSk, spendPartition, timeRange } from '../table/keys.ts';
import { itemsBetween } from '../table/query-items.ts';
import { shardOf } from '../table/shard-of.ts';
import type { Table } from '../table/table.ts';
import { ID_SLACK_MS, lowestRequestId } from './request-time.ts';

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
  range: { readonly from: Day; readonly to: Day },
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
