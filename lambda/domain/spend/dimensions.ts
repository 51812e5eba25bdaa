/** The dimensions that spend can be split by. */
export const spendDimensionNames = ['provider', 'model', 'tag', 'keyId', 'providerKey'] as const;
export type SpendDimensionName = (typeof spendDimensionNames)[number];

/** One cross of dimensions. Null stands for "not sent" and "not known". */
export interface SpendDimensions {
  readonly provider: string;
  readonly model: string | null;
  readonly tag: string | null;
  readonly keyId: string | null;
  readonly providerKey: string | null;
}

/** The dimensions of a sum over everything. */
export const noDimensions: SpendDimensions = { provider: '', model: null, tag: null, keyId: null, providerKey: null };

/** Replaces every value that overflows. */
export const OTHER = '(other)';

/**
 * How many counter slots an account may have in one day before the next level of overflow begins. The dimensions that clients vary most
 * overflow first (a tag per end user, short-lived provider credentials), so that spend by model stays exact the longest. The last
 * level has one spend counter for each provider and is always possible.
 */
const overflowLevels: readonly { readonly overflow: readonly SpendDimensionName[]; readonly maxSlots: number }[] = [
  { overflow: [], maxSlots: 1_000 },
  { overflow: ['tag'], maxSlots: 1_250 },
  { overflow: ['tag', 'providerKey'], maxSlots: 1_500 },
  { overflow: ['tag', 'providerKey', 'model'], maxSlots: 1_750 },
  { overflow: ['tag', 'providerKey', 'model', 'keyId'], maxSlots: Number.POSITIVE_INFINITY },
];

export const MAX_OVERFLOW_LEVEL = overflowLevels.length - 1;

/** The dimensions at an overflow level. Level 0 keeps them as they are. */
export const overflowDimensions = (dimensions: SpendDimensions, level: number): SpendDimensions => {
  const result: { -readonly [K in keyof SpendDimensions]: SpendDimensions[K] } = { ...dimensions };
  for (const name of overflowLevels[level]?.overflow ?? []) result[name] = OTHER;
  return result;
};

/**
 * The lowest overflow level at which an account may count these dimensions.
 *
 * @param slots how many counter slots the account has on that day
 * @param hasSlot whether dimensions (after overflow) have a slot already
 */
export const levelFor = (
  dimensions: SpendDimensions,
  slots: number,
  hasSlot: (dimensions: SpendDimensions) => boolean,
): number =>
  overflowLevels.findIndex(({ maxSlots }, level) => slots < maxSlots || hasSlot(overflowDimensions(dimensions, level)));
