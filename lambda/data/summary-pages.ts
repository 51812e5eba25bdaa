import { gunzipSync, gzipSync } from 'node:zlib';
import * as z from 'zod';
import { type CounterName, type Counters, isCounterName } from '../domain/spend/counters.ts';
import { type SpendDimensionName, spendDimensionNames } from '../domain/spend/dimensions.ts';
import type { Summary, SummaryCell, SummaryTotal } from '../domain/spend/summary.ts';
import { type Key, sealedKey } from './keys.ts';

type SummaryView = 'TOTALS' | 'CELLS';

/** What one page holds before compression: below what an item may hold (400 KB) even where nothing can be compressed. */
const MAX_PAGE_BYTES = 300_000;

type Row = readonly [...(string | null)[], (number | undefined)[]];

const tableOf = (rows: readonly { readonly cells: readonly (string | null)[]; readonly counters: Counters }[]) => {
  const names = [...new Set(rows.flatMap(({ counters }) => Object.keys(counters)))].sort() as CounterName[];
  return { names, rows: rows.map(({ cells, counters }): Row => [...cells, names.map((name) => counters[name] ?? 0)]) };
};

const totalColumns = ({ name, value }: SummaryTotal): (string | null)[] => [name, value];
const cellColumns = ({ dimensions }: SummaryCell): (string | null)[] =>
  spendDimensionNames.map((name) => dimensions[name]);

const pagesOf = (rows: readonly { cells: readonly (string | null)[]; counters: Counters }[]): Buffer[] => {
  const { names, rows: table } = tableOf(rows);
  const pages: Row[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const row of table) {
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

/** The items of a sealed period. Every page says how many there are: of an older, longer summary pages may be left over. */
export const summaryItems = (accountId: string, granularity: 'DAY' | 'MONTH', period: string, summary: Summary) => {
  const views: Record<SummaryView, Buffer[]> = {
    TOTALS: pagesOf(summary.totals.map((total) => ({ cells: totalColumns(total), counters: total.counters }))),
    CELLS: pagesOf(summary.cells.map((cell) => ({ cells: cellColumns(cell), counters: cell.counters }))),
  };
  return (Object.entries(views) as [SummaryView, Buffer[]][]).flatMap(([view, pages]) =>
    pages.map((data, page): Key & Record<string, unknown> => ({
      ...sealedKey(accountId, view, granularity, period, page),
      pages: pages.length,
      data,
    })),
  );
};

const storedPage = z.object({ sk: z.string(), pages: z.int(), data: z.instanceof(Uint8Array) });
const text = z.string().nullable();
const storedTotals = z.object({
  names: z.array(z.string()),
  rows: z.array(z.tuple([z.enum(spendDimensionNames).nullable(), text, z.array(z.int())])),
});
const storedCells = z.object({
  names: z.array(z.string()),
  rows: z.array(z.tuple([z.string(), text, text, text, text, z.array(z.int())])),
});

const countersOf = (names: readonly string[], values: readonly number[]): Counters =>
  Object.fromEntries(
    names.flatMap((name, i) => (isCounterName(name) && values[i] ? [[name, values[i]]] : [])),
  ) as Counters;

/** Undefined for a page left over from a longer summary. */
const openPage = (item: Record<string, unknown>): { readonly period: string; readonly json: unknown } | undefined => {
  const { sk, pages, data } = storedPage.parse(item);
  const [, , , period = '', page] = sk.split('#');
  if (Number(page) >= pages) return undefined;
  return { period, json: JSON.parse(gunzipSync(data).toString('utf8')) };
};

/** The totals that a page of the TOTALS view holds of one dimension, or of everything (null). */
export const readTotals = (
  item: Record<string, unknown>,
  wanted: SpendDimensionName | null,
): (SummaryTotal & { readonly period: string })[] => {
  const page = openPage(item);
  if (!page) return [];
  const { names, rows } = storedTotals.parse(page.json);
  return rows
    .filter(([name]) => name === wanted)
    .map(([name, value, values]) => ({ period: page.period, name, value, counters: countersOf(names, values) }));
};

/** The cells that a page of the CELLS view holds. */
export const readCells = (item: Record<string, unknown>): (SummaryCell & { readonly period: string })[] => {
  const page = openPage(item);
  if (!page) return [];
  const { names, rows } = storedCells.parse(page.json);
  return rows.map(([provider, model, tag, keyId, providerKey, values]) => ({
    period: page.period,
    dimensions: { provider, model, tag, keyId, providerKey },
    counters: countersOf(names, values),
  }));
};
