import * as z from 'zod/mini';
import type { Day } from '../../domain/calendar/utc.ts';
import { isZero, type SpendCounter } from '../../domain/spend/counters.ts';
import {
  type AllocationName,
  type CrossDimensionName,
  noDimensions,
  type SpendDimensions,
} from '../../domain/spend/dimensions.ts';
import { durationPairs } from '../../domain/spend/durations.ts';
import { summarize } from '../../domain/spend/summary.ts';
import { hourCounterExpiry } from '../ledger/transactions.ts';
import type { SummaryView } from '../table/keys.ts';
import {
  columnNamesOf,
  countersOf,
  dimensionsIn,
  type Page,
  pageItems,
  pagesOf,
  type Sum,
  storedNames,
  sumsIn,
} from './summary-pages.ts';

/**
 * Limits for the hours of a day, so that they and the summary of the day fit one transaction (100 items, 4 MB). The most counters that an
 * account can make take half of it, unless names are long and random. A view above the limits is not written, and its hours are read
 * from live counters.
 */
const MAX_PAGES = 60;
const MAX_BYTES = 2_000_000;

/** The views that are made of crosses. */
type CrossView = Exclude<SummaryView, AllocationName>;

/** Those that most questions need come first. */
const views: readonly CrossView[] = ['TOTALS', 'provider', 'model', 'CELLS', 'tag', 'keyId', 'providerKey'];

const HOURS = Array.from({ length: 24 }, (_, hour) => String(hour).padStart(2, '0'));

/**
 * Values of the dimensions of a view, and the sums of the hours in sequence: the hour (0 to 23), then a number for each counter name of
 * the page; null for PAST_EXACT. Then the durations of the same hours in sequence: how many numbers, and these (see durationPairs). The
 * values are there once for all hours, because a month of an account at its limits has a million sums.
 */
type Row = readonly [
  values: readonly (string | null)[],
  sums: readonly (number | null)[],
  durations?: readonly number[],
];

/** The smallest view that separates the dimensions: of everything, of one dimension, or of all crosses. */
export const hourViewOf = (dimensions: readonly CrossDimensionName[]): CrossView => {
  const [dimension = 'TOTALS', ...more] = dimensions;
  return more.length === 0 ? dimension : 'CELLS';
};

const sumsOf = (view: CrossView, { totals, crosses }: ReturnType<typeof summarize>): Sum[] => {
  if (view === 'CELLS') return sumsIn(view, crosses);
  const wanted = view === 'TOTALS' ? null : view;
  return totals
    .filter(({ name }) => name === wanted)
    .map(({ value, counters }) => ({ values: wanted === null ? [] : [value], counters }));
};

const tableOf = (sumsByHour: readonly (readonly Sum[])[]) => {
  const names = columnNamesOf(sumsByHour.flat());
  const rows = new Map<string, [values: readonly (string | null)[], sums: number[], durations: number[]]>();
  for (const [hour, sums] of sumsByHour.entries())
    for (const { values, counters } of sums) {
      if (isZero(counters)) continue;
      const key = JSON.stringify(values);
      const row = rows.get(key) ?? [values, [], []];
      rows.set(key, row);
      row[1].push(hour, ...names.map((name) => counters[name] ?? 0));
      const durations = durationPairs(counters);
      row[2].push(durations.length, ...durations);
    }
  return { names, rows: [...rows.values()] satisfies Row[] };
};

const bytesOf = (pages: readonly Buffer[]): number => pages.reduce((bytes, page) => bytes + page.length, 0);

/** Items with the hours of a day, which expire with its hour counters. */
const hourPageItems = (...of: Parameters<typeof pageItems>) => {
  const expiresAt = hourCounterExpiry(`${of[0].period}T23`);
  return pageItems(...of).map((item) => ({ ...item, expiresAt }));
};

