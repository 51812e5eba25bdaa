import { gunzipSync, gzipSync } from 'node:zlib';
import * as z from 'zod/mini';
import { UnavailableError } from '../../domain/errors.ts';
import {
  type CounterName,
  type Counters,
  isCounterName,
  PAST_EXACT,
  type SpendCounter,
} from '../../domain/spend/counters.ts';
import {
  type AllocationName,
  allocationCrossNames,
  type CountedDimensionName,
  type CrossDimensionName,
  crossDimensionNames,
  isAllocation,
  noDimensions,
  type SpendDimensions,
} from '../../domain/spend/dimensions.ts';
import { durationCounterName, durationPairs, namesWithoutDurations } from '../../domain/spend/durations.ts';
import { currentName } from '../../domain/spend/former-names.ts';
import type { Summary, SummaryCross } from '../../domain/spend/summary.ts';
import { type Bounds, type SummaryView, spendPartition, summaryKey, summaryPrefix, timeRange } from '../table/keys.ts';
import { itemsBetween } from '../table/read.ts';
import type { Table } from '../table/table.ts';

/** Size of a page before compression: below the limit of an item (400 KB), even where nothing compresses. */
const MAX_PAGE_BYTES = 300_000;

/** Values of dimensions, then the sums by the names of the page, and after these the pairs of durations: see durationPairs. */
type Row = readonly [...(string | null)[], (number | undefined)[]];

/** Sums, and the values of the dimensions that they are of. */
export interface Sum {
  readonly values: readonly (string | null)[];
  readonly counters: Counters;
}

/** The names of the columns: of all counters but durations, which would be a dozen of zeros in most rows. */
export const columnNamesOf = (sums: readonly Sum[]): CounterName[] =>
  [...new Set(sums.flatMap(({ counters }) => namesWithoutDurations(counters)))].sort();

const tableOf = (sums: readonly Sum[]) => {
  const names = columnNamesOf(sums);
  return {
    names,
    rows: sums.map(
      ({ values, counters }): Row => [
        ...values,
        [...names.map((name) => counters[name] ?? 0), ...durationPairs(counters)],
      ],
    ),
  };
};

/** The dimensions in the rows of a view, in their order. */
export const dimensionsIn = (view: SummaryView): readonly CountedDimensionName[] => {
  if (isAllocation(view)) return [view, ...allocationCrossNames];
  return view === 'CELLS' ? crossDimensionNames : view === 'TOTALS' ? [] : [view];
};

export const sumsIn = (view: SummaryView, crosses: readonly Pick<SpendCounter, 'dimensions' | 'counters'>[]): Sum[] => {
  const names = dimensionsIn(view);
  return crosses.map(({ dimensions, counters }) => ({
    values: names.map((name) => dimensions[name] ?? null),
    counters,
  }));
};

/** Rows as compressed JSON, in as many pages as they need. Each page has the counter names of its values. */
export const pagesOf = ({ names, rows }: { names: readonly CounterName[]; rows: readonly unknown[] }): Buffer[] => {
  const pages: unknown[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const row of rows) {
    const size = Buffer.byteLength(JSON.stringify(row)) + 1;
    if (bytes + size > MAX_PAGE_BYTES) {
      pages.push([]);
      bytes = 0;
    }
    pages.at(-1)?.push(row);
    bytes += size;
  }
  return pages.map((page) => gzipSync(JSON.stringify({ names, rows: page })));
};

/** Names the period of a summary. */
interface Summarized {
  readonly accountId: string;
  readonly granularity: 'HOUR' | 'DAY' | 'MONTH';
  readonly period: string;
  /** Different in each rollup. */
  readonly version: string;
}

/** The items of a view's pages. The first one holds the number of pages, since pages of an older, longer summary may remain. */
export const pageItems = (
  { accountId, granularity, period, version }: Summarized,
  view: SummaryView,
  pages: readonly Buffer[],
) =>
  pages.map((data, page) => ({
    ...summaryKey(accountId, view, granularity, period, page),
    pages: pages.length,
    version,
    data,
  }));

/** In the view TOTALS, each total names its own dimension. */
export const summaryItems = (of: Summarized, { totals, crosses }: Summary) => [
  ...pageItems(
    of,
    'TOTALS',
    pagesOf(tableOf(totals.map(({ name, value, counters }) => ({ values: [name, value], counters })))),
  ),
  ...pageItems(of, 'CELLS', pagesOf(tableOf(sumsIn('CELLS', crosses)))),
];

/** The items of an allocation dimension's summary. */
export const allocationItems = (of: Summarized, allocation: AllocationName, crosses: readonly SummaryCross[]) =>
  pageItems(of, allocation, pagesOf(tableOf(sumsIn(allocation, crosses))));

const storedPage = z.object({
  sk: z.string(),
  pages: z.int(),
  version: z._default(z.string(), ''),
  data: z.instanceof(Uint8Array),
});
type StoredPage = z.infer<typeof storedPage>;
const text = z.nullable(z.string());
/** JSON has null for PAST_EXACT. */
const sums = z.array(z.nullable(z.int()));
/** Counter names, in the order of a row's values. */
export const storedNames = z.pipe(
  z.array(z.string()),
  z.transform((names: string[]) => names.map(currentName)),
);
const storedTotals = z.object({
  names: storedNames,
  rows: z.array(z.tuple([z.nullable(z.enum(crossDimensionNames)), text, sums])),
});
const storedCrosses = z.object({
  names: storedNames,
  rows: z.array(z.tuple([z.string(), text, text, text, text, sums])),
});
const storedAllocations = z.object({
  names: storedNames,
  rows: z.array(z.tuple([text, z.string(), text, text, sums])),
});

