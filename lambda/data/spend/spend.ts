import {
  addDays,
  type Day,
  dayOf,
  daysBetween,
  type Hour,
  hourOf,
  lastDayOf,
  type Month,
  monthOf,
} from '../../domain/calendar/utc.ts';
import { noDimensions, type SpendDimensionName } from '../../domain/spend/dimensions.ts';
import { periodsToRollUp } from '../ledger/rollup-marks.ts';
import { spendPartition, summaryPrefix, timeRange } from '../table/keys.ts';
import { itemsBetween } from '../table/query-items.ts';
import type { Table } from '../table/table.ts';
import { hourViewOf, readHours } from './hour-pages.ts';
import { openSpendCounters, type SpendCounter } from './spend-counters.ts';
import { openPages, readCounters, readTotals } from './summary-pages.ts';

/** A range of whole hours, days or months, UTC: first instant, and first instant after it, ISO 8601. */
export interface SpendRange {
  readonly granularity: 'hour' | 'day' | 'month';
  readonly from: string;
  readonly to: string;
}

/** Consecutive values of which the same is true. */
const runs = <T>(
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

const firstHourOf = (day: Day): Hour => `${day}T00`;
const lastHourOf = (day: Day): Hour => `${day}T23`;

const monthsBetween = (from: Month, to: Month): Month[] => {
  const months: Month[] = [];
  for (let month = from; month <= to; month = monthOf(addDays(lastDayOf(month), 1))) months.push(month);
  return months;
};

/**
 * Spend of any range at bounded cost: closed days, their hours, and closed months come from their summaries, today and days that are
 * not sealed (yet, or again) from live cells.
 */
export const openSpend = (table: Table) => {
  const cells = openSpendCounters(table);

  /** Summaries of periods, both ends included. */
  async function* sealed(
    accountId: string,
    granularity: 'DAY' | 'MONTH',
    from: string,
    to: string,
    dimensions: readonly SpendDimensionName[],
  ): AsyncGenerator<SpendCounter> {
    const [dimension = null, ...more] = dimensions;
    const view = more.length === 0 ? 'TOTALS' : 'CELLS';
    const range = timeRange(summaryPrefix(view, granularity), from, to);
    for await (const page of openPages(itemsBetween(table, spendPartition(accountId), range))) {
      if (view === 'CELLS') {
        for (const { period, ...cell } of readCounters(page)) yield { time: period, ...cell };
        continue;
      }
      for (const { period, value, counters } of readTotals(page, dimension))
        yield {
          time: period,
          dimensions: dimension === null ? noDimensions : { ...noDimensions, [dimension]: value },
          counters,
        };
    }
  }

  /**
   * Hours of sealed days, both ends included. Days that have no summary of their hours (nothing was spent, or they were sealed before there
   * were any, or it would have been too large) are read from their cells.
   */
  async function* sealedHours(
    accountId: string,
    { from, to }: { readonly from: Hour; readonly to: Hour },
    dimensions: readonly SpendDimensionName[],
  ): AsyncGenerator<SpendCounter> {
    const view = hourViewOf(dimensions);
    const range = timeRange(summaryPrefix(view, 'HOUR'), dayOf(from), dayOf(to));
    let next = from;
    for await (const rolledUpDay of readHours(openPages(itemsBetween(table, spendPartition(accountId), range)), view)) {
      if (dayOf(next) < rolledUpDay.day) yield* cells.hours(accountId, next, lastHourOf(addDays(rolledUpDay.day, -1)));
      for (const cell of rolledUpDay.cells) if (cell.time >= from && cell.time <= to) yield cell;
      next = firstHourOf(addDays(rolledUpDay.day, 1));
    }
    if (next <= to) yield* cells.hours(accountId, next, to);
  }

  async function* hours(
    accountId: string,
    { from, to }: { readonly from: Hour; readonly to: Hour },
    dimensions: readonly SpendDimensionName[],
  ): AsyncGenerator<SpendCounter> {
    // What is within a day is few cells, and mostly today's.
    if (dayOf(from) === dayOf(to)) return yield* cells.hours(accountId, from, to);
    const unsealed = new Set(await periodsToRollUp(table, accountId, dayOf(from), dayOf(to)));
    for (const { is, first, last } of runs(daysBetween(dayOf(from), dayOf(to)), (day) => unsealed.has(day))) {
      const part = {
        from: first === dayOf(from) ? from : firstHourOf(first),
        to: last === dayOf(to) ? to : lastHourOf(last),
      };
      yield* is ? cells.hours(accountId, part.from, part.to) : sealedHours(accountId, part, dimensions);
    }
  }

  async function* days(
    accountId: string,
    range: { readonly from: Day; readonly to: Day },
    unsealed: ReadonlySet<string>,
    dimensions: readonly SpendDimensionName[],
  ): AsyncGenerator<SpendCounter> {
    for (const { is, first, last } of runs(daysBetween(range.from, range.to), (day) => unsealed.has(day)))
      yield* is ? cells.days(accountId, first, last) : sealed(accountId, 'DAY', first, last, dimensions);
  }

  async function* months(
    accountId: string,
    range: { readonly from: Day; readonly to: Day },
    unsealed: ReadonlySet<string>,
    dimensions: readonly SpendDimensionName[],
  ): AsyncGenerator<SpendCounter> {
    const marked = new Set([...unsealed].map(monthOf));
    const isWhole = (month: Month) => `${month}-01` >= range.from && lastDayOf(month) <= range.to;
    const fromSummary = (month: Month) => isWhole(month) && !marked.has(month);
    for (const { is, first, last } of runs(monthsBetween(monthOf(range.from), monthOf(range.to)), fromSummary)) {
      if (is) yield* sealed(accountId, 'MONTH', first, last, dimensions);
      else {
        const from = first === monthOf(range.from) ? range.from : `${first}-01`;
        const to = last === monthOf(range.to) ? range.to : lastDayOf(last);
        yield* days(accountId, { from, to }, unsealed, dimensions);
      }
    }
  }

  return {
    /**
     * The cells of a range, ascending in time. Only the dimensions named need be told apart, the fewer the cheaper: the others
     * may be anything. Times may be finer than the granularity (`2026-11-20` where months are asked for), never coarser.
     *
     * @throws CounterOverflowError
     */
    async *cells(
      accountId: string,
      { granularity, ...range }: SpendRange,
      dimensions: readonly SpendDimensionName[],
    ): AsyncGenerator<SpendCounter> {
      const lastInstant = new Date(Date.parse(range.to) - 1).toISOString();
      if (granularity === 'hour')
        return yield* hours(accountId, { from: hourOf(range.from), to: hourOf(lastInstant) }, dimensions);
      const inDays = { from: dayOf(range.from), to: dayOf(lastInstant) };
      // Marks are read before summaries: whoever seals in between makes a summary newer than the mark, never older.
      const unsealed = new Set(await periodsToRollUp(table, accountId, monthOf(inDays.from), inDays.to));
      const read = granularity === 'month' ? months : days;
      yield* read(accountId, inDays, unsealed, dimensions);
    },
  };
};
