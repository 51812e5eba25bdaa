import { randomUUID } from 'node:crypto';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { DAY_MS, MINUTE_MS } from '../../domain/calendar/units.ts';
import { type Day, dayOf } from '../../domain/calendar/utc.ts';
import { MAX_EVENT_AGE_DAYS } from '../../domain/usage/limits.ts';
import { dayFileIndexKey, dayFileIndexPartition, dayFileKey, ROLLUP_MARK_SHARDS, timeRange } from '../table/keys.ts';
import { itemsBetween, queryItems } from '../table/query-items.ts';
import { shardOf } from '../table/shard-of.ts';
import type { Table } from '../table/table.ts';
import { type DayFile, dayFileSchema } from './day-file.ts';

/** A younger day never leaves the table: its events may still come, whatever a recorder's clock says. */
export const MIN_TABLE_DAYS = MAX_EVENT_AGE_DAYS + 1;

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
export interface HeldDay extends DayFileEntry {
  readonly holder: string;
}

/** The check that the records of a day are in the table, and that nobody moves them. */
export const requireDayInTable = (table: string, accountId: string, day: Day) => ({
  ConditionCheck: {
    TableName: table,
    Key: { ...dayFileKey(accountId, day) },
    ConditionExpression: 'attribute_not_exists(holder) AND attribute_not_exists(#file)',
    ExpressionAttributeNames: { '#file': 'file' },
  },
});

const IS_HOLDER = 'holder = :holder';

/** Where the records of old days are. */
export const openDayFiles = (table: Table, now: () => number = Date.now) => {
  const { client, name } = table;

  /** @returns false where the condition does not hold */
  const update = async (
    { accountId, day }: Pick<DayFileEntry, 'accountId' | 'day'>,
    input: Pick<UpdateCommandInput, 'UpdateExpression' | 'ConditionExpression' | 'ExpressionAttributeValues'>,
  ): Promise<boolean> => {
    const expressions = `${input.UpdateExpression}${input.ConditionExpression}`;
    const names = Object.fromEntries(['day', 'file'].map((each) => [`#${each}`, each]));
    const used = Object.entries(names).filter(([each]) => expressions.includes(each));
    try {
      await client.send(
        new UpdateCommand({
          TableName: name,
          Key: dayFileKey(accountId, day),
          ...input,
          ...(used.length > 0 && { ExpressionAttributeNames: Object.fromEntries(used) }),
        }),
      );
      return true;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return false;
      throw error;
    }
  };

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
      const query = {
        IndexName: 'gsi1',
        KeyConditionExpression: 'gsi1pk = :pk AND gsi1sk < :now',
        ExpressionAttributeValues: { ':pk': dayFileIndexPartition(shard), ':now': new Date(now()).toISOString() },
      };
      for await (const item of queryItems(table, query)) yield stored.parse(item);
    },

    /** Has a day leave the table in time. A day that has an entry keeps it. */
    enter: async (accountId: string, day: Day, dueMs: number): Promise<void> => {
      const { gsi1pk, gsi1sk } = indexKey({ accountId, day }, dueMs);
      await update(
        { accountId, day },
        {
          UpdateExpression: 'SET accountId = :accountId, #day = :day, gsi1pk = :gsi1pk, gsi1sk = :gsi1sk',
          ConditionExpression: 'attribute_not_exists(pk)',
          ExpressionAttributeValues: { ':accountId': accountId, ':day': day, ':gsi1pk': gsi1pk, ':gsi1sk': gsi1sk },
        },
      );
    },

    /** Takes the hold of a day as it was read. Undefined where it changed since, or somebody else has it. */
    hold: async (entry: DayFileEntry): Promise<HeldDay | undefined> => {
      const holder = randomUUID();
      const isHeld = await update(entry, {
        UpdateExpression: 'SET holder = :holder, heldUntil = :until',
        ConditionExpression: 'gsi1sk = :due AND (attribute_not_exists(heldUntil) OR heldUntil < :now)',
        ExpressionAttributeValues: {
          ':holder': holder,
          ':until': now() + HOLD_MS,
          ':due': entry.gsi1sk,
          ':now': now(),
        },
      });
      return isHeld ? { ...entry, holder } : undefined;
    },

    /** Notes how much of the file is back in the table, and holds on. @returns false where the hold is lost */
    noteReturned: (day: HeldDay, returnedBlocks: number): Promise<boolean> =>
      update(day, {
        UpdateExpression: 'SET returnedBlocks = :blocks, heldUntil = :until',
        ConditionExpression: IS_HOLDER,
        ExpressionAttributeValues: { ':holder': day.holder, ':blocks': returnedBlocks, ':until': now() + HOLD_MS },
      }),

    /**
     * Ends a hold. From then on the day's records are in `file`, or in the table where that is null. What is not given stays as it is.
     *
     * @returns false where the hold is lost
     */
    release: async (
      day: HeldDay,
      { file, dueMs }: { readonly file?: DayFile | null; readonly dueMs?: number } = {},
    ): Promise<boolean> => {
      const set = [...(file ? ['#file = :file'] : []), ...(dueMs === undefined ? [] : ['gsi1sk = :due'])];
      const removed = ['holder', 'heldUntil', 'returnedBlocks', ...(file === null ? ['#file'] : [])];
      return update(day, {
        UpdateExpression: `${set.length > 0 ? `SET ${set.join(', ')} ` : ''}REMOVE ${removed.join(', ')}`,
        ConditionExpression: IS_HOLDER,
        ExpressionAttributeValues: {
          ':holder': day.holder,
          ...(file && { ':file': file }),
          ...(dueMs !== undefined && { ':due': indexKey(day, dueMs).gsi1sk }),
        },
      });
    },

    /** Ends a hold and removes the entry: what the table has of the day stays there until it expires. */
    remove: async ({ accountId, day, holder }: HeldDay): Promise<void> => {
      await client.send(
        new DeleteCommand({
          TableName: name,
          Key: dayFileKey(accountId, day),
          ConditionExpression: IS_HOLDER,
          ExpressionAttributeValues: { ':holder': holder },
        }),
      );
    },
  };
};

export type DayFiles = ReturnType<typeof openDayFiles>;
