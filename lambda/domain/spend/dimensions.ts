/** The dimensions whose crosses are counted. */
export const crossDimensionNames = ['provider', 'model', 'tag', 'keyId', 'providerKey'] as const;
export type CrossDimensionName = (typeof crossDimensionNames)[number];

/** A metadata name that an account declared as a dimension. The prefix keeps it apart from all other names. */
export type DeclaredName = `dim:${string}`;

/** A dimension that is counted on its own, next to the crosses: see docs/ledger.md. */
export type AllocationName = 'client' | DeclaredName;

/** The dimensions that spend is counted by. */
export type CountedDimensionName = CrossDimensionName | AllocationName;

/** A service key belongs to one of each: spend can be split by these, and is not counted by them. */
export const keyDimensionNames = ['project', 'member'] as const;
export type KeyDimensionName = (typeof keyDimensionNames)[number];

export const isKeyDimension = (name: string): name is KeyDimensionName =>
  (keyDimensionNames as readonly string[]).includes(name);

/** The dimensions that spend can be split by. */
export type SpendDimensionName = CountedDimensionName | KeyDimensionName;

/** The dimensions that every account has, by their names in the API and on pages: `key` is the id of a service key. */
export const commonDimensions = [
  'provider',
  'model',
  'tag',
  'key',
  'project',
  'member',
  'providerKey',
  'client',
] as const;
export type CommonDimension = (typeof commonDimensions)[number];

/** The dimension with a name in the API. */
export const dimensionOf = <Name extends string>(name: Name) =>
  (name === 'key' ? 'keyId' : name) as Exclude<Name, 'key'> | 'keyId';

/** The dimensions that spend must be read by for some names. */
export const countedDimensions = (names: readonly SpendDimensionName[]): CountedDimensionName[] => [
  ...new Set(names.map((name) => (isKeyDimension(name) ? 'keyId' : name))),
];

/** The dimensions that spend by an allocation dimension can be split by as well. */
export const allocationCrossNames = ['provider', 'model', 'keyId'] as const satisfies readonly CrossDimensionName[];

export const isAllocation = (name: string): name is AllocationName => name === 'client' || name.startsWith('dim:');

/** One cross of dimensions. Null is "not sent" and "not known". An absent allocation dimension was not counted, an absent key dimension not read. */
export type SpendDimensions = { readonly provider: string } & {
  readonly [N in Exclude<CrossDimensionName, 'provider'>]: string | null;
} & { readonly [N in AllocationName | KeyDimensionName]?: string | null | undefined };

/** The allocation dimension among some names; undefined where there is none. */
export const allocationIn = (names: readonly string[]): AllocationName | undefined => names.find(isAllocation);

/** Why spend cannot be read by these dimensions at once; undefined where it can. */
export const combinationProblem = (names: readonly SpendDimensionName[]): string | undefined => {
  const allocation = allocationIn(names);
  const isCombinable = (name: CountedDimensionName) =>
    name === allocation || (allocationCrossNames as readonly string[]).includes(name);
  return allocation === undefined || countedDimensions(names).every(isCombinable)
    ? undefined
    : `${allocation} is counted by provider, model and key: it cannot be combined with other dimensions`;
};

/** The dimensions of a sum over everything. */
export const noDimensions: SpendDimensions = { provider: '', model: null, tag: null, keyId: null, providerKey: null };

/** Replaces every value that overflows. A client's own value never reads like this: see withoutOther. */
export const OTHER = '(other)';

const LOOKS_LIKE_OTHER = /^\\*\(other\)$/;

/** The value of an allocation dimension where it is not known: the request was recorded while the dimension was not declared. */
export const UNKNOWN = '(unknown)';

const LOOKS_RESERVED = /^\\*\((?:other|unknown|none)\)$/;

/** A client's metadata value. One that is literally `(other)`, `(unknown)` or `(none)` gets a backslash in front, so that it is none of them. */
export const withoutReserved = (value: string): string => (LOOKS_RESERVED.test(value) ? `\\${value}` : value);

/** A client's tag or model. One that is literally `(other)` gets a backslash in front, so that it is no overflow. */
export const withoutOther = <T extends string | null>(value: T): T | string =>
  value !== null && LOOKS_LIKE_OTHER.test(value) ? `\\${value}` : value;

/**
 * Below this number of slots a request without a cost takes one as well. Above, it shares one or overflows to the last level: refused requests
 * are free and anybody can send them, with ever new credentials, so they must not use up the slots of spend.
 */
export const MAX_SLOTS_WITHOUT_COST = 250;