const byHourOf = (day: Day, spendCounters: readonly SpendCounter[]): SpendCounter[][] => {
  const byTime = Map.groupBy(spendCounters, ({ time }) => time);
  return HOURS.map((hour) => byTime.get(`${day}T${hour}`) ?? []);
};

/** The items with the hours of a rolled-up day, from its hour counters. */
export const hourItems = (accountId: string, day: Day, spendCounters: readonly SpendCounter[], version: string) => {
  const of = { accountId, granularity: 'HOUR', period: day, version } as const;
  const summaries = byHourOf(day, spendCounters).map(summarize);
  let left = { pages: MAX_PAGES, bytes: MAX_BYTES };
  return views.flatMap((view) => {
    const all = pagesOf(tableOf(summaries.map((summary) => sumsOf(view, summary))));
    const after = { pages: left.pages - all.length, bytes: left.bytes - bytesOf(all) };
    const fits = after.pages >= 0 && after.bytes >= 0;
    if (fits) left = after;
    // A first page with a page count of 0 hides the pages of an earlier rollup.
    return fits && all.length > 0
      ? hourPageItems(of, view, all)
      : hourPageItems(of, view, [Buffer.of()]).map((item) => ({ ...item, pages: 0 }));
  });
};

/** The items with the hours of a rolled-up day by an allocation dimension. */
export const allocationHourItems = (
  accountId: string,
  day: Day,
  allocation: AllocationName,
  spendCounters: readonly SpendCounter[],
  version: string,
) => {
  const sums = byHourOf(day, spendCounters).map((ofHour) => sumsIn(allocation, ofHour));
  return hourPageItems({ accountId, granularity: 'HOUR', period: day, version }, allocation, pagesOf(tableOf(sums)));
};

/** Rows are not validated: that would take longer than adding them up. */
const storedRows = z.object({ names: storedNames, rows: z.custom<readonly Row[]>(Array.isArray) });

interface OpenRow {
  readonly dimensions: SpendDimensions;
  readonly names: readonly string[];
  readonly sums: readonly (number | null)[];
  /** Empty where they are left out, or were not counted yet. */
  readonly durations: readonly number[];
  /** Index of the next hour in `sums`, and in `durations`. */
  at: number;
  durationsAt: number;
}

const openRows = ({ json, withoutDurations }: Page, view: SummaryView): OpenRow[] => {
  const { names, rows } = storedRows.parse(json);
  const columns = dimensionsIn(view);
  return rows.map(([values, sums, durations = []]) => ({
    dimensions: { ...noDimensions, ...Object.fromEntries(columns.map((name, index) => [name, values[index] ?? null])) },
    names,
    sums,
    durations: withoutDurations ? [] : durations,
    at: 0,
    durationsAt: 0,
  }));
};

function* byHour(day: Day, rows: readonly OpenRow[]): Generator<SpendCounter> {
  for (const [hour, hourName] of HOURS.entries()) {
    const time = `${day}T${hourName}`;
    for (const row of rows) {
      if (row.sums[row.at] !== hour) continue;
      const from = row.durationsAt + 1;
      const to = from + (row.durations[row.durationsAt] ?? 0);
      const durations = { pairs: row.durations, from, to };
      yield { time, dimensions: row.dimensions, counters: countersOf(row.names, row.sums, durations, row.at + 1) };
      row.at += 1 + row.names.length;
      row.durationsAt = to;
    }
  }
}

/** The days on the pages of a view, each with its spend counters ascending by hour, to be iterated once. */
export async function* readHours(
  pages: AsyncIterable<Page>,
  view: SummaryView,
): AsyncGenerator<{ readonly day: Day; readonly spendCounters: Iterable<SpendCounter> }> {
  let day = '';
  let rows: OpenRow[] = [];
  for await (const page of pages) {
    const { period, isLast } = page;
    if (period !== day) rows = [];
    day = period;
    for (const row of openRows(page, view)) rows.push(row);
    if (isLast) yield { day, spendCounters: byHour(day, rows) };
  }
}
