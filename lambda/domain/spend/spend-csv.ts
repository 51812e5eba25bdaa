import { bucketFinder } from '../calendar/range.ts';
import { type Counters, ifExact, isZero, type SpendCounter, sumMap } from './counters.ts';
import type { SpendDimensionName } from './dimensions.ts';
import type { DisplayCurrency } from './display-currency.ts';
import { latencyOf } from './durations.ts';
import { byCost, groupKey, matchOf, type ReportQuery, sumsOf } from './spend-report.ts';

/** Spreadsheets run a field that begins with one of these, or its full-width form, as a formula. @see https://owasp.org/www-community/attacks/CSV_Injection */
const FORMULA_START = /^[=+\-@\t\r\n＝＋－＠]/;

/** One field in the format of RFC 4180. Text that a spreadsheet would run gets an apostrophe in front. */
export const csvField = (value: string | number | null): string => {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const harmless = FORMULA_START.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
};

type Field = string | number | null;

/** One line in the format of RFC 4180. */
export const csvLine = (fields: readonly Field[]): string => `${fields.map(csvField).join(',')}\r\n`;

/** The sums of a line, and those that it may lack. */
interface Line {
  readonly sums: ReturnType<typeof sumsOf>;
  readonly mayAlsoMatch: ReturnType<typeof sumsOf>;
  readonly latency: ReturnType<typeof latencyOf>;
}

type Column = readonly [name: string, of: (line: Line) => Field];

const sumColumns: readonly Column[] = [
  ['requests', ({ sums }) => sums.requests],
  ['cost_usd', ({ sums }) => sums.costUsd],
  ['unpriced_requests', ({ sums }) => sums.unpricedRequests],
  ['cost_provider_usd', ({ sums }) => sums.costByProvenance.provider.costUsd],
  ['cost_computed_usd', ({ sums }) => sums.costByProvenance.computed.costUsd],
  ['cost_estimated_usd', ({ sums }) => sums.costByProvenance.estimated.costUsd],
  ['free_requests', ({ sums }) => sums.freeRequests],
  ['errors', ({ sums }) => sums.errors],
  ['input_tokens', ({ sums }) => sums.tokens.inputTokens],
  ['output_tokens', ({ sums }) => sums.tokens.outputTokens],
  ['cache_read_tokens', ({ sums }) => sums.tokens.cacheReadTokens],
  ['cache_write_tokens', ({ sums }) => sums.tokens.cacheWriteTokens],
  ['reasoning_tokens', ({ sums }) => sums.tokens.reasoningTokens],
  ['may_also_match_requests', ({ mayAlsoMatch }) => mayAlsoMatch.requests],
  ['may_also_match_cost_usd', ({ mayAlsoMatch }) => mayAlsoMatch.costUsd],
  ['list_cost_usd', ({ sums }) => sums.listCostUsd],
  ['list_unpriced_requests', ({ sums }) => sums.listUnpricedRequests],
];

const latencyColumns: readonly Column[] = [
  ['latency_requests', ({ latency }) => latency?.requests ?? 0],
  ['latency_p50_ms', ({ latency }) => latency?.p50Ms ?? null],
  ['latency_p95_ms', ({ latency }) => latency?.p95Ms ?? null],
];

const currencyColumns = ({ code }: DisplayCurrency): readonly Column[] => [
  ['display_cost', ({ sums }) => sums.displayCost ?? null],
  ['display_currency', () => code],
];

/** In the place of a cost above 2^53 - 1 nano-USD: see CounterOverflowError. The other figures of its line are empty. */
const TOO_LARGE = 'too large to be exact';

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
  const columns = [...sumColumns, ...(currency ? currencyColumns(currency) : []), ...(latency ? latencyColumns : [])];
  yield csvLine(['time', ...groupBy.map(nameOf), ...columns.map(([name]) => name)]);
  const bucketOf = bucketFinder(range);
  const begin = (time: string) => ({ time, groups: sumMap(), mayAlsoMatch: sumMap(), mayLack: new Set<string>() });
  let bucket = begin('');
  const linesOf = ({ time, groups, mayAlsoMatch, mayLack }: typeof bucket) =>
    [...new Set([...groups.sums.keys(), ...mayAlsoMatch.sums.keys()])]
      .map((group): [string, Counters] => [group, groups.sums.get(group) ?? {}])
      .sort(byCost)
      .map(([group, counters]) => {
        const ofGroup = ifExact(
          (): Line => ({
            sums: sumsOf(counters, mayLack.has(group), currency),
            mayAlsoMatch: sumsOf(mayAlsoMatch.sums.get(group) ?? {}),
            latency: latencyOf(counters),
          }),
        );
        const figures = columns.map(([name, of]) => (ofGroup ? of(ofGroup) : name === 'cost_usd' ? TOO_LARGE : null));
        return csvLine([time, ...(JSON.parse(group) as Field[]), ...figures]);
      })
      .join('');
  for await (const { time, dimensions, counters } of spendCounters) {
    const match = matchOf(dimensions, filter);
    // Who sees a part gets no figure of what may be of others: a line of nothing would read as $0.
    if (match === 'fails' || isZero(counters)) continue;
    const next = bucketOf(time);
    if (next !== bucket.time) {
      if (bucket.time !== '') yield linesOf(bucket);
      bucket = begin(next);
    }
    const group = groupKey(dimensions, groupBy);
    (match === 'passes' ? bucket.groups : bucket.mayAlsoMatch).add(group, counters);
    if (match === 'unknown') bucket.mayLack.add(group);
  }
  if (bucket.time !== '') yield linesOf(bucket);
}
