import { hash } from 'node:crypto';
import QuickLRU from 'quick-lru';
import * as z from 'zod/mini';
import { DAY_SECONDS } from '../../domain/calendar/units.ts';
import { addDays, type Day, endOf } from '../../domain/calendar/utc.ts';
import { ruleFilterOf, storedRuleFilter } from '../../domain/limits/config-members.ts';
import { passesRule, type RuleFilter } from '../../domain/limits/spend-series.ts';
import {
  type AllocationName,
  type CountedDimensionName,
  isAllocation,
  MAX_SLOTS_WITHOUT_COST,
  NO_OVERFLOW,
  type Overflow,
  overflowDimensions,
  overflowOf,
  type SlotClaim,
  type SpendDimensions,
} from '../../domain/spend/dimensions.ts';
import { keysIn, needsKeys } from '../../domain/spend/key-dimensions.ts';
import { type ListedKey, openServiceKeys } from '../accounts/service-keys.ts';
import { allocationCounterName, counterSlotsKey, ruleKey, spendCounterName } from '../table/keys.ts';
import { findItem, itemsUnder } from '../table/read.ts';
import { recentlyRead } from '../table/recently-read.ts';
import type { Table } from '../table/table.ts';
import { backOff, tryWrite, write } from '../table/write.ts';
import { markForRollup } from './rollup-marks.ts';

/** Which counters an active rule counts. */
type CounterFilter = Readonly<Partial<Record<CountedDimensionName, string>>>;

const MAX_ENTRIES = 1_000;

const storedFilter = z.object({ isActive: z.literal(true), config: z.object({ filter: storedRuleFilter }) });

/** A rule's filter by the dimensions that are counted: one for each key of its project or member. */
const countedFilters = (filter: RuleFilter, keys: readonly ListedKey[]): CounterFilter[] => {
  const { project: _, member: _member, ...counted } = filter;
  return needsKeys(filter) ? keysIn(filter, keys).map(({ keyId }) => ({ ...counted, keyId })) : [counted];
};

/** The filters of accounts' active alert rules, cached for a minute. */
export const openRuleFilters = (table: Table, now: () => number = Date.now) => {
  const { list: listKeys } = openServiceKeys(table);
  const read = async (accountId: string): Promise<readonly CounterFilter[]> => {
    const filters: RuleFilter[] = [];
    for await (const item of itemsUnder(table, ruleKey(accountId, ''))) {
      // A rule that is switched off, has no filter, or that this version cannot read, keeps no names.
      const { data } = storedFilter.safeParse(item);
      if (data) filters.push(ruleFilterOf(data.config.filter));
    }
    const keys = filters.some(needsKeys) ? await listKeys(accountId) : [];
    return filters.flatMap((filter) => countedFilters(filter, keys));
  };
  return { find: recentlyRead(read, MAX_ENTRIES, now) };
};

/** Slots are kept after their day for longer than events may come late: see MAX_EVENT_AGE_DAYS. */
const SLOT_DAYS = 60;
const MAX_ATTEMPTS = 10;
/** Account-days that a process remembers. An evicted one costs a read. */
const MAX_REMEMBERED = 2_000;
/** Combinations that had a slot on one of these days before find one: Monday's include Friday's. */
const RECENT_DAYS = 3;
/** Only account-days that run out of slots need them: half a megabyte each at the most. */
const MAX_RECENT = 100;

/** Begins the names of the attributes with slots of allocation dimensions: `own.client`, `own.dim:team`. */
const OWN = 'own.';
const slotSet = z.set(z.string());
const storedSlots = z.looseObject({ cells: z._default(slotSet, new Set()) });

/** The slots of an account and day: of each allocation dimension, and under null of crosses. */
type Slots = ReadonlyMap<AllocationName | null, ReadonlySet<string>>;

const attributeOf = (allocation: AllocationName | null): string =>
  allocation === null ? 'cells' : `${OWN}${allocation}`;

const parseSlots = (item: object): Slots => {
  const { cells, ...others } = storedSlots.parse(item);
  const own = Object.entries(others).flatMap(([name, slots]): [AllocationName, ReadonlySet<string>][] => {
    const allocation = name.slice(OWN.length);
    return name.startsWith(OWN) && isAllocation(allocation) ? [[allocation, slotSet.parse(slots)]] : [];
  });
  return new Map([[null, cells], ...own]);
};

