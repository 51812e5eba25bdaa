import { addCounters, byKnownCost, type Counters } from './counters.ts';
import {
  type AllocationName,
  allocationCrossNames,
  type CrossDimensionName,
  crossDimensionNames,
  maxOverflowLevel,
  OTHER,
  overflowDimensions,
  type SpendDimensions,
} from './dimensions.ts';

/** The counters of one cross of dimensions. */
export interface SummaryCross {
  readonly dimensions: SpendDimensions;
  readonly counters: Counters;
}

/** The counters of one value of one dimension; of everything where `name` is null. */
export interface SummaryTotal {
  readonly name: CrossDimensionName | null;
  readonly value: string | null;
  readonly counters: Counters;
}

/** A closed day or month in two views: the totals that most questions need, and the crosses, which serve all of them. */
export interface Summary {
  readonly totals: readonly SummaryTotal[];
  readonly crosses: readonly SummaryCross[];
}

/** Limits of a month, which may have ever new tags. Above them the costliest stay separate. Counter slots limit a day. */
const MAX_CROSSES = 2_000;
const MAX_NAMED_CROSSES = 1_500;
const MAX_VALUES = 1_000;

const sumBy = <T extends { readonly counters: Counters }>(values: Iterable<T>, key: (value: T) => string): T[] =>
  [...Map.groupBy(values, key).values()].map((same) => ({
    ...(same[0] as T),
    counters: same.map(({ counters }) => counters).reduce(addCounters),
  }));

const crossKey = ({ dimensions }: SummaryCross): string =>
  JSON.stringify(crossDimensionNames.map((name) => dimensions[name]));

const allocationKey =
  (allocation: AllocationName) =>
  ({ dimensions }: SummaryCross): string =>
    JSON.stringify([allocation, ...allocationCrossNames].map((name) => dimensions[name]));

/** The same counters, with every request counted as overflow. */
const overflowCounters = (counters: Counters): Counters =>
  counters.requests === undefined ? counters : { ...counters, overflowRequests: counters.requests };

/** Costliest first, then busiest, then by name: the order does not depend on the order of the crosses. */
const byCost =
  <T extends { readonly counters: Counters }>(key: (value: T) => string) =>
  (a: T, b: T): number =>
    byKnownCost(a.counters, b.counters) ||
    (b.counters.requests ?? 0) - (a.counters.requests ?? 0) ||
    (key(a) < key(b) ? -1 : 1);

const boundedCrosses = (
  crosses: readonly SummaryCross[],
  key: (cross: SummaryCross) => string,
  allocation?: AllocationName,
): readonly SummaryCross[] => {
  if (crosses.length <= MAX_CROSSES) return crosses;
  const ranked = crosses.toSorted(byCost(key));
  const kept = ranked.slice(0, MAX_NAMED_CROSSES);
  for (let level = 1; ; level++) {
    const overflowed = ranked.slice(MAX_NAMED_CROSSES).map(({ dimensions, counters }) => ({
      dimensions: overflowDimensions(dimensions, level, [], allocation),
      counters: overflowCounters(counters),
    }));
    const bounded = sumBy([...kept, ...overflowed], key);
    if (bounded.length <= MAX_CROSSES || level === maxOverflowLevel(allocation)) return bounded;
  }
};

const totalKey = ({ value }: SummaryTotal): string => JSON.stringify(value);

const totalsOf = (crosses: readonly SummaryCross[], name: CrossDimensionName): SummaryTotal[] =>
  sumBy(
    crosses.map(({ dimensions, counters }): SummaryTotal => ({ name, value: dimensions[name], counters })),
    totalKey,
  ).sort(byCost(totalKey));

/**
 * Adds up the crosses of a closed period, in any order; a cross may appear more than once. Every name stays separate.
 */
export const summarize = (crosses: Iterable<SummaryCross>): Summary => {
  const merged = sumBy(crosses, crossKey).sort(byCost(crossKey));
  const all = merged.map(({ counters }) => counters).reduce(addCounters, {});
  return {
    totals: [
      { name: null, value: null, counters: all },
      ...crossDimensionNames.flatMap((name) => totalsOf(merged, name)),
    ],
    crosses: merged,
  };
};

const boundedTotals = (totals: readonly SummaryTotal[]): SummaryTotal[] => {
  const rest = totals
    .slice(MAX_VALUES)
    .map(({ name, counters }) => ({ name, value: OTHER, counters: overflowCounters(counters) }));
  return sumBy([...totals.slice(0, MAX_VALUES), ...rest], totalKey);
};

/** The same summary within the limits of a month. The sums stay the same; only `overflowRequests` grows. */
export const bounded = ({ totals, crosses }: Summary): Summary => ({
  totals: [...Map.groupBy(totals, ({ name }) => name).values()].flatMap(boundedTotals),
  crosses: boundedCrosses(crosses, crossKey),
});

/** Adds up the crosses of one allocation dimension, in any order, costliest first. */
export const summarizeAllocation = (
  crosses: Iterable<SummaryCross>,
  allocation: AllocationName,
): readonly SummaryCross[] => {
  const key = allocationKey(allocation);
  return sumBy(crosses, key).sort(byCost(key));
};

/** The same crosses within the limits of a month. */
export const boundedAllocation = (
  crosses: readonly SummaryCross[],
  allocation: AllocationName,
): readonly SummaryCross[] => boundedCrosses(crosses, allocationKey(allocation), allocation);
