import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import QuickLRU from 'quick-lru';
import * as z from 'zod/mini';
import { passesRule, type RuleFilter } from '../../domain/alert-rules/spend-series.ts';
import { DAY_SECONDS } from '../../domain/calendar/units.ts';
import { addDays, type Day, endOf } from '../../domain/calendar/utc.ts';
import {
  MAX_SLOTS_WITHOUT_COST,
  NO_OVERFLOW,
  type Overflow,
  overflowDimensions,
  overflowOf,
  type SlotClaim,
  type SpendDimensionName,
  type SpendDimensions,
  spendDimensionNames,
} from '../../domain/spend/dimensions.ts';
import { counterSlotsKey, spendCounterName } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { markForRollup } from './rollup-marks.ts';
import { openRuleFilters } from './rule-filters.ts';

/** Slots are kept after their day for longer than events may come late: see MAX_EVENT_AGE_DAYS. */
const SLOT_DAYS = 60;
const MAX_ATTEMPTS = 10;
/** Account-days that a process remembers. An evicted one costs a read. */
const MAX_REMEMBERED = 2_000;
/** Combinations that had a slot on one of so many days before find one: Monday's include Friday's. */
const RECENT_DAYS = 3;
/** Only account-days that run out of slots need them: half a megabyte each at the most. */
const MAX_RECENT = 100;

const storedSlots = z.object({ cells: z._default(z.set(z.string()), new Set()) });

/** Other writers kept reserving slots of the same day at the same time. */
class SlotContentionError extends Error {
  override readonly name = 'SlotContentionError';
}

/** 66 bits of a hash keep the set small. A collision only lets one spend counter more through than the limit. */
const fingerprintOf = (counterName: string): string => hash('sha256', counterName, 'base64url').slice(0, 11);

/** Dimensions to be counted. */
type WantedSlot = Pick<SlotClaim, 'dimensions' | 'mayCost'>;

/** What decides who may still take a slot once slots get scarce. */
interface Scarcity {
  /** Fingerprints of the slots of recent days. */
  readonly recent: ReadonlySet<string>;
  /** Filters of the account's active alert rules. */
  readonly filters: readonly RuleFilter[];
}

const PLENTY: Scarcity = { recent: new Set(), filters: [] };

const keptBy = (filters: readonly RuleFilter[], dimensions: SpendDimensions): SpendDimensionName[] => {
  const matching = filters.filter((filter) => passesRule(dimensions, filter));
  return spendDimensionNames.filter((name) => matching.some((filter) => name in filter));
};

/** How far each of the wanted dimensions overflows, given the slots that exist, and the slots that are added. */
const decide = (wanted: readonly WantedSlot[], slots: ReadonlySet<string>, { recent, filters }: Scarcity) => {
  const added = new Set<string>();
  const hasSlot = (fingerprint: string) => slots.has(fingerprint) || added.has(fingerprint);
  let awaited = [...recent].filter((fingerprint) => !slots.has(fingerprint)).length;
  // The events of a batch share a few dimensions: each is decided once and keeps its level. Those with a cost come first.
  const decided = new Map<string, Overflow>();
  for (const { dimensions, mayCost } of [...wanted].sort((a, b) => Number(b.mayCost) - Number(a.mayCost))) {
    const name = spendCounterName(dimensions);
    if (decided.has(name)) continue;
    const overflow = overflowOf(
      { dimensions, mayCost, isRecent: recent.has(fingerprintOf(name)), kept: keptBy(filters, dimensions) },
      {
        size: slots.size + added.size,
        awaited,
        has: (candidate) => hasSlot(fingerprintOf(spendCounterName(candidate))),
      },
    );
    decided.set(name, overflow);
    const fingerprint = fingerprintOf(spendCounterName(overflowDimensions(dimensions, overflow.level, overflow.kept)));
    if (hasSlot(fingerprint)) continue;
    added.add(fingerprint);
    if (recent.has(fingerprint)) awaited -= 1;
  }
  const overflows = wanted.map(({ dimensions }) => decided.get(spendCounterName(dimensions)) ?? NO_OVERFLOW);
  return { overflows, added };
};

/**
 * Counter slots limit how many distinct spend counters an account makes in a day, whatever its clients send. Every spend counter
 * reserves a slot before anything is counted in it. The slots of an account and day are one set, which grows under a condition on its
 * size. A slot whose event then fails stays reserved, which is harmless.
 *
 * Once an account-day has used MAX_SLOTS_WITHOUT_COST slots, a combination without a slot costs up to four reads more: the slots of the
 * last days, once for each process, and the filters of the account's alert rules, once a minute.
 */
export const openCounterSlots = (table: Table, now: () => number = Date.now) => {
  const remembered = new QuickLRU<string, ReadonlySet<string>>({ maxSize: MAX_REMEMBERED });
  const recentSlots = new QuickLRU<string, ReadonlySet<string>>({ maxSize: MAX_RECENT });
  const ruleFilters = openRuleFilters(table, now);

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

  const readRecent = async (accountId: string, day: Day): Promise<ReadonlySet<string>> => {
    const id = `${accountId}#${day}`;
    const known = recentSlots.get(id);
    if (known) return known;
    const days = Array.from({ length: RECENT_DAYS }, (_, n) => addDays(day, -1 - n));
    const found = await Promise.all(days.map((each) => read(accountId, each)));
    const recent = new Set(found.flatMap((slots) => [...(slots ?? [])]));
    recentSlots.set(id, recent);
    return recent;
  };

  const decideOn = async (accountId: string, day: Day, wanted: readonly WantedSlot[], slots: ReadonlySet<string>) => {
    const first = decide(wanted, slots, PLENTY);
    const isPlenty = slots.size + first.added.size <= MAX_SLOTS_WITHOUT_COST;
    if (isPlenty || (first.added.size === 0 && first.overflows.every(({ level }) => level === 0))) return first;
    const [recent, filters] = await Promise.all([readRecent(accountId, day), ruleFilters.find(accountId)]);
    return decide(wanted, slots, { recent, filters });
  };

  return {
    /**
     * Reserves slots for the wanted dimensions on a day.
     *
     * @returns how far each overflows, in the order of `wanted`
     * @throws SlotContentionError
     */
    reserve: async (accountId: string, day: Day, wanted: readonly WantedSlot[]): Promise<Overflow[]> => {
      const id = `${accountId}#${day}`;
      const known = await decideOn(accountId, day, wanted, remembered.get(id) ?? new Set());
      if (known.added.size === 0) return known.overflows;
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        if (attempt > 0) await sleep(Math.random() * 25 * 2 ** Math.min(attempt, 5));
        const slots = await read(accountId, day);
        // The first slot of a day marks the day for rollup, before anything is counted.
        if (!slots) await table.client.send(new PutCommand(markForRollup(table.name, accountId, day, now()).Put));
        const { overflows, added } = await decideOn(accountId, day, wanted, slots ?? new Set());
        if (added.size === 0 || (await add(accountId, day, added, slots?.size ?? 0))) {
          remembered.set(id, new Set([...(slots ?? []), ...added]));
          return overflows;
        }
      }
      throw new SlotContentionError('Too many writers reserve counter slots of one account and day at once.');
    },
  };
};
