import * as z from 'zod/mini';
import type { Day } from '../../domain/calendar/utc.ts';
import { type CounterName, type Counters, isZero } from '../../domain/spend/counters.ts';
import {
  noDimensions,
  type SpendDimensionName,
  type SpendDimensions,
  spendDimensionNames,
} from '../../domain/spend/dimensions.ts';
import { summarize } from '../../domain/spend/summary.ts';
import { hourCounterExpiry } from '../ledger/transactions.ts';
import { type Key, type SummaryView, summaryKey } from '../table/keys.ts';
import type { SpendCounter } from './spend-counters.ts';
import { counterColumns, countersOf, type Page, pagesOf, storedNames } from './summary-pages.ts';

/**
 * What the hours of a day may take at most, so that they and the day's own summary fit one transaction (100 items, 4 MB). The most cells that
 * an account can make take half of it, unless names are long and random. A view past it is not written: its hours are read from their cells.
 */
const MAX_PAGES = 60;
const MAX_BYTES = 2_000_000;

/** Those that most questions need come first. */
const views: readonly SummaryView[] = ['TOTALS', 'provider', 'model', 'CELLS', 'tag', 'keyId', 'providerKey'];

const HOURS = Array.from({ length: 24 }, (_, hour) => String(hour).padStart(2, '0'));

/**
 * Values of the dimensions that a view tells apart, and the sums of the hours one after the other: hour (0 to 23), then a number for each of the
 * page's counter names. Names are there once for all hours: a month of an account at its limits has a million sums.
 */
type Row = readonly [values: readonly (string | null)[], sums: readonly number[]];

/** The view that answers a question best: of everything, of one dimension, or of all crosses. */
export const hourViewOf = (dimensions: readonly SpendDimensionName[]): SummaryView => {
  const [dimension = 'TOTALS', ...more] = dimensions;
  return more.length === 0 ? dimension : 'CELLS';
};

const columnsOf = (view: SummaryView): readonly SpendDimensionName[] =>
  view === 'CELLS' ? spendDimensionNames : view === 'TOTALS' ? [] : [view];

interface Sum {
  readonly values: readonly (string | null)[];
  readonly counters: Counters;
}

const sumsOf = (view: SummaryView, { totals, cells }: ReturnType<typeof summarize>): Sum[] => {
  if (view === 'CELLS') return cells.map((cell) => ({ values: counterColumns(cell), counters: cell.counters }));
  const wanted = view === 'TOTALS' ? null : view;
  return totals
    .filter(({ name }) => name === wanted)
    .map(({ value, counters }) => ({ values: wanted === null ? [] : [value], counters }));
};

const tableOf = (sumsByHour: readonly (readonly Sum[])[]) => {
  const names = [
    ...new Set(sumsByHour.flatMap((sums) => sums.flatMap(({ counters }) => Object.keys(counters)))),
  ].sort() as CounterName[];
  const rows = new Map<string, [values: readonly (string | null)[], sums: number[]]>();
  for (const [hour, sums] of sumsByHour.entries())
    for (const { values, counters } of sums) {
      if (isZero(counters)) continue;
      const key = JSON.stringify(values);
      const row = rows.get(key) ?? [values, []];
      rows.set(key, row);
      row[1].push(hour, ...names.map((name) => counters[name] ?? 0));
    }
  return { names, rows: [...rows.values()] satisfies Row[] };
};

const bytesOf = (pages: readonly Buffer[]): number => pages.reduce((bytes, page) => bytes + page.length, 0);

/** The items of the hours of a sealed day, from its hour cells. They go when the cells do. */
export const hourItems = (accountId: string, day: Day, cells: readonly SpendCounter[]) => {
  const cellsAt = Map.groupBy(cells, ({ time }) => time);
  const summaries = HOURS.map((hour) => summarize(cellsAt.get(`${day}T${hour}`) ?? []));
  let left = { pages: MAX_PAGES, bytes: MAX_BYTES };
  return views.flatMap((view) => {
    const all = pagesOf(tableOf(summaries.map((summary) => sumsOf(view, summary))));
    const after = { pages: left.pages - all.length, bytes: left.bytes - bytesOf(all) };
    const fits = after.pages >= 0 && after.bytes >= 0;
    if (fits) left = after;
    // A first page that says there are none stands in the way of those of an earlier sealing.
    const pages = fits && all.length > 0 ? all : [Buffer.of()];
    return pages.map((data, page): Key & Record<string, unknown> => ({
      ...summaryKey(accountId, view, 'HOUR', day, page),
      pages: fits ? all.length : 0,
      data,
      expiresAt: hourCounterExpiry(`${day}T23`),
    }));
  });
};

/** Rows are looked at by nobody before: a schema of each would take longer than adding them up. */
const storedRows = z.object({ names: storedNames, rows: z.custom<readonly Row[]>(Array.isArray) });

interface OpenRow {
  readonly dimensions: SpendDimensions;
  readonly names: readonly string[];
  readonly sums: readonly number[];
  /** Where the next hour stands. */
  at: number;
}

const openRows = (json: unknown, view: SummaryView): OpenRow[] => {
  const { names, rows } = storedRows.parse(json);
  const columns = columnsOf(view);
  return rows.map(([values, sums]) => ({
    dimensions: { ...noDimensions, ...Object.fromEntries(columns.map((name, index) => [name, values[index] ?? null])) },
    names,
    sums,
    at: 0,
  }));
};

function* byHour(day: Day, rows: readonly OpenRow[]): Generator<SpendCounter> {
  for (const [hour, hourName] of HOURS.entries()) {
    const time = `${day}T${hourName}`;
    for (const row of rows) {
      if (row.sums[row.at] !== hour) continue;
      yield { time, dimensions: row.dimensions, counters: countersOf(row.names, row.sums, row.at + 1) };
      row.at += 1 + row.names.length;
    }
  }
}

/** Days whose hours are summed up, as they stand in the pages of a view: the cells of each once, ascending by hour. */
export async function* readHours(
  pages: AsyncIterable<Page>,
  view: SummaryView,
): AsyncGenerator<{ readonly day: Day; readonly cells: Iterable<SpendCounter> }> {
  let day = '';
  let rows: OpenRow[] = [];
  for await (const { period, isLast, json } of pages) {
    // A day that was sealed again meanwhile may lack its last pages.
    if (period !== day) rows = [];
    day = period;
    for (const row of openRows(json, view)) rows.push(row);
    if (isLast) yield { day, cells: byHour(day, rows) };
  }
}
