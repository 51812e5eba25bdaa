import { bucketFinder, bucketsOf } from '../calendar/range.ts';
import { invalid } from '../errors.ts';
import { decimalOf } from '../money.ts';
import { withoutPath } from '../usage/dialect.ts';
import {
  addCounters,
  atListCost,
  boundedSum,
  byKnownCost,
  type Counters,
  isZero,
  knownCostNanoUsd,
  requireExact,
  type SpendCounter,
  sumMap,
  tokenCounterNames,
  unitsOf,
} from './counters.ts';
import { OTHER, type SpendDimensionName, type SpendDimensions, UNKNOWN } from './dimensions.ts';
import { type DisplayCurrency, displayCostOf } from './display-currency.ts';
import { latencyOf } from './durations.ts';
import { knownCost } from './known-cost.ts';
import { groupPoints } from './spend-points.ts';
import type { SpendFilter, SpendQuestion } from './spend-question.ts';

/** The values of the dimensions that a group is named by. */
export type Group = Partial<SpendDimensions>;

/** A sum of money as an exact integer, and as a decimal string to show. */
export interface Money {
  readonly costNanoUsd: number | null;
  readonly costUsd: string | null;
}

/** Points times groups of a series: a Lambda response may have 6 MB, and names may be long. The cheapest groups above it are dropped. */
const MAX_SERIES_GROUPS = 5_000;

/** Nano-USD as a decimal string without trailing zeros: 1500000 is `0.0015`. */
export const usdOf = (nanoUsd: number): string => decimalOf(nanoUsd);

/** A count for people: `1,200`. */
export const countText = (count: number): string => count.toLocaleString('en-US');

/** `1 more request`, `1,200 more requests`. */
export const plural = (count: number, one: string): string => `${countText(count)} ${one}${count === 1 ? '' : 's'}`;

export const requestsText = (count: number): string => plural(count, 'request');

/** A percentage for people: 20968 is `20,968%`, as the dashboard writes it. */
export const percentText = (percent: number): string => `${countText(percent)}%`;

/** A share for people, in whole percent. A small one is `<1%`: only zero is `0%`. */
export const shareText = (share: number): string =>
  share > 0 && share < 0.005 ? '<1%' : percentText(Math.round(share * 100));

/** A cost that was compared with a limit, for people: see costToCompare. */
export const comparedUsd = (nanoUsd: number): string =>
  `${nanoUsd === Number.MAX_SAFE_INTEGER ? 'more than ' : ''}$${usdOf(nanoUsd)}`;

export const moneyOf = (costNanoUsd: number | null): Money => ({
  costNanoUsd,
  costUsd: costNanoUsd === null ? null : usdOf(costNanoUsd),
});

/** The same amount at list prices: what it costs without own prices of the account. */
export const listMoneyOf = (listCostNanoUsd: number | null) => ({
  listCostNanoUsd,
  listCostUsd: moneyOf(listCostNanoUsd).costUsd,
});

/**
 * The cost of a sum, as knownCost.
 *
 * @param mayLack some requests have a value that is not known, and may belong to the sum
 */
export const costOf = (counters: Counters, mayLack = false): number | null =>
  knownCost(knownCostNanoUsd(counters), mayLack ? 1 : (counters.unpricedRequests ?? 0));

/** The numbers that every sum shows. The cost leaves out as many requests as `unpricedRequests`. */
const baseSums = (counters: Counters, mayLack = false, currency: DisplayCurrency | null = null) => {
  const cost = costOf(counters, mayLack);
  return {
    requests: counters.requests ?? 0,
    ...moneyOf(cost),
    ...(currency && { displayCost: displayCostOf(counters, cost, currency) }),
    unpricedRequests: counters.unpricedRequests ?? 0,
  };
};

export const tokensOf = ({ inputTokens = 0, outputTokens = 0 }: Counters): number =>
  boundedSum(inputTokens, outputTokens);

/** The numbers that a point of a series shows. */
const pointSums = (counters: Counters, mayLack = false, currency: DisplayCurrency | null = null) => ({
  ...baseSums(counters, mayLack, currency),
  errors: counters.errors ?? 0,
  tokens: tokensOf(counters),
});

