import { bucketOf } from '../calendar/utc.ts';
import type { Counters } from './counters.ts';
import type { SpendDimensionName } from './dimensions.ts';
import {
  byCost,
  type Group,
  groupOf,
  passesFilter,
  type ReportCounter,
  type ReportQuery,
  sumsOf,
} from './spend-report.ts';
import { sumMap } from './sum-map.ts';

/** Spreadsheets run a cell that begins with one of these, or its full-width twin, as a formula. @see https://owasp.org/www-community/attacks/CSV_Injection */
const FORMULA_START = /^[=+\-@\t\r\n＝＋－＠]/;

/** One cell as RFC 4180 has it; text that a spreadsheet would run is put behind an apostrophe. */
export const csvCell = (value: string | number | null): string => {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const harmless = FORMULA_START.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
};

const line = (cells: readonly (string | number | null)[]): string => `${cells.map(csvCell).join(',')}\r\n`;

const sumColumns = [
  'requests',
  'cost_usd',
  'unpriced_requests',
  'cost_provider_usd',
  'cost_computed_usd',
  'cost_estimated_usd',
  'free_requests',
  'errors',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
] as const;

const sumCounters = (counters: Counters) => {
  const { costByProvenance, tokens, ...sums } = sumsOf(counters);
  return [
    sums.requests,
    sums.costUsd,
    sums.unpricedRequests,
    costByProvenance.provider.costUsd,
    costByProvenance.computed.costUsd,
    costByProvenance.estimated.costUsd,
    sums.freeRequests,
    sums.errors,
    tokens.inputTokens,
    tokens.outputTokens,
    tokens.cacheReadTokens,
    tokens.cacheWriteTokens,
    tokens.reasoningTokens,
  ];
};

/**
 * Spend as CSV: a line for each hour, day or month and group that has requests. A cost that is not known is an empty cell.
 *
 * @param cells ascending by time; only one bucket's sums are held at once
 * @param nameOf column name of a dimension
 */
export async function* spendCsv(
  cells: AsyncIterable<ReportCounter>,
  { range, groupBy, filter }: Omit<ReportQuery, 'limit'>,
  nameOf: (dimension: SpendDimensionName) => string,
): AsyncGenerator<string> {
  yield line(['time', ...groupBy.map(nameOf), ...sumColumns]);
  let bucket = '';
  let groups = sumMap();
  const flush = () =>
    [...groups.sums]
      .sort(byCost)
      .map(([group, counters]) => {
        const names = JSON.parse(group) as Group;
        return line([bucket, ...groupBy.map((name) => names[name] ?? null), ...sumCounters(counters)]);
      })
      .join('');
  for await (const { time, dimensions, counters } of cells) {
    if (!passesFilter(dimensions, filter)) continue;
    const next = bucketOf(time, range.granularity);
    if (next !== bucket) {
      if (groups.sums.size > 0) yield flush();
      bucket = next;
      groups = sumMap();
    }
    groups.add(JSON.stringify(groupOf(dimensions, groupBy)), counters);
  }
  if (groups.sums.size > 0) yield flush();
}