const sizeOf = (slots: Slots, allocation: AllocationName | null): number => slots.get(allocation)?.size ?? 0;

const merged = (...all: readonly Slots[]): Slots => {
  const sum = new Map<AllocationName | null, ReadonlySet<string>>();
  for (const slots of all)
    for (const [allocation, some] of slots) sum.set(allocation, new Set([...(sum.get(allocation) ?? []), ...some]));
  return sum;
};

/** Other writers kept reserving slots of the same day at the same time. */
class SlotContentionError extends Error {
  override readonly name = 'SlotContentionError';
}

/** 66 bits of a hash keep the set small. A collision only lets one spend counter more through than the limit. */
const fingerprintOf = (counterName: string): string => hash('sha256', counterName, 'base64url').slice(0, 11);

/** Dimensions to be counted: a cross, or by an allocation dimension. */
type WantedSlot = Pick<SlotClaim, 'dimensions' | 'allocation' | 'mayCost'>;

/** Decides who may still take a slot once few slots are left. */
interface Precedence {
  readonly recent: Slots;
  /** Filters of the account's active alert rules. */
  readonly filters: readonly CounterFilter[];
}

const NO_PRECEDENCE: Precedence = { recent: new Map(), filters: [] };

const keptBy = (filters: readonly CounterFilter[], dimensions: SpendDimensions): CountedDimensionName[] =>
  filters
    .filter((filter) => passesRule(dimensions, filter))
    .flatMap((filter) => Object.keys(filter) as CountedDimensionName[]);

const nameOf = ({ allocation }: Pick<WantedSlot, 'allocation'>, dimensions: SpendDimensions): string =>
  allocation === undefined ? spendCounterName(dimensions) : allocationCounterName(allocation, dimensions);

/** How far each of the wanted dimensions overflows, given the slots that exist, and the slots that are added. All are crosses, or all of one allocation dimension. */
const decideFor = (
  allocation: AllocationName | null,
  wanted: readonly WantedSlot[],
  slots: ReadonlySet<string>,
  { recent, filters }: Precedence,
) => {
  const added = new Set<string>();
  const recentSlots = recent.get(allocation) ?? new Set();
  const hasSlot = (fingerprint: string) => slots.has(fingerprint) || added.has(fingerprint);
  let awaited = [...recentSlots].filter((fingerprint) => !slots.has(fingerprint)).length;
  // The events of a batch share a few dimensions: each is decided once and keeps its level. Those with a cost come first.
  const decided = new Map<string, Overflow>();
  for (const claim of [...wanted].sort((a, b) => Number(b.mayCost) - Number(a.mayCost))) {
    const { dimensions } = claim;
    const name = nameOf(claim, dimensions);
    if (decided.has(name)) continue;
    const fingerprintAs = (counted: SpendDimensions) => fingerprintOf(nameOf(claim, counted));
    const overflow = overflowOf(
      { ...claim, isRecent: recentSlots.has(fingerprintOf(name)), kept: keptBy(filters, dimensions) },
      { size: slots.size + added.size, awaited, has: (candidate) => hasSlot(fingerprintAs(candidate)) },
    );
    decided.set(name, overflow);
    const fingerprint = fingerprintAs(overflowDimensions(dimensions, overflow.level, overflow.kept, claim.allocation));
    if (hasSlot(fingerprint)) continue;
    added.add(fingerprint);
    if (recentSlots.has(fingerprint)) awaited -= 1;
  }
  return { decided, added };
};

/** Decides for the crosses and each allocation dimension, which have slots of their own. */
const decide = (wanted: readonly WantedSlot[], slots: Slots, precedence: Precedence) => {
  const decided = new Map<AllocationName | null, ReadonlyMap<string, Overflow>>();
  const added = new Map<AllocationName | null, ReadonlySet<string>>();
  for (const [allocation, some] of Map.groupBy(wanted, (claim) => claim.allocation ?? null)) {
    const decision = decideFor(allocation, some, slots.get(allocation) ?? new Set(), precedence);
    decided.set(allocation, decision.decided);
    if (decision.added.size > 0) added.set(allocation, decision.added);
  }
  const overflows = wanted.map(
    (claim) => decided.get(claim.allocation ?? null)?.get(nameOf(claim, claim.dimensions)) ?? NO_OVERFLOW,
  );
  return { overflows, added };
};