/** All that is known of a sum. `mayLack` as in costOf. @throws CounterOverflowError where a number of it is no longer exact */
export const sumsOf = (counters: Counters, mayLack = false, currency: DisplayCurrency | null = null) => {
  requireExact(counters);
  const list = atListCost(counters);
  return {
    ...baseSums(counters, mayLack, currency),
    ...listMoneyOf(costOf(list, mayLack)),
    listUnpricedRequests: list.unpricedRequests ?? 0,
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
    confirmedLateRequests: counters.confirmedLateRequests ?? 0,
    overflowRequests: counters.overflowRequests ?? 0,
    tokens: Object.fromEntries(tokenCounterNames.map((name) => [name, counters[name] ?? 0])) as Record<
      (typeof tokenCounterNames)[number],
      number
    >,
    units: unitsOf(counters),
  };
};

/** How long the requests of a sum took, where a report is asked for it. */
const latencyIn = (counters: Counters, latency: boolean) => latency && { latency: latencyOf(counters) };

interface Shown {
  readonly mayLack?: boolean;
  readonly currency: DisplayCurrency | null;
  readonly latency: boolean;
}

const shownSums = (counters: Counters, { mayLack, currency, latency }: Shown) => ({
  ...sumsOf(counters, mayLack, currency),
  ...latencyIn(counters, latency),
});

const entriesOf = (filter: SpendFilter) => Object.entries(filter) as [SpendDimensionName, readonly (string | null)[]][];

/** Google's `models/x` is counted as `x`, and was as it was sent: that name has both. The provider is empty where it was not read. */
export const hasModel = ({ provider, model }: SpendDimensions, wanted: readonly (string | null)[]): boolean =>
  wanted.some((each) => each !== null && withoutPath(provider || 'google', each) === model);

/**
 * How requests counted under these dimensions match a filter. They `may` where its values may be in `(other)`, or not known: `unknown` where
 * a filtered value is not.
 */
export const matchOf = (dimensions: SpendDimensions, filter: SpendFilter): 'passes' | 'may' | 'unknown' | 'fails' => {
  let [passes, isKnown] = [true, true];
  for (const [name, wanted] of entriesOf(filter)) {
    const value = dimensions[name] ?? null;
    if (value === UNKNOWN) isKnown = false;
    if (wanted.includes(value) || (name === 'model' && hasModel(dimensions, wanted))) continue;
    if (value !== OTHER && value !== UNKNOWN) return 'fails';
    passes = false;
  }
  return passes ? 'passes' : isKnown ? 'may' : 'unknown';
};

/** Requests of `(other)` or unknown values that may pass a filter: its sums may lack these. Null where there are none. */
export const mayAlsoMatchOf = (counters: Counters | undefined, currency: DisplayCurrency | null = null) =>
  counters === undefined || isZero(counters) ? null : baseSums(counters, false, currency);

/** A group's key: a JSON list of its values. */
export const groupKey = (dimensions: SpendDimensions, groupBy: readonly SpendDimensionName[]): string =>
  JSON.stringify(groupBy.map((name) => dimensions[name] ?? null));

/** The names of a group from its key. */
export const namesOf = (key: string, groupBy: readonly SpendDimensionName[]): Group => {
  const values = JSON.parse(key) as (string | null)[];
  return Object.fromEntries(groupBy.map((name, index) => [name, values[index]]));
};

/** True where requests of named groups may be in this one. */
export const hidesNames = (dimensions: SpendDimensions, groupBy: readonly SpendDimensionName[]): boolean =>
  groupBy.some((name) => dimensions[name] === OTHER || dimensions[name] === UNKNOWN);

/** By cost, then requests, then name: the order of groups never depends on the order of the spend counters. */
export const byCost = ([leftKey, left]: [string, Counters], [rightKey, right]: [string, Counters]): number =>
  byKnownCost(left, right) || (right.requests ?? 0) - (left.requests ?? 0) || (leftKey < rightKey ? -1 : 1);

/** The total of the spend counters that pass the filter. */
export const totalOf = async (
  spendCounters: AsyncIterable<SpendCounter>,
  { filter, currency = null, latency = false }: Pick<ReportQuery, 'filter' | 'currency' | 'latency'>,
) => {
  const sums = sumMap();
  let mayLack = false;
  for await (const { dimensions, counters } of spendCounters) {
    const match = matchOf(dimensions, filter);
    if (match === 'fails') continue;
    sums.add(match === 'passes' ? match : 'may', counters);
    mayLack ||= match === 'unknown';
  }
  return {
    totals: shownSums(sums.sums.get('passes') ?? {}, { mayLack, currency, latency }),
    mayAlsoMatch: mayAlsoMatchOf(sums.sums.get('may'), currency),
  };
};

