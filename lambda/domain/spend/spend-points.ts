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

/** Points in a block of memory: a few hundred kilobytes. */
const BLOCK_POINTS = 8_192;

/** A point has its counters, and its cost in the display currency. */
const COLUMNS = shown.length + 1;

const newBlock = () => ({
  /** Numbers of the bucket and the group of each point. */
  places: new Int32Array(2 * BLOCK_POINTS),
  sums: new Float64Array(COLUMNS * BLOCK_POINTS),
});

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
  const buckets: string[] = [];
  const groups = new Map<string, number>();
  const blocks: ReturnType<typeof newBlock>[] = [];
  let count = 0;
  return {
    /** Add each bucket and group once. */
    add: (bucket: string, group: string, counters: Counters): void => {
      if (buckets.at(-1) !== bucket) buckets.push(bucket);
      const number = groups.get(group) ?? groups.size;
      groups.set(group, number);
      const at = count++ % BLOCK_POINTS;
      const block = (at === 0 ? undefined : blocks.at(-1)) ?? newBlock();
      if (at === 0) blocks.push(block);
      block.places.set([buckets.length - 1, number], 2 * at);
      for (const [index, name] of shown.entries()) block.sums[COLUMNS * at + index] = counters[name] ?? 0;
      block.sums[COLUMNS * at + shown.length] = currency ? displayNanoOf(counters, currency) : Number.NaN;
    },

    /** The points of some groups by bucket, in the order of the groups. */
    of: (wanted: readonly string[]): ReadonlyMap<string, readonly GroupPoint[]> => {
      const rankOf = new Map(wanted.map((group, rank) => [groups.get(group), { group, rank }]));
      const found: { readonly bucket: string; readonly rank: number; readonly point: GroupPoint }[] = [];
      for (let index = 0; index < count; index++) {
        const block = blocks[Math.floor(index / BLOCK_POINTS)];
        const at = index % BLOCK_POINTS;
        const ranked = rankOf.get(block?.places[2 * at + 1]);
        if (!block || !ranked) continue;
        const sums = block.sums.subarray(COLUMNS * at, COLUMNS * (at + 1));
        found.push({
          bucket: buckets[block.places[2 * at] ?? 0] ?? '',
          rank: ranked.rank,
          point: {
            group: ranked.group,
            counters: Object.fromEntries(shown.map((name, i) => [name, sums[i]])),
            displayCost: decimalOfNano(sums[shown.length] ?? Number.NaN),
          },
        });
      }
      found.sort((left, right) => left.rank - right.rank);
      return new Map(
        [...Map.groupBy(found, ({ bucket }) => bucket)].map(([bucket, some]) => [
          bucket,
          some.map(({ point }) => point),
        ]),
      );
    },
  };
};
