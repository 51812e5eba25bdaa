import { addCounters, type Counters, knownCostNanoUsd } from './counters.ts';
import {
  MAX_FOLD_LEVEL,
  OTHER,
  overflowDimensions,
  type SpendDimensionName,
  type SpendDimensions,
  spendDimensionNames,
} from './dimensions.ts';

/** The counters of one cross of dimensions. */
export interface SummaryCounter {
  readonly dimensions: SpendDimensions;
  readonly counters: Counters;
}

/** The counters of one value of one dimension; of everything where `name` is null. */
export interface SummaryTotal {
  readonly name: SpendDimensionName | null;
  readonly value: string | null;
  readonly counters: Counters;
}

/** A closed day or month in two views: what most questions need, and what answers all of them. */
export interface Summary {
  readonly totals: readonly SummaryTotal[];
  readonly cells: readonly SummaryCounter[];
}

/** A day has fewer: see dimensions.ts. A month of endless tags has more, and what is left of them is the costliest. */
const MAX_COUNTERS = 2_000;
const MAX_NAMED_COUNTERS = 1_500;
const MAX_VALUES = 1_000;

const sumBy = <T extends { readonly counters: Counters }>(values: Iterable<T>, key: (value: T) => string): T[] => {
  const sums = new Map<string, T>();
  for (const value of values) {
    const sum = sums.get(key(value));
    sums.set(key(value), sum ? { ...sum, counters: addCounters(sum.counters, value.counters) } : value);
  }
  return [...sums.values()];
};

const counterKey = ({ dimensions }: SummaryCounter): string =>
  JSON.stringify(spendDimensionNames.map((name) => dimensions[name]));

/** The same requests, all of them folded. */
const overflowCounters = (counters: Counters): Counters =>
  counters.requests === undefined ? counters : { ...counters, overflowRequests: counters.requests };

/** Costliest first, then busiest, then by name: the order does not depend on that of the cells. */
const byCost =
  <T extends { readonly counters: Counters }>(key: (value: T) => string) =>
  (a: T, b: T): number =>
    knownCostNanoUsd(b.counters) - knownCostNanoUsd(a.counters) ||
    (b.counters.requests ?? 0) - (a.counters.requests ?? 0) ||
    (key(a) < key(b) ? -1 : 1);

const boundedCells = (cells: readonly SummaryCounter[]): readonly SummaryCounter[] => {
  if (cells.length <= MAX_COUNTERS) return cells;
  const ranked = [...cells].sort(byCost(counterKey));
  const kept = ranked.slice(0, MAX_NAMED_COUNTERS);
  for (let level = 1; ; level++) {
    const folded = ranked.slice(MAX_NAMED_COUNTERS).map(({ dimensions, counters }) => ({
      dimensions: overflowDimensions(dimensions, level),
      counters: overflowCounters(counters),
    }));
    const bounded = sumBy([...kept, ...folded], counterKey);
    if (bounded.length <= MAX_COUNTERS || level === MAX_FOLD_LEVEL) return bounded;
  }
};

const totalKey = ({ value }: SummaryTotal): string => JSON.stringify(value);

const totalsOf = (cells: readonly SummaryCounter[], name: SpendDimensionName): SummaryTotal[] => {
  const totals = sumBy(
    cells.map(({ dimensions, counters }): SummaryTotal => ({ name, value: dimensions[name], counters })),
    totalKey,
  ).sort(byCost(totalKey));
  const rest = totals
    .slice(MAX_VALUES)
    .map(({ counters }) => ({ name, value: OTHER, counters: overflowCounters(counters) }));
  return sumBy([...totals.slice(0, MAX_VALUES), ...rest], totalKey);
};

/**
 * Sums up the cells of a closed day, or of the days of a month. Whatever their order and however often a cross appears, the
 * sums are those of the cells; only `overflowRequests` grows, where there are too many values to keep apart.
 */
export const summarize = (cells: Iterable<SummaryCounter>): Summary => {
  const merged = sumBy(cells, counterKey).sort(byCost(counterKey));
  const all = merged.map(({ counters }) => counters).reduce(addCounters, {});
  return {
    totals: [
      { name: null, value: null, counters: all },
      ...spendDimensionNames.flatMap((name) => totalsOf(merged, name)),
    ],
    cells: boundedCells(merged),
  };
};
