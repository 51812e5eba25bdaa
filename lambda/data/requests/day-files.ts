import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { DAY_MS, MINUTE_MS } from '../../domain/calendar/units.ts';
import { type Day, dayOf, endOf } from '../../domain/calendar/utc.ts';
import { MAX_EVENT_AGE_DAYS } from '../../domain/usage/limits.ts';
import { check, IS_NEW, remove, update } from '../table/actions.ts';
import { dayFileIndexKey, dayFileIndexPartition, dayFileKey, ROLLUP_MARK_SHARDS, timeRange } from '../table/keys.ts';
import { itemsBetween, itemsOfIndex } from '../table/read.ts';
import { shardOf, type Table } from '../table/table.ts';
import { tryWrite, write } from '../table/write.ts';
import { type DayFile, dayFileSchema } from './day-file.ts';

/** A younger day never leaves the table: its events may still come, whatever a recorder's clock says. */
const MIN_TABLE_DAYS = MAX_EVENT_AGE_DAYS + 1;

/** When a day leaves the table. */
export const leavesAt = (day: Day, tableDays: number): number =>
  endOf(day).getTime() + Math.max(tableDays, MIN_TABLE_DAYS) * DAY_MS;

/** Whether a day is so old that it may have left the table. Readers of younger days look nothing up. @param now milliseconds */
export const mayHaveFile = (day: Day, now: number): boolean =>
  day < dayOf(new Date(now - MIN_TABLE_DAYS * DAY_MS).toISOString());

/** Longer than a function may run. Who needs more time holds again. */
const HOLD_MS = 20 * MINUTE_MS;

const stored = z.object({
  accountId: z.string(),
  day: z.string(),
  gsi1sk: z.string(),
  file: z.optional(dayFileSchema),
  /** Blocks of the file that are back in the table. */
  returnedBlocks: z._default(z.int(), 0),
});

/**
 * A day that is to leave the table, or has left it. Without `file` its records are those of the table. With it they are those of the file,
 * whatever the table has.
 */
export type DayFileEntry = Readonly<z.infer<typeof stored>>;

/** The right to change where a day's records are. Nobody else has it, and no record of the day can be written. */
export interface TakenDay extends DayFileEntry {
  readonly holder: string;
}

/** The check that the records of a day are in the table, and that nobody moves them. */
export const requireDayInTable = (accountId: string, day: Day) =>
  check(dayFileKey(accountId, day), 'attribute_not_exists(holder) AND attribute_not_exists(#file)');

const IS_HOLDER = 'holder = :holder';

/** Where the records of old days are. */
export const openDayFiles = (table: Table, now: () => number = Date.now) => {
  /** @returns false where the condition does not hold */
  const change = (
    { accountId, day }: Pick<DayFileEntry, 'accountId' | 'day'>,
    ...expressions: [change: string, condition: string, values: Readonly<Record<string, unknown>>]
  ): Promise<boolean> => tryWrite(table, update(dayFileKey(accountId, day), ...expressions));

  const indexKey = ({ accountId, day }: Pick<DayFileEntry, 'accountId' | 'day'>, dueMs: number) =>
    dayFileIndexKey(shardOf(accountId, ROLLUP_MARK_SHARDS), new Date(dueMs).toISOString(), accountId, day);

  const find = async (accountId: string, day: Day, consistent = false): Promise<DayFileEntry | undefined> => {
    const { pk } = dayFileKey(accountId, day);
    for await (const item of itemsBetween(table, pk, timeRange('FILE', day, day), { ConsistentRead: consistent }))
      return stored.parse(item);
    return undefined;
  };

  return {
    /** The day's entry; undefined where its records are in the table. */
    find,

    /** Days of a shard whose next step is due, the longest due first. */
    async *due(shard: number): AsyncGenerator<DayFileEntry> {
      for await (const item of itemsOfIndex(table, dayFileIndexPartition(shard), new Date(now()).toISOString()))
        yield stored.parse(item);
    },

    /** Has a day leave the table in time. A day that has an entry keeps it. */
    enter: async (accountId: string, day: Day, dueMs: number): Promise<void> => {
      const set = 'SET accountId = :accountId, #day = :day, gsi1pk = :gsi1pk, gsi1sk = :gsi1sk';
      await change({ accountId, day }, set, IS_NEW, { accountId, day, ...indexKey({ accountId, day }, dueMs) });
    },

    /**
     * Takes the hold of a day as it was read. Undefined where it changed since, or somebody else has it.
     *
     * @param dueMs when the day's next step is due should the holder never release it; left out: as before
     */
    hold: async (entry: DayFileEntry, dueMs?: number): Promise<TakenDay | undefined> => {
      const holder = randomUUID();
      const { gsi1sk } = dueMs === undefined ? entry : indexKey(entry, dueMs);
      const isHeld = await change(
        entry,
        'SET holder = :holder, heldUntil = :until, gsi1sk = :next',
        'gsi1sk = :due AND (attribute_not_exists(heldUntil) OR heldUntil < :now)',
        { holder, until: now() + HOLD_MS, due: entry.gsi1sk, next: gsi1sk, now: now() },
      );
      return isHeld ? { ...entry, gsi1sk, holder } : undefined;
    },

    /** Notes how much of the file is back in the table, and holds on. @returns false where the hold is lost */
    noteReturned: (day: TakenDay, returnedBlocks: number): Promise<boolean> =>
      change(day, 'SET returnedBlocks = :returnedBlocks, heldUntil = :until', IS_HOLDER, {
        ...{ holder: day.holder, returnedBlocks, until: now() + HOLD_MS },
      }),

    /**
     * Ends a hold. From then on the day's records are in `file`, or in the table where that is null. What is not given stays as it is.
     *
     * @returns false where the hold is lost
     */
    release: async (
      day: TakenDay,
      { file, dueMs }: { readonly file?: DayFile | null; readonly dueMs?: number } = {},
    ): Promise<boolean> => {
      const set = [...(file ? ['#file = :file'] : []), ...(dueMs === undefined ? [] : ['gsi1sk = :due'])];
      const removed = ['holder', 'heldUntil', 'returnedBlocks', ...(file === null ? ['#file'] : [])];
      return change(day, `${set.length > 0 ? `SET ${set.join(', ')} ` : ''}REMOVE ${removed.join(', ')}`, IS_HOLDER, {
        holder: day.holder,
        file: file ?? undefined,
        due: dueMs === undefined ? undefined : indexKey(day, dueMs).gsi1sk,
      });
    },

    /** Ends a hold and removes the entry: what the table has of the day stays there until it expires. */
    remove: ({ accountId, day, holder }: TakenDay): Promise<void> =>
      write(table, remove(dayFileKey(accountId, day), IS_HOLDER, { holder })),
  };
};
