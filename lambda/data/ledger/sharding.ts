import QuickLRU from 'quick-lru';
import * as z from 'zod/mini';
import { MINUTE_MS } from '../../domain/calendar/units.ts';
import { type Day, daysBetween, lastDayOf, type Month } from '../../domain/calendar/utc.ts';
import { shardOfRequest } from '../requests/request-shards.ts';
import { put, update } from '../table/actions.ts';
import { ACCOUNT_SHARDS, type Key, monthKey, requestPartition } from '../table/keys.ts';
import { findItem } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { tryTransact } from '../table/write.ts';

/** Transactions of an account that conflicted or were throttled, in one process and minute, after which its month is sharded. */
const CONTENTIONS_A_MINUTE = 20;
/** A forgotten month costs a transaction that is made again; a forgotten counter costs a conflict. */
const MAX_REMEMBERED = 10_000;
const MAX_ATTEMPTS = 5;

/** The value of `shardedAfter` while it is being decided. */
const UNDECIDED = '';
/** Below every request id. */
const LOWEST = '0';

const storedMonth = z.object({ shardedAfter: z.optional(z.string()), closedDay: z.optional(z.string()) });

/** Other writers kept changing the month counter. */
class ShardingContentionError extends Error {
  override readonly name = 'ShardingContentionError';
}

/** State of a month counter apart from its sum. A consistent read. */
export const readMonth = async (table: Table, accountId: string, month: Month): Promise<z.infer<typeof storedMonth>> =>
  storedMonth.parse((await findItem(table, monthKey(accountId, month))) ?? {});

/** Keys of a month counter's shards, apart from shard 0. */
export const monthShardKeys = (accountId: string, month: Month): Key[] =>
  Array.from({ length: ACCOUNT_SHARDS - 1 }, (_, index) => monthKey(accountId, month, index + 1));

const newestId = async (table: Table, accountId: string, day: Day): Promise<string> => {
  const { Items } = await table.call('Query', {
    TableName: table.name,
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': requestPartition(accountId, day) },
    ProjectionExpression: 'sk',
    ScanIndexForward: false,
    ConsistentRead: true,
    Limit: 1,
  });
  return (Items?.[0]?.['sk'] as string | undefined) ?? LOWEST;
};

const decide = (key: Key, after: string, closedDay: string | undefined) =>
  update(
    key,
    'SET shardedAfter = :after',
    `shardedAfter = :undecided AND ${closedDay === undefined ? 'attribute_not_exists(closedDay)' : 'closedDay = :closedDay'}`,
    { after, undecided: UNDECIDED, closedDay },
  );

/**
 * Decides from which request on a month is sharded: after the newest that is on record. Meanwhile no request of the month can be recorded,
 * so none is newer. A process that dies here leaves the decision to the next one that meets it.
 *
 * @returns `shardedAfter`; undefined where the month is not to be sharded
 */
const finishSharding = async (table: Table, accountId: string, month: Month): Promise<string | undefined> => {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const { shardedAfter, closedDay } = await readMonth(table, accountId, month);
    if (shardedAfter !== UNDECIDED) return shardedAfter;
    const days = daysBetween(`${month}-01`, lastDayOf(month));
    const ids = await Promise.all(days.map((day) => newestId(table, accountId, day)));
    const after = ids.reduce((a, b) => (a > b ? a : b));
    const shard = { trackedRequests: 0, shardedAfter: after, ...(closedDay !== undefined && { closedDay }) };
    const isDecided = await tryTransact(table, [
      decide(monthKey(accountId, month), after, closedDay),
      ...monthShardKeys(accountId, month).map((key) => put({ ...key, ...shard })),
    ]);
    // Otherwise another process decided, or closed a day.
    if (isDecided) return after;
  }
  throw new ShardingContentionError('A month counter kept changing while its month was being sharded.');
};

