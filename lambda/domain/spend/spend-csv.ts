import { bucketFinder } from '../calendar/range.ts';
import { type Counters, type SpendCounter, sumMap } from './counters.ts';
import type { SpendDimensionName } from './dimensions.ts';
import type { DisplayCurrency } from './display-currency.ts';
import { latencyOf } from './durations.ts';
import {
  byCost,
  type Group,
  groupOf,
  isUnknown,
  mayPassFilter,
  passesFilter,
  type ReportQuery,
  sumsOf,
} from './spend-report.ts';

/** Spreadsheets run a field that begins with one of these, or its full-width form, as a formula. @see https://owasp.org/www-community/attacks/CSV_Injection */
const FORMULA_START = /^[=+\-@\t\r\n＝＋－＠]/;

/** One field in the format of RFC 4180. Text that a spreadsheet would run gets an apostrophe in front. */
export const csvField = (value: string | number | null): string => {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const harmless = FORMULA_START.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
};

const line = (fields: readonly (string | number | null)[]): string => `${fields.map(csvField).join(',')}\r\n`;

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
  'may_also_match_requests',
  'may_also_match_cost_usd',
  'list_cost_usd',
  'list_unpriced_requests',
] as const;

const sumCounters = (
  counters: Counters,
  mayAlsoMatch: Counters,
  mayLack: boolean,
  currency: DisplayCurrency | null,
) => {
  const { costByProvenance, tokens, ...sums } = sumsOf(counters, mayLack, currency);
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
    mayAlsoMatch.requests ?? 0,
    sumsOf(mayAlsoMatch).costUsd,
    sums.listCostUsd,
    sums.listUnpricedRequests,
    ...(currency ? [sums.displayCost ?? null, currency.code] : []),
  ];
};

const latencyColumns = ['latency_requests', 'latency_p50_ms', 'latency_p95_ms'] as const;

const latencyFields = (counters: Counters) => {
  const { requests = 0, p50Ms = null, p95Ms = null } = latencyOf(counters) ?? {};
  return [requests, p50Ms, p95Ms];
};

/**
 * Spend as CSV: a line for each hour, day or month and group that has requests. An unknown cost is an empty field. The last columns have
 * the requests of `(other)` and unknown values that may pass the filter too; the others do not include them.
 *
 * @param spendCounters ascending by time; only the sums of one bucket are held in memory
 * @param nameOf column name of a dimension
 */
export async function* spendCsv(
  spendCounters: AsyncIterable<SpendCounter>,
  { range, groupBy, filter, currency = null, latency = false }: Omit<ReportQuery, 'limit'>,
  nameOf: (dimension: SpendDimensionName) => string,
): AsyncGenerator<string> {
  const moreColumns = [...(currency ? ['display_cost', 'display_currency'] : []), ...(latency ? latencyColumns : [])];
  yield line(['time', ...groupBy.map(nameOf), ...sumColumns, ...moreColumns]);
  const bucketOf = bucketFinder(range);
  let bucket = '';
  let groups = sumMap();
  let mayAlsoMatch = sumMap();
  let mayLack = new Set<string>();
  const flush = () =>
    [...new Set([...groups.sums.keys(), ...mayAlsoMatch.sums.keys()])]
      .map((group): [string, Counters] => [group, groups.sums.get(group) ?? {}])
      .sort(byCost)
      .map(([group, counters]) => {
        const names = JSON.parse(group) as Group;
        const values = groupBy.map((name) => names[name] ?? null);
        const columns = sumCounters(counters, mayAlsoMatch.sums.get(group) ?? {}, mayLack.has(group), currency);
        return line([bucket, ...values, ...columns, ...(latency ? latencyFields(counters) : [])]);
      })
      .join('');
  for await (const { time, dimensions, counters } of spendCounters) {
    const passes = passesFilter(dimensions, filter);
    if (!passes && !mayPassFilter(dimensions, filter)) continue;
    const next = bucketOf(time);
    if (next !== bucket) {
      if (bucket !== '') yield flush();
      bucket = next;
      groups = sumMap();
      mayAlsoMatch = sumMap();
      mayLack = new Set();
    }
    const group = JSON.stringify(groupOf(dimensions, groupBy));
    (passes ? groups : mayAlsoMatch).add(group, counters);
    if (!passes && isUnknown(dimensions, filter)) mayLack.add(group);
  }
  if (bucket !== '') yield flush();
}