/**
 * Counter slots limit how many distinct spend counters an account makes in a day, whatever its clients send. Every spend counter
 * reserves a slot before anything is counted in it. The slots of an account and day are one item, with a set for crosses and one for each
 * allocation dimension. Sets grow under a condition on their size. A slot whose event then fails stays reserved, which is harmless.
 *
 * Once a set of an account-day has MAX_SLOTS_WITHOUT_COST slots, a combination without a slot costs up to four reads more: the slots of the
 * last days, once for each process, and the filters of the account's alert rules, once a minute.
 */
export const openCounterSlots = (table: Table, now: () => number = Date.now) => {
  const remembered = new QuickLRU<string, Slots>({ maxSize: MAX_REMEMBERED });
  const recentSlots = new QuickLRU<string, Slots>({ maxSize: MAX_RECENT });
  const ruleFilters = openRuleFilters(table, now);

  const read = async (accountId: string, day: Day): Promise<Slots | undefined> => {
    const item = await findItem(table, counterSlotsKey(accountId, day));
    return item && parseSlots(item);
  };

  /** @returns false where others reserved slots since the sets were read */
  const add = (accountId: string, day: Day, added: Slots, before: Slots): Promise<boolean> => {
    const sets = [...added].map(([allocation, slots], n) => {
      const size = sizeOf(before, allocation);
      return {
        names: { [`#s${n}`]: attributeOf(allocation) },
        values: { [`:s${n}`]: slots, ...(size > 0 && { [`:n${n}`]: size }) },
        addition: `#s${n} :s${n}`,
        condition: size === 0 ? `attribute_not_exists(#s${n})` : `size(#s${n}) = :n${n}`,
      };
    });
    return tryWrite(table, {
      Update: {
        Key: { ...counterSlotsKey(accountId, day) },
        UpdateExpression: `ADD ${sets.map(({ addition }) => addition).join(', ')} SET expiresAt = :expiresAt`,
        ConditionExpression: sets.map(({ condition }) => condition).join(' AND '),
        ExpressionAttributeNames: Object.assign({}, ...sets.map(({ names }) => names)),
        ExpressionAttributeValues: {
          ...Object.assign({}, ...sets.map(({ values }) => values)),
          ':expiresAt': endOf(day).getTime() / 1_000 + SLOT_DAYS * DAY_SECONDS,
        },
      },
    });
  };

  const readRecent = async (accountId: string, day: Day): Promise<Slots> => {
    const id = `${accountId}#${day}`;
    const known = recentSlots.get(id);
    if (known) return known;
    const days = Array.from({ length: RECENT_DAYS }, (_, n) => addDays(day, -1 - n));
    const found = await Promise.all(days.map((each) => read(accountId, each)));
    const recent = merged(...found.flatMap((slots) => slots ?? []));
    recentSlots.set(id, recent);
    return recent;
  };

  const decideOn = async (accountId: string, day: Day, wanted: readonly WantedSlot[], slots: Slots) => {
    const first = decide(wanted, slots, NO_PRECEDENCE);
    const isPlenty = [...first.added].every(
      ([allocation, added]) => sizeOf(slots, allocation) + added.size <= MAX_SLOTS_WITHOUT_COST,
    );
    if (isPlenty && first.overflows.every(({ level }) => level === 0)) return first;
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
      const known = await decideOn(accountId, day, wanted, remembered.get(id) ?? new Map());
      if (known.added.size === 0) return known.overflows;
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        if (attempt > 0) await backOff(attempt);
        const slots = await read(accountId, day);
        // The first slot of a day marks the day for rollup, before anything is counted.
        if (!slots) await write(table, markForRollup(accountId, day, now()));
        const { overflows, added } = await decideOn(accountId, day, wanted, slots ?? new Map());
        if (added.size === 0 || (await add(accountId, day, added, slots ?? new Map()))) {
          remembered.set(id, merged(slots ?? new Map(), added));
          return overflows;
        }
      }
      throw new SlotContentionError('Too many writers reserve counter slots of one account and day at once.');
    },
  };
};
