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

/** Claims outlive the day by as long as events may come late. */
const CLAIM_DAYS = 60;
const MAX_ATTEMPTS = 10;
/** Account-days that a process remembers; the least recently used is evicted first. An evicted one costs a read. */
const MAX_REMEMBERED = 2_000;

const storedClaims = z.object({ cells: z._default(z.set(z.string()), new Set()) });

/** Others kept claiming cells of the same day at the same time. */
class ClaimContentionError extends Error {
  override readonly name = 'ClaimContentionError';
}

/** 66 bits of a hash: a set of them stays small, and a collision would do no more than allow one cell above the limit. */
const fingerprintOf = (counterName: string): string => hash('sha256', counterName, 'base64url').slice(0, 11);

/**
 * Bounds how many distinct cells an account makes in a day, whatever its clients send: each cell is claimed once, before
 * anything is counted in it, in one set per account and day that grows under a condition on its size. A claim whose
 * event then fails stays claimed: harmless.
 */
export const openCounterSlots = (table: Table, now: () => number = Date.now) => {
  const remembered = new LRUCache<string, ReadonlySet<string>>({ max: MAX_REMEMBERED });

  const read = async (accountId: string, day: Day): Promise<ReadonlySet<string> | undefined> => {
    const { Item } = await table.client.send(
      new GetCommand({ TableName: table.name, Key: { ...counterSlotsKey(accountId, day) }, ConsistentRead: true }),
    );
    return Item && storedClaims.parse(Item).cells;
  };

  /** False where others claimed in between. */
  const claim = async (accountId: string, day: Day, cells: ReadonlySet<string>, sizeBefore: number) => {
    try {
      await table.client.send(
        new UpdateCommand({
          TableName: table.name,
          Key: { ...counterSlotsKey(accountId, day) },
          UpdateExpression: 'ADD cells :cells SET expiresAt = :expiresAt',
          ConditionExpression: sizeBefore === 0 ? 'attribute_not_exists(cells)' : 'size(cells) = :size',
          ExpressionAttributeValues: {
            ':cells': cells,
            ':expiresAt': endOf(day).getTime() / 1_000 + CLAIM_DAYS * DAY_SECONDS,
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

  /** Levels for the dimensions given the claimed cells, and which cells those levels would add. */
  const decide = (wanted: readonly SpendDimensions[], claimed: ReadonlySet<string>) => {
    const added = new Set<string>();
    const has = (cell: SpendDimensions) => {
      const fingerprint = fingerprintOf(spendCounterName(cell));
      return claimed.has(fingerprint) || added.has(fingerprint);
    };
    // The events of a batch share a few cells: each is decided on once, and stays claimed at its level.
    const decided = new Map<string, number>();
    const levels = wanted.map((dimensions) => {
      const name = spendCounterName(dimensions);
      const known = decided.get(name);
      if (known !== undefined) return known;
      const level = levelFor(dimensions, claimed.size + added.size, has);
      const fingerprint = fingerprintOf(spendCounterName(overflowDimensions(dimensions, level)));
      if (!claimed.has(fingerprint)) added.add(fingerprint);
      decided.set(name, level);
      return level;
    });
    return { levels, added };
  };

  return {
    /**
     * How far each of these must be folded on that day (0: not at all); claims the cells they need.
     *
     * @throws ClaimContentionError
     */
    levels: async (accountId: string, day: Day, wanted: readonly SpendDimensions[]): Promise<number[]> => {
      const id = `${accountId}#${day}`;
      const known = decide(wanted, remembered.get(id) ?? new Set());
      if (known.added.size === 0) return known.levels;
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        if (attempt > 0) await sleep(Math.random() * 25 * 2 ** Math.min(attempt, 5));
        const claimed = await read(accountId, day);
        // The first cell of a day marks the day for sealing, before anything is counted in it.
        if (!claimed) await table.client.send(new PutCommand(markForRollup(table.name, accountId, day, now()).Put));
        const { levels, added } = decide(wanted, claimed ?? new Set());
        if (added.size === 0 || (await claim(accountId, day, added, claimed?.size ?? 0))) {
          remembered.set(id, new Set([...(claimed ?? []), ...added]));
          return levels;
        }
      }
      throw new ClaimContentionError('Cells of one account and day are being claimed by too many writers at once.');
    },
  };
};
