import { bucketsOf, type Range } from '../calendar/range.ts';
import { bucketOf } from '../calendar/utc.ts';
import { ValidationError } from '../errors.ts';
import { addCounters, type Counters, knownCostNanoUsd, tokenCounterNames, unitsOf } from './counters.ts';
import type { SpendDimensionName, SpendDimensions } from './dimensions.ts';
import { groupPoints } from './spend-points.ts';
import { sumMap } from './sum-map.ts';

/** What a group by one or more dimensions is called by. */
export type Group = Partial<SpendDimensions>;

/** One cell of the ledger: a cross of dimensions in one hour or day. */
export interface ReportCounter {
  readonly time: string;
  readonly dimensions: SpendDimensions;
  readonly counters: Counters;
}

/** Reads the cells of a range, ascending in time. Only the dimensions named need be told apart. */
export type ReadCounters = (
  accountId: string,
  range: Range,
  dimensions: readonly SpendDimensionName[],
) => AsyncIterable<ReportCounter>;

/** Lets a cell pass whose value is in the list, for every dimension that has one. Null stands for "none". */
export type SpendFilter = Partial<Readonly<Record<SpendDimensionName, readonly (string | null)[]>>>;

/** A sum of money, exact as an integer, and as a decimal string to show. */
export interface Money {
  readonly costNanoUsd: number | null;
  readonly costUsd: string | null;
}

/** Points times groups of the series: a Lambda answer may take 6 MB, and names may be long. Groups beyond are dropped, the cheapest first. */
const MAX_SERIES_GROUPS = 5_000;

