import { bucketsOf, type Range, rangesOf } from '../../domain/calendar/range.ts';
import {
  boundsOf,
  type Day,
  dayOf,
  daysBetween,
  hourOf,
  lastDayOf,
  type Month,
  monthOf,
} from '../../domain/calendar/utc.ts';
import { UnavailableError } from '../../domain/errors.ts';
import type { SpendCounter } from '../../domain/spend/counters.ts';
import {
  allocationIn,
  type CountedDimensionName,
  type CrossDimensionName,
  isAllocation,
  OTHER,
} from '../../domain/spend/dimensions.ts';
import { type ReadCounters, readCountersFrom, type StoredQuery } from '../../domain/spend/spend-question.ts';
import { openServiceKeys } from '../accounts/service-keys.ts';
import { openRollupMarks } from '../ledger/rollup-marks.ts';
import type { Bounds } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { daysOfViews, openAllocationReader, runs } from './allocation-reader.ts';
import { hourViewOf, readHours } from './hour-pages.ts';
import { openSpendCounters } from './spend-counters.ts';
import { readCrosses, readPages, readTotals } from './summary-pages.ts';

/** API Gateway and the function time out after 29 s. The rest is for adding up and for the response. */
const MAX_READ_MS = 22_000;
/** Spend counters between two checks of the clock. */
const STRIDE = 256;

const tooMuch = () =>
  new UnavailableError(
    'There is more spend in this range than can be read in time. Ask for less at once: a shorter range, days instead of hours, or fewer dimensions to group and filter by.',
  );

/**
 * The same spend counters with a time limit, for a request that waits for them.
 *
 * @param now milliseconds
 * @throws UnavailableError with advice for the user, where reading takes too long
 */
export const inTime = (
  read: AsyncIterable<SpendCounter>,
  now: () => number = () => performance.now(),
): AsyncIterable<SpendCounter> => ({
  [Symbol.asyncIterator]: () => {
    const until = now() + MAX_READ_MS;
    const spendCounters = read[Symbol.asyncIterator]();
    let count = 0;
    return {
      // Not a generator: it would add a step to each of a million spend counters.
      next: () => {
        if (++count % STRIDE === 0 && now() > until) throw tooMuch();
        return spendCounters.next();
      },
      return: async () => (await spendCounters.return?.()) ?? { done: true, value: undefined },
    };
  },
});

type Part =
  | { readonly kind: 'months'; readonly first: Month; readonly last: Month }
  | { readonly kind: 'days'; readonly from: Day; readonly to: Day };

/** Whole months that have a right summary, and the days of all others. */
const monthsAndDays = (range: Bounds, marked: ReadonlySet<string>): Part[] => {
  const markedMonths = new Set([...marked].map(monthOf));
  const isWhole = (month: Month) => `${month}-01` >= range.from && lastDayOf(month) <= range.to;
  const hasSummary = (month: Month) => isWhole(month) && !markedMonths.has(month);
  const months = bucketsOf({ granularity: 'month', ...boundsOf(monthOf(range.from), monthOf(range.to)) });
  return runs(months, hasSummary).map(({ is, first, last }): Part => {
    if (is) return { kind: 'months', first, last };
    return {
      kind: 'days',
      from: first === monthOf(range.from) ? range.from : `${first}-01`,
      to: last === monthOf(range.to) ? range.to : lastDayOf(last),
    };
  });
};

