import { addCounters, type Counters, knownCostNanoUsd } from './counters.ts';
import {
  foldDimensions,
  MAX_FOLD_LEVEL,
  OTHER,
  type SpendDimensionName,
  type SpendDimensions,
  spendDimensionNames,
} from './dimensions.ts';

/** The counters of one cross of dimensions. */
export interface SummaryCell {
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
  readonly cells: readonly SummaryCell[];
}

/** A day has fewer: see dimensions.ts. A month of endless tags has more, and what is left of them is the costliest. */
const MAX_CELLS = 2_000;
const MAX_UNFOLDED_CELLS = 1_500;
const MAX_VALUES = 1_000;

const sumBy = <T extends { readonly counters: Counters }>(values: Iterable<T>, key: (value: T) => string): T[] => {
  const sums = new Map<string, T>();
  for (const value of values) {
    const sum = sums.get(key(value));
    sums.set(key(value), sum ? { ...sum, counters: addCounters(sum.counters, value.counters) } : value);
  }
  return [...sums.values()];
};

const cellKey = ({ dimensions }: SummaryCell): string =>
  JSON.stringify(spendDimensionNames.map((name) => dimensions[name]));

/** The same requests, all of them folded. */
const foldedCounters = (counters: Counters): Counters =>
  counters.requests === undefined ? counters : { ...counters, foldedRequests: counters.requests };

/** Costliest first, then busiest, then by name: the order does not depend on that of the cells. */
const byCost =
  <T extends { readonly counters: Counters }>(key: (value: T) => string) =>
  (a: T, b: T): number =>
    knownCostNanoUsd(b.counters) - knownCostNanoUsd(a.counters) ||
    (b.counters.requests ?? 0) - (a.counters.requests ?? 0) ||
    (key(a) < key(b) ? -1 : 1);

const boundedCells = (cells: readonly SummaryCell[]): readonly SummaryCell[] => {
  if (cells.length <= MAX_CELLS) return cells;
  const ranked = [...cells].sort(byCost(cellKey));
  const kept = ranked.slice(0, MAX_UNFOLDED_CELLS);
  for (let level = 1; ; level++) {
    const folded = ranked.slice(MAX_UNFOLDED_CELLS).map(({ dimensions, counters }) => ({
      dimensions: foldDimensions(dimensions, level),
      counters: foldedCounters(counters),
    }));
    const bounded = sumBy([...kept, ...folded], cellKey);
    if (bounded.length <= MAX_CELLS || level === MAX_FOLD_LEVEL) return bounded;
  }
};

const totalKey = ({ value }: SummaryTotal): string => JSON.stringify(value);

const totalsOf = (cells: readonly SummaryCell[], name: SpendDimensionName): SummaryTotal[] => {
  const totals = sumBy(
    cells.map(({ dimensions, counters }): SummaryTotal => ({ name, value: dimensions[name], counters })),
    totalKey,
  ).sort(byCost(totalKey));
  const rest = totals
    .slice(MAX_VALUES)
    .map(({ counters }) => ({ name, value: OTHER, counters: foldedCounters(counters) }));
  return sumBy([...totals.slice(0, MAX_VALUES), ...rest], totalKey);
};

/**
 * Sums up the cells of a closed day, or of the days of a month. Whatever their order and however often a cross appears, the
 * sums are those of the cells; only `foldedRequests` grows, where there are too many values to keep apart.
 */
export const summarize = (cells: Iterable<SummaryCell>): Summary => {
  const merged = sumBy(cells, cellKey).sort(byCost(cellKey));
  const all = merged.map(({ counters }) => counters).reduce(addCounters, {});
  return {
    totals: [
      { name: null, value: null, counters: all },
      ...spendDimensionNames.flatMap((name) => totalsOf(merged, name)),
    ],
    cells: boundedCells(merged),
  };
};