/** Where the pairs of durations of a row are. */
interface Durations {
  readonly pairs: readonly (number | null)[];
  readonly from: number;
  readonly to: number;
}

/** The counters of a row, whose values begin at `start`. Loops, because a year of many crosses has a million rows. */
export const countersOf = (
  names: readonly string[],
  values: readonly (number | null)[],
  { pairs, from, to }: Durations,
  start = 0,
): Counters => {
  const counters: Partial<Record<CounterName, number>> = {};
  for (let index = 0; index < names.length; index++) {
    const [name, value] = [names[index] as string, values[start + index]];
    if ((value || value === null) && isCounterName(name)) counters[name] = value ?? PAST_EXACT;
  }
  for (let index = from; index < to; index += 2)
    counters[durationCounterName(pairs[index] ?? 0)] = pairs[index + 1] ?? PAST_EXACT;
  return counters;
};

/** A page of a summary, decompressed. */
export interface Page {
  readonly period: string;
  readonly isLast: boolean;
  readonly json: unknown;
  /** Durations are left out: to read them takes longer than all other sums of a row. */
  readonly withoutDurations?: boolean;
}

/** A summary may be written again while it is read: once an hour, at the most. */
const MAX_READS = 4;

const parseSk = (sk: string) => {
  const at = sk.lastIndexOf('#');
  return {
    summary: sk.slice(0, at),
    period: sk.slice(sk.lastIndexOf('#', at - 1) + 1, at),
    page: Number(sk.slice(at + 1)),
  };
};

/** Groups pages, which come ascending by key, by summary. */
async function* bySummary(items: AsyncIterable<Record<string, unknown>>): AsyncGenerator<StoredPage[]> {
  let pages: StoredPage[] = [];
  for await (const item of items) {
    const page = storedPage.parse(item);
    if (pages[0] && parseSk(pages[0].sk).summary !== parseSk(page.sk).summary) {
      yield pages;
      pages = [];
    }
    pages.push(page);
  }
  if (pages.length > 0) yield pages;
}

/** The pages of one rollup without those that remain from a longer one before it; null where another rollup wrote some of them. */
const wholeSummary = ([first, ...others]: readonly StoredPage[]): readonly StoredPage[] | null => {
  if (!first || parseSk(first.sk).page !== 0) return null;
  const pages = [first, ...others].slice(0, first.pages);
  const isWhole = pages.length === first.pages && pages.every(({ version }) => version === first.version);
  return isWhole ? pages : null;
};

/**
 * Decompresses pages of summaries, which come ascending by key. A query reads one item after the other, and a rollup may write all pages
 * of a summary in between: such a summary is read again.
 *
 * @param readAgain the pages of one summary, by the part of their keys before the page number
 * @throws UnavailableError
 */
export async function* openPages(
  items: AsyncIterable<Record<string, unknown>>,
  readAgain: (summary: string) => AsyncIterable<Record<string, unknown>>,
  withoutDurations = false,
): AsyncGenerator<Page> {
  for await (const found of bySummary(items)) {
    const { summary, period } = parseSk((found[0] as StoredPage).sk);
    let pages = wholeSummary(found);
    for (let reads = 1; pages === null; reads++) {
      if (reads === MAX_READS) throw new UnavailableError('Spend is being added up at the moment. Try again.');
      for await (const again of bySummary(readAgain(summary))) pages = wholeSummary(again);
    }
    for (const [index, { data }] of pages.entries()) {
      const json: unknown = JSON.parse(gunzipSync(data).toString('utf8'));
      yield { period, isLast: index === pages.length - 1, json, withoutDurations };
    }
  }
}

/**
 * Pages of a view of the summaries of some periods, both ends included. Consistent: a summary is at least as new as the marks that were
 * read before it.
 */
export const readPages = (
  table: Table,
  accountId: string,
  view: SummaryView,
  granularity: 'HOUR' | 'DAY' | 'MONTH',
  { from, to }: Bounds,
  withoutDurations = false,
): AsyncGenerator<Page> => {
  const read = (range: Bounds) => itemsBetween(table, spendPartition(accountId), range, { ConsistentRead: true });
  return openPages(
    read(timeRange(summaryPrefix(view, granularity), from, to)),
    (summary) => read({ from: `${summary}#`, to: `${summary}#~` }),
    withoutDurations,
  );
};

const readRow = (
  { period, withoutDurations }: Page,
  names: readonly string[],
  dimensions: SpendDimensions,
  values: readonly (number | null)[],
): SpendCounter => {
  const to = withoutDurations ? names.length : values.length;
  return { time: period, dimensions, counters: countersOf(names, values, { pairs: values, from: names.length, to }) };
};

/** The totals of one dimension, or of everything (null), on a page of the TOTALS view. */
export const readTotals = (page: Page, wanted: CrossDimensionName | null): SpendCounter[] => {
  const { names, rows } = storedTotals.parse(page.json);
  return rows
    .filter(([name]) => name === wanted)
    .map(([, value, values]) =>
      readRow(page, names, wanted === null ? noDimensions : { ...noDimensions, [wanted]: value }, values),
    );
};

/** The crosses on a page of the CELLS view. */
export const readCrosses = (page: Page): SpendCounter[] => {
  const { names, rows } = storedCrosses.parse(page.json);
  return rows.map(([provider, model, tag, keyId, providerKey, values]) =>
    readRow(page, names, { provider, model, tag, keyId, providerKey }, values),
  );
};

/** The crosses on a page of an allocation dimension's view. */
export const readAllocations = (page: Page, allocation: AllocationName): SpendCounter[] => {
  const { names, rows } = storedAllocations.parse(page.json);
  return rows.map(([value, provider, model, keyId, values]) =>
    readRow(page, names, { ...noDimensions, provider, model, keyId, [allocation]: value }, values),
  );
};