/**
 * Shards the month of an account: from the next request on, requests of a day are spread over ACCOUNT_SHARDS partitions, and the month
 * counter and busy spend counters over as many items. A partition takes 1,000 write units a second and an item one transaction at a time,
 * which otherwise limits an account to some 500 requests a second. A sharded month stays so. The next one begins without shards.
 */
export const shardMonth = async (table: Table, accountId: string, month: Month): Promise<string | undefined> => {
  const begin = update(
    monthKey(accountId, month),
    'SET shardedAfter = :undecided',
    'attribute_not_exists(shardedAfter)',
    { undecided: UNDECIDED },
  );
  // False where it is sharded, or being sharded.
  await tryTransact(table, [begin]);
  return finishSharding(table, accountId, month);
};

const shardOtherThan = (shard: number): number =>
  (shard + 1 + Math.floor(Math.random() * (ACCOUNT_SHARDS - 1))) % ACCOUNT_SHARDS;

/**
 * Which months of which accounts are sharded, as far as this process knows, and the shard of each busy counter that it writes to. What it
 * does not know yet it learns from a transaction that fails: the month counter, which every new request changes, has the condition that
 * it says what was assumed. So small accounts pay nothing for it.
 */
export const openSharding = (table: Table, now: () => number = Date.now) => {
  const known = new QuickLRU<string, string>({ maxSize: MAX_REMEMBERED });
  const counterShards = new QuickLRU<string, number>({ maxSize: MAX_REMEMBERED });
  const contentions = new QuickLRU<string, { readonly sinceMs: number; count: number }>({ maxSize: MAX_REMEMBERED });

  const remember = (accountId: string, month: Month, shardedAfter: string | undefined): void => {
    if (shardedAfter === undefined) known.delete(`${accountId}#${month}`);
    else known.set(`${accountId}#${month}`, shardedAfter);
  };
  const shardedAfter = (accountId: string, month: Month): string | undefined => known.get(`${accountId}#${month}`);

  return {
    /** Requests of the month whose ids sort after it are spread over shards; undefined where the month is not sharded. */
    shardedAfter,

    shardOfRequest: (accountId: string, month: Month, requestId: string): number =>
      shardOfRequest(shardedAfter(accountId, month), requestId),

    /** The shard of a counter that this process writes to. Each process stays with one until it meets another there. */
    shardOfCounter: (accountId: string, month: Month, counterName: string): number =>
      shardedAfter(accountId, month) === undefined ? 0 : (counterShards.get(`${accountId}#${counterName}`) ?? 0),

    /** Another transaction had the shard of the counter. Transactions that were made before the move may meet it again. */
    moveCounter: (accountId: string, counterName: string, from: number): void => {
      const name = `${accountId}#${counterName}`;
      if ((counterShards.get(name) ?? 0) === from) counterShards.set(name, shardOtherThan(from));
    },

    /** Reads how the month is sharded. @throws ShardingContentionError, UnavailableError */
    learn: async (accountId: string, month: Month): Promise<void> => {
      remember(accountId, month, await finishSharding(table, accountId, month));
    },

    /**
     * Counts a transaction that conflicted or was throttled, and shards the month of an account that has many. The first one looks whether
     * another process did. Does not throw.
     */
    noteContention: async (accountId: string, month: Month): Promise<void> => {
      const id = `${accountId}#${month}`;
      if (known.has(id)) return;
      const before = contentions.get(id);
      const current = before && now() - before.sinceMs < MINUTE_MS ? before : { sinceMs: now(), count: 0 };
      contentions.set(id, current);
      current.count += 1;
      const isBusy = current.count === CONTENTIONS_A_MINUTE;
      if (current.count > 1 && !isBusy) return;
      if (isBusy) contentions.delete(id);
      try {
        remember(accountId, month, await (isBusy ? shardMonth : finishSharding)(table, accountId, month));
      } catch {
        // The next contention tries again. Meanwhile all is recorded as before.
      }
    },
  };
};

export type Sharding = ReturnType<typeof openSharding>;
