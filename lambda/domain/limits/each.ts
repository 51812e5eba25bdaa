import { type PeriodName, periodAt } from '../calendar/periods.ts';
import { DAY_MS } from '../calendar/units.ts';
import type { RequestRecord } from '../spend/request-record.ts';

/*
 * A limit of each: every value of one dimension has the amount for itself. The gateway reads it on its hot path, so this file imports the
 * calendar alone.
 */

/** A limit may hold for each value of one of these, or of a metadata name (`dim:user`), which need not be declared. */
export const eachNames = ['member', 'key', 'project', 'session'] as const;
export type EachName = (typeof eachNames)[number] | `dim:${string}`;

/** A limit's period: of the calendar, or days that somebody chose. */
export type LimitPeriod = PeriodName | { readonly from: string; readonly to: string };

/** The period of days that somebody chose. */
export const fixedPeriod = ({ from, to }: Exclude<LimitPeriod, PeriodName>) => ({
  name: 'fixed' as const,
  start: `${from}T00:00:00.000Z`,
  end: new Date(Date.parse(to) + DAY_MS).toISOString(),
});

/** The period of a limit that contains an instant; null outside of a fixed one. */
export const limitPeriodAt = (period: LimitPeriod, at: Date) => {
  if (typeof period === 'string') return periodAt(period, at);
  const fixed = fixedPeriod(period);
  return fixed.start <= at.toISOString() && at.toISOString() < fixed.end ? fixed : null;
};

/** An amount at a percentage of it, in nano-USD, rounded up. */
export const atPercent = ({ amountNanoUsd }: { readonly amountNanoUsd: number }, percent: number): number =>
  Math.floor(amountNanoUsd / 100) * percent + Math.ceil(((amountNanoUsd % 100) * percent) / 100);

/**
 * True where a use has reached a percentage of an amount, or counts as used up by requests of unknown cost.
 *
 * @param blocksFrom the percentage from which requests are refused, or would be
 */
export const hasReached = (
  amount: { readonly amountNanoUsd: number },
  { usedNanoUsd, isUsedUp }: { readonly usedNanoUsd: number; readonly isUsedUp: boolean },
  percent: number,
  blocksFrom: number,
): boolean => usedNanoUsd >= atPercent(amount, percent) || (isUsedUp && percent <= blocksFrom);

/** How much of an amount is used, in whole percent, rounded down: as many as atPercent finds reached. */
export const percentUsed = (usedNanoUsd: number, nanoUsd: number): number =>
  nanoUsd === 0 ? 100 : Number((100n * BigInt(usedNanoUsd)) / BigInt(nanoUsd));

/** The member and the project of each key, by its id. */
export type KeyPlaces = Readonly<Record<string, { readonly project: string; readonly member?: string | undefined }>>;

export const placesOf = (
  keys: readonly { readonly keyId: string; readonly projectId: string; readonly ownerUserId?: string | undefined }[],
): KeyPlaces =>
  Object.fromEntries(
    keys.map(({ keyId, projectId, ownerUserId }) => [keyId, { project: projectId, member: ownerUserId }]),
  );

/** A request as a record has it, as far as values are read from it. */
export interface ValueFacts {
  readonly keyId: string | null;
  readonly session?: { readonly id: string } | null | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/** The value that a request counts under: null where it has none. */
export const valueFor = (each: EachName, { keyId, session, metadata = {} }: ValueFacts, keys: KeyPlaces) => {
  if (each === 'key') return keyId;
  if (each === 'session') return session?.id ?? null;
  if (each === 'project' || each === 'member') return keys[keyId ?? '']?.[each] ?? null;
  const name = each.slice('dim:'.length);
  return (Object.hasOwn(metadata, name) && metadata[name]?.toWellFormed()) || null;
};

/** An amount that somebody decided for one value. Null is no limit, 0 refuses every request that costs. */
export interface Override {
  readonly amountNanoUsd: number | null;
  /** ISO 8601 UTC; null if it has no end. */
  readonly until: string | null;
  /** A raise has the override that holds again after it. */
  readonly after?: Override | undefined;
}

/** The override that holds at an instant. */
export const overrideAt = (override: Override | null, at: Date): Override | null =>
  override === null || override.until === null || Date.parse(override.until) > at.getTime()
    ? override
    : overrideAt(override.after ?? null, at);

/** The amount of the members of a role, or of what belongs to a project. */
export interface GroupAmount {
  readonly source: 'project' | 'role';
  /** Id of the project, or the role. */
  readonly name: string;
  readonly amountNanoUsd: number;
  readonly values: readonly string[];
}

/** The sources of a value's amount, from the strongest to the weakest. `none`: requests without a value have no limit. */
export const amountSources = ['override', 'project', 'role', 'budget', 'none'] as const;

export interface AmountInForce {
  /** Null: no limit. */
  readonly nanoUsd: number | null;
  readonly source: (typeof amountSources)[number];
}

/** The amounts of a limit of each. Of groups, those of projects come first, and of several projects the highest. */
export interface EachAmounts {
  readonly amountNanoUsd: number;
  readonly groups: readonly GroupAmount[];
}

/** The one decision of which amount holds for a value, and why. */
export const amountFor = (
  { amountNanoUsd, groups }: EachAmounts,
  value: string | null,
  override: Override | null,
  now: Date,
): AmountInForce => {
  const current = overrideAt(override, now);
  if (current) return { nanoUsd: current.amountNanoUsd, source: 'override' };
  if (value === null) return { nanoUsd: null, source: 'none' };
  const group = groups.find(({ values }) => values.includes(value));
  return group ? { nanoUsd: group.amountNanoUsd, source: group.source } : { nanoUsd: amountNanoUsd, source: 'budget' };
};

export interface ValueUse {
  /** The cost that counts against the limit: known cost, and requests of unknown cost if the limit counts them. */
  readonly usedNanoUsd: number;
  readonly unpricedRequests: number;
}

/** True where requests of a value that cost are refused. */
export const isAtLimit = (
  { percent, unknownCost }: { readonly percent: number; readonly unknownCost: 'pass' | 'stop' | number },
  { usedNanoUsd, unpricedRequests }: ValueUse,
  { nanoUsd }: AmountInForce,
): boolean =>
  nanoUsd !== null &&
  (usedNanoUsd >= atPercent({ amountNanoUsd: nanoUsd }, percent) || (unknownCost === 'stop' && unpricedRequests > 0));

/** A request that is counted under a value of a limit, as its record says: what it added is taken back under exactly this. */
export type ValueCount = RequestRecord['countedFor'][number];