export interface ReportQuery extends Omit<SpendQuestion, 'accountId' | 'filter'> {
  readonly filter: SpendFilter;
  /** How many groups are named at most; `otherGroups` is the sum of the others. */
  readonly limit: number;
  /** How many of these each point of the series names; undefined: as many as a response can hold. */
  readonly seriesLimit?: number | undefined;
}

/** Groups are held in memory until the costliest are known. A year of a thousand new tags a day would not fit a function. */
const MAX_GROUPS = 100_000;

const tooManyGroups = () =>
  invalid(
    'groupBy',
    `names more than ${MAX_GROUPS} groups: narrow the range, filter, or group by less; the export names them all`,
  );

/**
 * Totals, groups and a series without gaps of the spend counters of a range. The groups (with `otherGroups`) add up to the totals, and so
 * does the series. `isComplete` is false where some of these sums are lower bounds: requests of a filtered value may be in
 * `mayAlsoMatch`, requests of a named group in a group named `(other)` or `(unknown)`.
 *
 * @param spendCounters ascending by time
 * @throws ValidationError where there are too many groups
 */
export const spendReport = async (
  spendCounters: AsyncIterable<SpendCounter>,
  { range, groupBy, filter, limit, seriesLimit = limit, currency = null, latency = false }: ReportQuery,
) => {
  const byBucket = sumMap();
  const byGroup = sumMap();
  const mayAlsoMatch = sumMap();
  const mayLack = new Set<string>();
  const points = groupPoints(currency);
  const bucketOf = bucketFinder(range);
  let hasOther = false;
  let bucket = '';
  let groupsOfBucket = sumMap();
  const closeBucket = () => {
    for (const [group, counters] of groupsOfBucket.sums) {
      byBucket.add(bucket, counters);
      byGroup.add(group, counters);
    }
    points.add(bucket, groupsOfBucket.sums);
    if (byGroup.sums.size > MAX_GROUPS) throw tooManyGroups();
    groupsOfBucket = sumMap();
  };
  for await (const { time, dimensions, counters } of spendCounters) {
    const match = matchOf(dimensions, filter);
    if (match === 'fails') continue;
    const next = bucketOf(time);
    if (match !== 'passes') {
      mayAlsoMatch.add(next, counters);
      if (match === 'unknown') mayLack.add(next);
      continue;
    }
    hasOther ||= hidesNames(dimensions, groupBy);
    if (next !== bucket) closeBucket();
    bucket = next;
    groupsOfBucket.add(groupKey(dimensions, groupBy), counters);
  }
  closeBucket();
  const total = [...byBucket.sums.values()].reduce(addCounters, {});
  const buckets = bucketsOf(range);
  const ranked = groupBy.length === 0 ? [] : [...byGroup.sums].sort(byCost);
  const named = ranked.slice(0, limit);
  const rest = ranked.slice(limit);
  const ofRest = rest.map(([, counters]) => counters).reduce(addCounters, {});
  const most = Math.min(seriesLimit, Math.floor(MAX_SERIES_GROUPS / buckets.length));
  const inSeries = points.of(named.slice(0, most).map(([group]) => group));

  const shown = { currency, latency };
  return {
    totals: shownSums(total, { ...shown, mayLack: mayLack.size > 0 }),
    isComplete: mayAlsoMatch.sums.size === 0 && !hasOther,
    mayAlsoMatch: mayAlsoMatchOf([...mayAlsoMatch.sums.values()].reduce(addCounters, {}), currency),
    groups: named.map(([group, counters]) => ({ ...namesOf(group, groupBy), ...shownSums(counters, shown) })),
    otherGroups: rest.length === 0 ? null : { groups: rest.length, ...shownSums(ofRest, shown) },
    series: buckets.map((each) => {
      const counters = byBucket.sums.get(each) ?? {};
      return {
        time: each,
        ...pointSums(counters, mayLack.has(each), currency),
        ...latencyIn(counters, latency),
        mayAlsoMatch: mayAlsoMatchOf(mayAlsoMatch.sums.get(each), currency),
        groups: (inSeries.get(each) ?? []).map(({ group, displayCost, ...point }) => ({
          ...namesOf(group, groupBy),
          ...pointSums(point.counters),
          ...(currency && { displayCost: costOf(point.counters) === null ? null : displayCost }),
        })),
      };
    }),
  };
};
