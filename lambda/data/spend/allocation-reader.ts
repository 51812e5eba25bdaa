import { addDays, type Day, dayOf, daysBetween, lastDayOf, type Month } from '../../domain/calendar/utc.ts';
import type { SpendCounter } from '../../domain/spend/counters.ts';
import {
  type AllocationName,
  allocationCrossNames,
  type CountedDimensionName,
  type CrossDimensionName,
  OTHER,
} from '../../domain/spend/dimensions.ts';
import { withUnknownValues } from '../../domain/spend/unknown-values.ts';
import { openRollupMarks } from '../ledger/rollup-marks.ts';
import type { Bounds } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { readHours } from './hour-pages.ts';
import { openSpendCounters } from './spend-counters.ts';
import { type Page, readAllocations, readPages } from './summary-pages.ts';

/** Groups consecutive values for which the test gives the same result. */
export const runs = <T>(
  values: readonly T[],
  test: (value: T) => boolean,
): { readonly is: boolean; readonly first: T; readonly last: T }[] => {
  const found: { is: boolean; first: T; last: T }[] = [];
  for (const value of values) {
    const is = test(value);
    const run = found.at(-1);
    if (run?.is === is) run.last = value;
    else found.push({ is, first: value, last: value });
  }
  return found;
};

/** Reads the crosses. What an allocation dimension does not count is the difference to them. */
interface Crosses {
  /** Durations may be left out. */
  readonly withoutDurations: boolean;
  readonly hours: (
    accountId: string,
    range: Bounds,
    names: readonly CrossDimensionName[],
  ) => AsyncIterable<SpendCounter>;
  readonly days: (
    accountId: string,
    range: Bounds,
    marked: ReadonlySet<string>,
    names: readonly CrossDimensionName[],
  ) => AsyncIterable<SpendCounter>;
  readonly summaries: (
    accountId: string,
    granularity: 'MONTH',
    from: Month,
    to: Month,
    names: readonly CrossDimensionName[],
  ) => AsyncIterable<SpendCounter>;
}

/** Days of unsummarized spend that are read at once: they are in memory together. */
const MAX_DAYS = 7;

/** The days of some pages, ascending, each with its spend counters. */
async function* readDays(pages: AsyncIterable<Page>, allocation: AllocationName) {
  let spendCounters: SpendCounter[] = [];
  for await (const page of pages) {
    for (const each of readAllocations(page, allocation)) spendCounters.push(each);
    if (!page.isLast) continue;
    yield { day: page.period, spendCounters };
    spendCounters = [];
  }
}

/** Reads days that have a right view from it, and all other days from live counters. */
export async function* daysOfViews(
  range: Bounds,
  marked: ReadonlySet<string>,
  views: (range: Bounds) => AsyncIterable<{ readonly day: Day; readonly spendCounters: Iterable<SpendCounter> }>,
  liveOf: (range: Bounds) => AsyncIterable<SpendCounter>,
): AsyncGenerator<SpendCounter> {
  for (const { is, first, last } of runs(daysBetween(range.from, range.to), (day) => marked.has(day))) {
    if (is) {
      yield* liveOf({ from: first, to: last });
      continue;
    }
    let next = first;
    for await (const { day, spendCounters } of views({ from: first, to: last })) {
      if (next < day) yield* liveOf({ from: next, to: addDays(day, -1) });
      yield* spendCounters;
      next = addDays(day, 1);
    }
    if (next <= last) yield* liveOf({ from: next, to: last });
  }
}

/**
 * Spend by an allocation dimension. Closed days have a view of their own; today, marked days, and days from before the dimension was
 * counted are read from live counters by hour. Together with `(unknown)` the values always add up to the total of the crosses.
 */
export const openAllocationReader = (table: Table, { withoutDurations, ...crosses }: Crosses) => {
  const live = openSpendCounters(table);
  const marks = openRollupMarks(table);

  /** Days without a right summary. Crosses come first: see withUnknownValues. */
  async function* liveDays(
    accountId: string,
    days: Bounds,
    allocation: AllocationName,
    readCrosses: (range: Bounds) => AsyncIterable<SpendCounter>,
    bucketOf: (time: string) => string,
  ): AsyncGenerator<SpendCounter> {
    for (let from = days.from; from <= days.to; from = addDays(from, MAX_DAYS)) {
      const last = addDays(from, MAX_DAYS - 1);
      const to = last < days.to ? last : days.to;
      const found = { crosses: await Array.fromAsync(readCrosses({ from, to })), counted: [] as SpendCounter[] };
      found.counted = await Array.fromAsync(live.allocationHours(accountId, allocation, `${from}T00`, `${to}T23`));
      yield* withUnknownValues(found, allocation, bucketOf);
    }
  }

  const days = (
    accountId: string,
    range: Bounds,
    marked: ReadonlySet<string>,
    allocation: AllocationName,
  ): AsyncIterable<SpendCounter> =>
    daysOfViews(
      range,
      marked,
      (some) => readDays(readPages(table, accountId, allocation, 'DAY', some, withoutDurations), allocation),
      (some) =>
        liveDays(
          accountId,
          some,
          allocation,
          (part) => crosses.days(accountId, part, marked, allocationCrossNames),
          dayOf,
        ),
    );

  async function* hours(accountId: string, range: Bounds, allocation: AllocationName): AsyncGenerator<SpendCounter> {
    const inDays = { from: dayOf(range.from), to: dayOf(range.to) };
    const marked = new Set(await marks.markedPeriods(accountId, inDays.from, inDays.to));
    const found = daysOfViews(
      inDays,
      marked,
      (some) => readHours(readPages(table, accountId, allocation, 'HOUR', some, withoutDurations), allocation),
      (some) =>
        liveDays(
          accountId,
          some,
          allocation,
          ({ from, to }) => crosses.hours(accountId, { from: `${from}T00`, to: `${to}T23` }, allocationCrossNames),
          (hour) => hour,
        ),
    );
    for await (const each of found) if (each.time >= range.from && each.time <= range.to) yield each;
  }

  /**
   * Whole months that have a right summary, both ends included. One without a view of the dimension is from before it was counted. Where
   * `(other)` of a summary may hide a value of a dimension in `separate`, the month is read from its days.
   */
  async function* months(
    accountId: string,
    { first, last }: { readonly first: Month; readonly last: Month },
    allocation: AllocationName,
    names: readonly CrossDimensionName[],
    separate: readonly CountedDimensionName[],
  ): AsyncGenerator<SpendCounter> {
    const ofMonth = Map.groupBy(
      await Array.fromAsync(crosses.summaries(accountId, 'MONTH', first, last, names)),
      ({ time }) => time,
    );
    const pages = readPages(table, accountId, allocation, 'MONTH', { from: first, to: last }, withoutDurations);
    const counted = new Map<Month, SpendCounter[]>();
    for await (const { day: month, spendCounters } of readDays(pages, allocation)) counted.set(month, spendCounters);
    for (const month of [...new Set([...ofMonth.keys(), ...counted.keys()])].sort()) {
      const uncounted = { crosses: ofMonth.get(month) ?? [], counted: [] };
      const found = counted.get(month) ?? withUnknownValues(uncounted, allocation, (each) => each);
      const overflows = found.some(({ dimensions }) => separate.some((name) => dimensions[name] === OTHER));
      if (overflows) yield* days(accountId, { from: `${month}-01`, to: lastDayOf(month) }, new Set(), allocation);
      else yield* found;
    }
  }

  return { hours, days, months };
};
