/** What spend can be split by. */
export const spendDimensionNames = ['provider', 'model', 'tag', 'keyId', 'providerKey'] as const;
export type SpendDimensionName = (typeof spendDimensionNames)[number];

/** What a spend cell is the cross of. Null stands for "not sent" and "not known". */
export interface SpendDimensions {
  readonly provider: string;
  readonly model: string | null;
  readonly tag: string | null;
  readonly keyId: string | null;
  readonly providerKey: string | null;
}

/** Of a sum that tells none apart. */
export const noDimensions: SpendDimensions = { provider: '', model: null, tag: null, keyId: null, providerKey: null };

/** Stands for every value that was folded away. */
export const OTHER = '(other)';

/**
 * How many distinct cells an account may make in one day before the next level of folding begins. What clients invent
 * most freely goes first (a tag per end user, short-lived provider credentials), so that spend by model stays exact the
 * longest. The last level leaves one cell for each provider and is never refused.
 */
const overflowLevels: readonly { readonly fold: readonly SpendDimensionName[]; readonly maxCounters: number }[] = [
  { fold: [], maxCounters: 1_000 },
  { fold: ['tag'], maxCounters: 1_250 },
  { fold: ['tag', 'providerKey'], maxCounters: 1_500 },
  { fold: ['tag', 'providerKey', 'model'], maxCounters: 1_750 },
  { fold: ['tag', 'providerKey', 'model', 'keyId'], maxCounters: Number.POSITIVE_INFINITY },
];

export const MAX_FOLD_LEVEL = overflowLevels.length - 1;

/** Dimensions after folding. Level 0 leaves them as they are. */
export const overflowDimensions = (dimensions: SpendDimensions, level: number): SpendDimensions => {
  const folded: { -readonly [K in keyof SpendDimensions]: SpendDimensions[K] } = { ...dimensions };
  for (const name of overflowLevels[level]?.fold ?? []) folded[name] = OTHER;
  return folded;
};

/**
 * The level at which an account that already has `cells` distinct cells today may still add the given one.
 *
 * @param has whether the account has the cell of these (folded) dimensions already
 */
export const levelFor = (
  dimensions: SpendDimensions,
  cells: number,
  has: (dimensions: SpendDimensions) => boolean,
): number =>
  overflowLevels.findIndex(
    ({ maxCounters }, level) => cells < maxCounters || has(overflowDimensions(dimensions, level)),
  );
