import type { Counters } from './counters.ts';
import { type DisplayCurrency, decimalOfNano, displayNanoOf } from './display-currency.ts';

/** The counters that a point of a series shows: requests, their tokens, and the parts of their cost. */
const shown = [
  'requests',
  'unpricedRequests',
  'costProviderNanoUsd',
  'costComputedNanoUsd',
  'costEstimatedNanoUsd',
  'errors',
  'inputTokens',
  'outputTokens',
] as const;

/** A point has its counters, and its cost in the display currency. */
const COLUMNS = shown.length + 1;

interface GroupPoint {
  readonly group: string;
  readonly counters: Counters;
  /** Null where a rate is not known, and without a display currency. */
  readonly displayCost: string | null;
}

/**
 * Sums of every bucket and group, held until it is known which groups a series names. They are plain numbers: a month by hour of an
 * account at its limits has more than a million sums, which as objects would take half a gigabyte.
 */
export const groupPoints = (currency: DisplayCurrency | null) => {
  const numbers = new Map<string, number>();
  const numberOf = (group: string): number => {
    const number = numbers.get(group) ?? numbers.size;
    numbers.set(group, number);
    return number;
  };
  const buckets = new Map<string, { readonly groups: Int32Array; readonly sums: Float64Array }>();
  return {
    /** Add each bucket once, with all its groups. */
    add: (bucket: string, sumsOf: ReadonlyMap<string, Counters>): void => {
      const groups = Int32Array.from(sumsOf.keys(), numberOf);
      const sums = new Float64Array(COLUMNS * groups.length);
      for (const [index, counters] of [...sumsOf.values()].entries()) {
        const displayCost = currency ? displayNanoOf(counters, currency) : Number.NaN;
        sums.set([...shown.map((name) => counters[name] ?? 0), displayCost], COLUMNS * index);
      }
      buckets.set(bucket, { groups, sums });
    },

    /** The points of some groups by bucket, in the order of the groups. */
    of: (wanted: readonly string[]): ReadonlyMap<string, readonly GroupPoint[]> =>
      new Map(
        [...buckets].map(([bucket, { groups, sums }]) => [
          bucket,
          wanted.flatMap((group): GroupPoint[] => {
            const index = groups.indexOf(numbers.get(group) ?? -1);
            if (index === -1) return [];
            const values = sums.subarray(COLUMNS * index, COLUMNS * (index + 1));
            return [
              {
                group,
                counters: Object.fromEntries(shown.map((name, i) => [name, values[i]])),
                displayCost: decimalOfNano(values[shown.length] ?? Number.NaN),
              },
            ];
          }),
        ]),
      ),
  };
};
