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

/** Replaces every value that overflows. A client's own value never reads like this: see withoutOther. */
export const OTHER = '(other)';

const LOOKS_LIKE_OTHER = /^\\*\(other\)$/;

/** A client's tag or model. One that is literally `(other)` gets a backslash in front, so that it is no overflow. */
export const withoutOther = <T extends string | null>(value: T): T | string =>
  value !== null && LOOKS_LIKE_OTHER.test(value) ? `\\${value}` : value;

/**
 * Below so many slots a request without a cost takes one as well. Above, it shares one or overflows to the last level: refused requests
 * are free and anybody can send them, with ever new credentials, so they must not use up the slots of spend.
 */
export const MAX_SLOTS_WITHOUT_COST = 250;
/** So many slots at most are kept for the combinations of recent days. */
const MAX_RESERVED_SLOTS = 500;
/** The slots of all levels but the last. */
const MAX_SLOTS = 1_750;

/**
 * How many counter slots an account may have in one day before the next level of overflow begins. The dimensions that clients vary most
 * overflow first (a tag per end user, short-lived provider credentials), so that spend by model stays exact the longest. The last
 * level has one spend counter for each provider and is always possible.
 */
const overflowLevels: readonly { readonly overflow: readonly SpendDimensionName[]; readonly maxSlots: number }[] = [
  { overflow: [], maxSlots: 1_000 },
  { overflow: ['tag'], maxSlots: 1_250 },
  { overflow: ['tag', 'providerKey'], maxSlots: 1_500 },
  { overflow: ['tag', 'providerKey', 'model'], maxSlots: MAX_SLOTS },
  { overflow: ['tag', 'providerKey', 'model', 'keyId'], maxSlots: Number.POSITIVE_INFINITY },
];

export const MAX_OVERFLOW_LEVEL = overflowLevels.length - 1;

/** How far a combination of dimensions overflows: its level, and dimensions that keep their value nevertheless. */
export interface Overflow {
  readonly level: number;
  readonly kept: readonly SpendDimensionName[];
}

export const NO_OVERFLOW: Overflow = { level: 0, kept: [] };

/** The dimensions after overflow. Level 0 keeps them as they are. */
export const overflowDimensions = (
  dimensions: SpendDimensions,
  level: number,
  kept: readonly SpendDimensionName[] = [],
): SpendDimensions => {
  const result: { -readonly [K in keyof SpendDimensions]: SpendDimensions[K] } = { ...dimensions };
  for (const name of overflowLevels[level]?.overflow ?? []) if (!kept.includes(name)) result[name] = OTHER;
  return result;
};

/** A combination of dimensions that wants a counter slot. */
export interface SlotClaim {
  readonly dimensions: SpendDimensions;
  /** Its request has a cost, or may have one: see mayCost. */
  readonly mayCost: boolean;
  /** It had a slot on a recent day. */
  readonly isRecent: boolean;
  /** Dimensions that an alert rule names: they keep their value at every level. */
  readonly kept: readonly SpendDimensionName[];
}

/** The slots of an account and day. */
export interface SlotState {
  readonly size: number;
  /** Combinations of recent days that have no slot on this day yet. */
  readonly awaited: number;
  /** Whether dimensions (after overflow) have a slot already. */
  readonly has: (dimensions: SpendDimensions) => boolean;
}

/** The lowest overflow level at which an account may count the dimensions of a claim. */
export const overflowOf = ({ dimensions, mayCost, isRecent, kept }: SlotClaim, slots: SlotState): Overflow => {
  const mayTake = (level: number, maxSlots: number): boolean => {
    if (level === MAX_OVERFLOW_LEVEL) return true;
    if (!mayCost) return level === 0 && slots.size < MAX_SLOTS_WITHOUT_COST;
    return slots.size < (isRecent ? MAX_SLOTS : maxSlots - Math.min(slots.awaited, MAX_RESERVED_SLOTS));
  };
  const level = overflowLevels.findIndex(
    ({ maxSlots }, at) => mayTake(at, maxSlots) || slots.has(overflowDimensions(dimensions, at, kept)),
  );
  const { overflow = [] } = overflowLevels[level] ?? {};
  const keptHere = overflow.filter((name) => kept.includes(name));
  return keptHere.length === overflow.length ? NO_OVERFLOW : { level, kept: keptHere };
};