/** How combinations overflow once they are too many. */
interface OverflowRules {
  /** Names that overflow at a level, while the account and day have fewer than `maxSlots` slots. The last level is always possible. */
  readonly levels: readonly { readonly overflow: readonly CountedDimensionName[]; readonly maxSlots: number }[];
  /** At most this number of slots stays for the combinations of recent days. */
  readonly maxReservedSlots: number;
}

/**
 * How many counter slots an account may have in one day before the next level of overflow begins. The dimensions that clients vary most
 * overflow first (a tag per end user, short-lived provider credentials), so that spend by model stays exact the longest. The last
 * level has one spend counter for each provider and is always possible.
 */
const crossOverflow: OverflowRules = {
  levels: [
    { overflow: [], maxSlots: 1_000 },
    { overflow: ['tag'], maxSlots: 1_250 },
    { overflow: ['tag', 'providerKey'], maxSlots: 1_500 },
    { overflow: ['tag', 'providerKey', 'model'], maxSlots: 1_750 },
    { overflow: ['tag', 'providerKey', 'model', 'keyId'], maxSlots: Number.POSITIVE_INFINITY },
  ],
  maxReservedSlots: 500,
};

/** Each allocation dimension has slots of its own. Model and key overflow before the value: the crosses have them, and nothing else has it. */
const allocationOverflow = (name: AllocationName): OverflowRules => ({
  levels: [
    { overflow: [], maxSlots: 500 },
    { overflow: ['model', 'keyId'], maxSlots: 1_000 },
    { overflow: ['model', 'keyId', name], maxSlots: Number.POSITIVE_INFINITY },
  ],
  maxReservedSlots: 250,
});

/** The rules of an allocation dimension; of the crosses where there is none. */
const overflowRules = (allocation?: AllocationName): OverflowRules =>
  allocation === undefined ? crossOverflow : allocationOverflow(allocation);

export const maxOverflowLevel = (allocation?: AllocationName): number => overflowRules(allocation).levels.length - 1;

/** How far a combination of dimensions overflows: its level, and dimensions that keep their value nevertheless. */
export interface Overflow {
  readonly level: number;
  readonly kept: readonly CountedDimensionName[];
}

export const NO_OVERFLOW: Overflow = { level: 0, kept: [] };

/** The dimensions after overflow. Level 0 keeps them as they are. */
export const overflowDimensions = (
  dimensions: SpendDimensions,
  level: number,
  kept: readonly CountedDimensionName[] = [],
  allocation?: AllocationName,
): SpendDimensions => {
  const result: { -readonly [K in keyof SpendDimensions]: SpendDimensions[K] } = { ...dimensions };
  const { overflow = [] } = overflowRules(allocation).levels[level] ?? {};
  for (const name of overflow) if (!kept.includes(name)) result[name] = OTHER;
  return result;
};

/** A combination of dimensions that wants a counter slot. */
export interface SlotClaim {
  readonly dimensions: SpendDimensions;
  /** The allocation dimension that it is counted by; absent for a cross. */
  readonly allocation?: AllocationName | undefined;
  /** Its request has a cost, or may have one: see mayCost. */
  readonly mayCost: boolean;
  /** It had a slot on a recent day. */
  readonly isRecent: boolean;
  /** Dimensions that an alert rule names: they keep their value at every level. */
  readonly kept: readonly CountedDimensionName[];
}

/** The slots of an account and day: those of crosses, or of one allocation dimension. */
export interface SlotState {
  readonly size: number;
  /** Combinations of recent days that have no slot on this day yet. */
  readonly awaited: number;
  /** Whether dimensions (after overflow) have a slot already. */
  readonly has: (dimensions: SpendDimensions) => boolean;
}

/** The lowest overflow level at which an account may count the dimensions of a claim. */
export const overflowOf = (
  { dimensions, allocation, mayCost, isRecent, kept }: SlotClaim,
  slots: SlotState,
): Overflow => {
  const { levels, maxReservedSlots } = overflowRules(allocation);
  const lastLevel = levels.length - 1;
  const maxSlotsOfAll = levels[lastLevel - 1]?.maxSlots ?? 0;
  const mayTake = (level: number, maxSlots: number): boolean => {
    if (level === lastLevel) return true;
    if (!mayCost) return level === 0 && slots.size < MAX_SLOTS_WITHOUT_COST;
    return slots.size < (isRecent ? maxSlotsOfAll : maxSlots - Math.min(slots.awaited, maxReservedSlots));
  };
  const level = levels.findIndex(
    ({ maxSlots }, at) => mayTake(at, maxSlots) || slots.has(overflowDimensions(dimensions, at, kept, allocation)),
  );
  const { overflow = [] } = levels[level] ?? {};
  const keptHere = overflow.filter((name) => kept.includes(name));
  return keptHere.length === overflow.length ? NO_OVERFLOW : { level, kept: keptHere };
};
