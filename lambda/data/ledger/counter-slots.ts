import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { LRUCache } from 'lru-cache';
import * as z from 'zod/mini';
import { DAY_SECONDS } from '../../domain/calendar/units.ts';
import { type Day, endOf } from '../../domain/calendar/utc.ts';
import { levelFor, overflowDimensions, type SpendDimensions } from '../../domain/spend/dimensions.ts';
import { counterSlotsKey, spendCounterName } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { markForRollup } from './rollup-marks.ts';

/** Slots are kept after their day for longer than events may come late: see MAX_EVENT_AGE_DAYS. */
const SLOT_DAYS = 60;
const MAX_ATTEMPTS = 10;
/** Account-days that a process remembers. An evicted one costs a read. */
const MAX_REMEMBERED = 2_000;

const storedSlots = z.object({ cells: z._default(z.set(z.string()), new Set()) });

/** Other writers kept reserving slots of the same day at the same time. */
class SlotContentionError extends Error {
  override readonly name = 'SlotContentionError';
}

/** 66 bits of a hash keep the set small. A collision only lets one spend counter more through than the limit. */
const fingerprintOf = (counterName: string): string => hash('sha256', counterName, 'base64url').slice(0, 11);

/** The overflow levels of the wanted dimensions, given the slots that exist, and the slots that those levels add. */
const decide = (wanted: readonly SpendDimensions[], slots: ReadonlySet<string>) => {
  const added = new Set<string>();
  const hasSlot = (dimensions: SpendDimensions) => {
    const fingerprint = fingerprintOf(spendCounterName(dimensions));
    return slots.has(fingerprint) || added.has(fingerprint);
  };
  // The events of a batch share a few dimensions: each is decided once and keeps its level.
  const decided = new Map<string, number>();
  const levels = wanted.map((dimensions) => {
    const name = spendCounterName(dimensions);
    const known = decided.get(name);
    if (known !== undefined) return known;
    const level = levelFor(dimensions, slots.size + added.size, hasSlot);
    const fingerprint = fingerprintOf(spendCounterName(overflowDimensions(dimensions, level)));
    if (!slots.has(fingerprint)) added.add(fingerprint);
    decided.set(name, level);
    return level;
  });
  return { levels, added };
};

/**
 * Counter slots limit how many distinct spend counters an account makes in a day, whatever its clients send. Every spend counter
 * reserves a slot before anything is counted in it. The slots of an account and day are one set, which grows under a condition on its
 * size. A slot whose event then fails stays reserved, which is harmless.
 */
export const openCounterSlots = (table: Table, now: () => number = Date.now) => {
  const remembered = new LRUCache<string, ReadonlySet<string>>({ max: MAX_REMEMBERED });

  const read = async (accountId: string, day: Day): Promise<ReadonlySet<string> | undefined> => {
    const { Item } = await table.client.send(
      new GetCommand({ TableName: table.name, Key: { ...counterSlotsKey(accountId, day) }, ConsistentRead: true }),
    );
    return Item && storedSlots.parse(Item).cells;
  };

  /** @returns false where others reserved slots since the set was read */
  const add = async (accountId: string, day: Day, slots: ReadonlySet<string>, sizeBefore: number): Promise<boolean> => {
    try {
      await table.client.send(
        new UpdateCommand({
          TableName: table.name,
          Key: { ...counterSlotsKey(accountId, day) },
          UpdateExpression: 'ADD cells :cells SET expiresAt = :expiresAt',
          ConditionExpression: sizeBefore === 0 ? 'attribute_not_exists(cells)' : 'size(cells) = :size',
          ExpressionAttributeValues: {
            ':cells': slots,
            ':expiresAt': endOf(day).getTime() / 1_000 + SLOT_DAYS * DAY_SECONDS,
            ...(sizeBefore > 0 && { ':size': sizeBefore }),
          },
        }),
      );
      return true;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return false;
      throw error;
    }
  };

  return {
    /**
     * Reserves slots for the wanted dimensions on a day.
     *
     * @returns the overflow level of each, in the order of `wanted`; 0 keeps all dimensions
     * @throws SlotContentionError
     */
    reserve: async (accountId: string, day: Day, wanted: readonly SpendDimensions[]): Promise<number[]> => {
      const id = `${accountId}#${day}`;
      const known = decide(wanted, remembered.get(id) ?? new Set());
      if (known.added.size === 0) return known.levels;
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        if (attempt > 0) await sleep(Math.random() * 25 * 2 ** Math.min(attempt, 5));
        const slots = await read(accountId, day);
        // The first slot of a day marks the day for rollup, before anything is counted.
        if (!slots) await table.client.send(new PutCommand(markForRollup(table.name, accountId, day, now()).Put));
        const { levels, added } = decide(wanted, slots ?? new Set());
        if (added.size === 0 || (await add(accountId, day, added, slots?.size ?? 0))) {
          remembered.set(id, new Set([...(slots ?? []), ...added]));
          return levels;
        }
      }
      throw new SlotContentionError('Too many writers reserve counter slots of one account and day at once.');
    },
  };
};