const openReader = (table: Table, withoutDurations: boolean) => {
  const live = openSpendCounters(table);
  const marks = openRollupMarks(table);

  /** Summaries of periods, both ends included. */
  async function* summaries(
    accountId: string,
    granularity: 'DAY' | 'MONTH',
    from: string,
    to: string,
    dimensions: readonly CrossDimensionName[],
  ): AsyncGenerator<SpendCounter> {
    const [dimension = null, ...more] = dimensions;
    const view = more.length === 0 ? 'TOTALS' : 'CELLS';
    for await (const page of readPages(table, accountId, view, granularity, { from, to }, withoutDurations))
      yield* view === 'CELLS' ? readCrosses(page) : readTotals(page, dimension);
  }

  /**
   * Hours, both ends included. A rolled-up day may have no summary of its hours: nothing was spent, the day was rolled up before such
   * summaries existed, or the summary was too large. Its hours are read from live counters.
   */
  async function* hours(
    accountId: string,
    { from, to }: Bounds,
    dimensions: readonly CrossDimensionName[],
  ): AsyncGenerator<SpendCounter> {
    const inDays = { from: dayOf(from), to: dayOf(to) };
    // A range within a day has few counters, and is today in most cases.
    if (inDays.from === inDays.to) return yield* live.hours(accountId, from, to);
    const marked = new Set(await marks.markedPeriods(accountId, inDays.from, inDays.to));
    const view = hourViewOf(dimensions);
    const found = daysOfViews(
      inDays,
      marked,
      (some) => readHours(readPages(table, accountId, view, 'HOUR', some, withoutDurations), view),
      (some) =>
        live.hours(
          accountId,
          some.from === inDays.from ? from : `${some.from}T00`,
          some.to === inDays.to ? to : `${some.to}T23`,
        ),
    );
    for await (const each of found) if (each.time >= from && each.time <= to) yield each;
  }

  async function* days(
    accountId: string,
    range: Bounds,
    marked: ReadonlySet<string>,
    dimensions: readonly CrossDimensionName[],
  ): AsyncGenerator<SpendCounter> {
    for (const { is, first, last } of runs(daysBetween(range.from, range.to), (day) => marked.has(day)))
      yield* is ? live.days(accountId, first, last) : summaries(accountId, 'DAY', first, last, dimensions);
  }

  /**
   * Whole months, both ends included. A month's summary counts its cheapest names as `(other)`. Where these may hide values of a dimension
   * that must be separate, the month is read from its days.
   */
  async function* monthSummaries(
    accountId: string,
    { first, last }: { readonly first: Month; readonly last: Month },
    dimensions: readonly CrossDimensionName[],
    separate: readonly CountedDimensionName[],
  ): AsyncGenerator<SpendCounter> {
    const found = summaries(accountId, 'MONTH', first, last, dimensions);
    if (separate.length === 0) return yield* found;
    for (const [month, counters] of Map.groupBy(await Array.fromAsync(found), ({ time }) => time)) {
      const overflows = counters.some((counter) => separate.some((name) => counter.dimensions[name] === OTHER));
      yield* overflows ? summaries(accountId, 'DAY', `${month}-01`, lastDayOf(month), dimensions) : counters;
    }
  }

  const readAllocation = openAllocationReader(table, { withoutDurations, hours, days, summaries });

  async function* readWhole(
    { accountId, dimensions, separate }: StoredQuery,
    { granularity, ...range }: Range,
  ): AsyncGenerator<SpendCounter> {
    const lastInstant = new Date(Date.parse(range.to) - 1).toISOString();
    const allocation = allocationIn(dimensions);
    const names = dimensions.filter((name) => !isAllocation(name)) as CrossDimensionName[];
    const inHours = { from: hourOf(range.from), to: hourOf(lastInstant) };
    if (granularity === 'hour')
      return yield* allocation
        ? readAllocation.hours(accountId, inHours, allocation)
        : hours(accountId, inHours, names);
    const inDays = { from: dayOf(range.from), to: dayOf(lastInstant) };
    // Marks are read before summaries: a rollup in between makes a summary newer than the marks, never older.
    const marked = new Set(await marks.markedPeriods(accountId, monthOf(inDays.from), inDays.to));
    const parts = granularity === 'month' ? monthsAndDays(inDays, marked) : [{ kind: 'days' as const, ...inDays }];
    for (const part of parts) {
      if (part.kind === 'days')
        yield* allocation
          ? readAllocation.days(accountId, part, marked, allocation)
          : days(accountId, part, marked, names);
      else
        yield* allocation
          ? readAllocation.months(accountId, part, allocation, names, separate)
          : monthSummaries(accountId, part, names, separate);
    }
  }

  return async function* (query: StoredQuery): AsyncGenerator<SpendCounter> {
    for (const range of rangesOf(query.range)) yield* readWhole(query, range);
  };
};

/**
 * Spend of any range at bounded cost. Closed days, their hours, and closed months come from their summaries; today and days that are
 * marked for rollup come from live counters. Times may be finer than the granularity (`2026-11-20` for months), never coarser.
 *
 * @param isTimed a request waits for the counters: see inTime
 */
export const openSpend = (table: Table, { isTimed = false } = {}): { readonly read: ReadCounters } => {
  // Without durations reading takes half the time where there are many counters.
  const [read, readShort] = [openReader(table, false), openReader(table, true)];
  const readAny = readCountersFrom({
    readStored: (query) => (query.withDurations ? read : readShort)(query),
    listKeys: openServiceKeys(table).list,
  });
  return { read: isTimed ? (question) => inTime(readAny(question)) : readAny };
};