/** Nano-USD as a decimal string without trailing zeros: 1500000 is `0.0015`. */
export const usdOf = (nanoUsd: number): string => {
  const digits = String(nanoUsd).padStart(10, '0');
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`.replace(/\.?0+$/, '');
};

export const moneyOf = (costNanoUsd: number | null): Money => ({
  costNanoUsd,
  costUsd: costNanoUsd === null ? null : usdOf(costNanoUsd),
});

/** The cost of a sum: null where there were requests and no cost of any of them is known, since that is not $0. */
const costOf = (counters: Counters): number | null => {
  const requests = counters.requests ?? 0;
  return requests > 0 && counters.unpricedRequests === requests ? null : knownCostNanoUsd(counters);
};

/** The few numbers every sum shows. `unpricedRequests` says what the cost leaves out. */
const leanSums = (counters: Counters) => ({
  requests: counters.requests ?? 0,
  ...moneyOf(costOf(counters)),
  unpricedRequests: counters.unpricedRequests ?? 0,
});

/** All that is known of a sum. */
export const sumsOf = (counters: Counters) => ({
  ...leanSums(counters),
  costByProvenance: {
    provider: moneyOf(counters.costProviderNanoUsd ?? 0),
    computed: moneyOf(counters.costComputedNanoUsd ?? 0),
    estimated: moneyOf(counters.costEstimatedNanoUsd ?? 0),
  },
  freeRequests: counters.freeRequests ?? 0,
  errors: counters.errors ?? 0,
  partialRequests: counters.partialRequests ?? 0,
  unfinishedRequests: counters.unfinishedRequests ?? 0,
  bypassedRequests: counters.bypassedRequests ?? 0,
  overflowRequests: counters.overflowRequests ?? 0,
  tokens: Object.fromEntries(tokenCounterNames.map((name) => [name, counters[name] ?? 0])) as Record<
    (typeof tokenCounterNames)[number],
    number
  >,
  units: unitsOf(counters),
});

export const passesFilter = (dimensions: SpendDimensions, filter: SpendFilter): boolean =>
  Object.entries(filter).every(([name, values]) => values.includes(dimensions[name as SpendDimensionName]));

export const groupOf = (dimensions: SpendDimensions, groupBy: readonly SpendDimensionName[]): Group =>
  Object.fromEntries(groupBy.map((name) => [name, dimensions[name]]));

/** Cost first, then requests, then name: the order of groups never depends on that of the cells. */
export const byCost = ([leftKey, left]: [string, Counters], [rightKey, right]: [string, Counters]): number =>
  knownCostNanoUsd(right) - knownCostNanoUsd(left) ||
  (right.requests ?? 0) - (left.requests ?? 0) ||
  (leftKey < rightKey ? -1 : 1);

/** Total of the cells that pass. */
export const totalOf = async (cells: AsyncIterable<ReportCounter>, filter: SpendFilter): Promise<Counters> => {
  const total = sumMap();
  for await (const { dimensions, counters } of cells) if (passesFilter(dimensions, filter)) total.add('', counters);
  return total.sums.get('') ?? {};
};

export interface ReportQuery {
  readonly range: Range;
  readonly groupBy: readonly SpendDimensionName[];
  readonly filter: SpendFilter;
  /** At most so many groups are named; the others are summed up in `otherGroups`. */
  readonly limit: number;
}

/** Groups are held until the costliest are known: a year of a thousand new tags a day would not fit a function's memory. */
const MAX_GROUPS = 100_000;

const tooManyGroups = () => {
  const message = `names more than ${MAX_GROUPS} groups: narrow the range, filter, or group by less; the export names them all`;
  return new ValidationError([{ path: 'groupBy', message }]);
};

const namesOf = (group: string, groupBy: readonly SpendDimensionName[]): Group => {
  const values = JSON.parse(group) as string[];
  return Object.fromEntries(groupBy.map((name, index) => [name, values[index]]));
};

/**
 * Totals, groups and a gapless series of the cells of a range. Whatever the groups, their sums (with `otherGroups`) and those
 * of the series are the totals.
 *
 * @param cells ascending by time
 * @throws ValidationError where there are too many groups
 */
export const spendReport = async (
  cells: AsyncIterable<ReportCounter>,
  { range, groupBy, filter, limit }: ReportQuery,
) => {
  const byBucket = sumMap();
  const byGroup = sumMap();
  const points = groupPoints();
  let bucket = '';
  let groupsOfBucket = sumMap();
  const closeBucket = () => {
    for (const [group, counters] of groupsOfBucket.sums) {
      byBucket.add(bucket, counters);
      byGroup.add(group, counters);
      points.add(bucket, group, counters);
    }
    if (byGroup.sums.size > MAX_GROUPS) throw tooManyGroups();
    groupsOfBucket = sumMap();
  };
  for await (const { time, dimensions, counters } of cells) {
    if (!passesFilter(dimensions, filter)) continue;
    const next = bucketOf(time, range.granularity);
    if (next !== bucket) closeBucket();
    bucket = next;
    groupsOfBucket.add(JSON.stringify(groupBy.map((name) => dimensions[name])), counters);
  }
  closeBucket();
  const total = [...byBucket.sums.values()].reduce(addCounters, {});
  const buckets = bucketsOf(range);
  const ranked = groupBy.length === 0 ? [] : [...byGroup.sums].sort(byCost);
  const named = ranked.slice(0, limit);
  const rest = ranked.slice(limit);
  const inSeries = points.of(named.slice(0, Math.floor(MAX_SERIES_GROUPS / buckets.length)).map(([group]) => group));

  return {
    totals: sumsOf(total),
    groups: named.map(([group, counters]) => ({ ...namesOf(group, groupBy), ...sumsOf(counters) })),
    otherGroups:
      rest.length === 0
        ? null
        : { groups: rest.length, ...sumsOf(rest.map(([, counters]) => counters).reduce(addCounters, {})) },
    series: buckets.map((each) => ({
      time: each,
      ...leanSums(byBucket.sums.get(each) ?? {}),
      groups: (inSeries.get(each) ?? []).map(({ group, counters }) => ({
        ...namesOf(group, groupBy),
        ...leanSums(counters),
      })),
    })),
  };
};
