import type { Usage } from '../usage/usage.ts';
import type { SpendDimensions } from './dimensions.ts';

/** Counters with the names of the members of a usage: see the subset rules of lambda/domain/usage/usage.ts. */
export const tokenCounterNames = [
  'inputTokens',
  'outputTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'cacheWrite1hTokens',
  'reasoningTokens',
  'inputAudioTokens',
  'outputAudioTokens',
  'inputImageTokens',
  'outputImageTokens',
  'inputVideoTokens',
  'outputVideoTokens',
] as const satisfies readonly (keyof Usage)[];
export type TokenCounterName = (typeof tokenCounterNames)[number];

/**
 * The named sums of a spend counter. All are integers.
 * `requests` = priced + `freeRequests` + `unpricedRequests`.
 */
const counterNames = [
  'requests',
  /** Cost in nano-USD (1e-9 USD), split by how it is known. */
  'costProviderNanoUsd',
  'costComputedNanoUsd',
  'costEstimatedNanoUsd',
  /** The cost at list prices less the cost: 0 for accounts without own prices. */
  'listDifferenceProviderNanoUsd',
  'listDifferenceComputedNanoUsd',
  'listDifferenceEstimatedNanoUsd',
  /** The part of the cost that no provider is paid: markups. */
  'markupNanoUsd',
  /** Requests of known cost whose list cost is not known: they have a price of the account's own. */
  'listUnpricedRequests',
  /** Requests whose cost is not known: never counted as $0. */
  'unpricedRequests',
  'freeRequests',
  /** The provider failed or refused: see `isError`. */
  'errors',
  /** The response was truncated or could not be read completely: usage may be too low. */
  'partialRequests',
  /** There is no close event (yet): see outcome `unknown`. */
  'unfinishedRequests',
  /** Forwarded before they were sure to be on record, and recorded nevertheless. */
  'bypassedRequests',
  /** Those of them that the queue confirmed after the response's headers had left: tracking was slow, and did not fail. */
  'confirmedLateRequests',
  /** Requests with dimensions that overflowed into `(other)`. */
  'overflowRequests',
  ...tokenCounterNames,
] as const;

/** Units that are not tokens are counted in thousandths, since seconds have fractions and counters are integers. */
const UNIT_PREFIX = 'milliUnits.';
/** Requests by the bucket of their duration: `ms.24`, see durations.ts. Short, since a counter has dozens of these names. */
export const DURATION_PREFIX = 'ms.';
/** Costs by the rate of their day, only in sums that are being read: see display-currency.ts. */
export const costAtRateName = (rate: number) => `costAtRate.${rate}` as const;
export type CounterName =
  | (typeof counterNames)[number]
  | `${typeof UNIT_PREFIX}${string}`
  | `${typeof DURATION_PREFIX}${number}`
  | ReturnType<typeof costAtRateName>;

/** Named sums. Sparse: an absent sum is 0. Differences may be negative. One that is no longer exact is PAST_EXACT. */
export type Counters = Readonly<Partial<Record<CounterName, number>>>;

/** The counters of one cross of dimensions in one hour, day or month. */
export interface SpendCounter {
  /** `2026-11-20T16`, `2026-11-20` or `2026-11`, UTC. */
  readonly time: string;
  readonly dimensions: SpendDimensions;
  readonly counters: Counters;
}

/** A sum above 2^53 - 1. It stays that in every further sum, and only who would show it gets a CounterOverflowError. */
export const PAST_EXACT = Number.POSITIVE_INFINITY;

/** A sum is above 2^53 - 1 (about 9 million USD) and no longer exact. Wrong numbers are not shown. */
export class CounterOverflowError extends Error {
  override readonly name = 'CounterOverflowError';
}

/** @throws CounterOverflowError */
export const exact = (name: string, value: number): number => {
  if (!Number.isSafeInteger(value)) throw new CounterOverflowError(`Counter ${name} passed 2^53.`);
  return value;
};

export const boundedSum = (left: number, right: number): number => {
  const sum = left + right;
  return Number.isSafeInteger(sum) ? sum : PAST_EXACT;
};

const combine = (left: Counters, right: Counters, sign: 1 | -1): Counters => {
  const sum: Partial<Record<string, number>> = { ...left };
  for (const [name, value] of Object.entries(right)) {
    const total = boundedSum(sum[name] ?? 0, sign * (value ?? 0));
    if (total === 0) delete sum[name];
    else sum[name] = total;
  }
  return sum;
};

export const addCounters = (left: Counters, right: Counters): Counters => combine(left, right, 1);

export const subtractCounters = (left: Counters, right: Counters): Counters => combine(left, right, -1);

export const isZero = (counters: Counters): boolean => Object.values(counters).every((value) => value === 0);

/** All known cost, in nano-USD. */
export const sumOfCosts = (counters: Counters): number =>
  (counters.costProviderNanoUsd ?? 0) + (counters.costComputedNanoUsd ?? 0) + (counters.costEstimatedNanoUsd ?? 0);

/**
 * All known cost of any provenance, in nano-USD. It leaves out as many requests as `unpricedRequests`.
 *
 * @throws CounterOverflowError
 */
export const knownCostNanoUsd = (counters: Counters): number => exact('costNanoUsd', sumOfCosts(counters));

/**
 * All known cost as it is compared with a limit: one past 2^53 - 1 is above any limit that is not, so it counts as 2^53 - 1.
 *
 * @param limit in nano-USD
 * @throws CounterOverflowError where both are
 */
export const costToCompare = (counters: Counters, limit: number): number =>
  limit > Number.MAX_SAFE_INTEGER
    ? knownCostNanoUsd(counters)
    : Math.min(sumOfCosts(counters), Number.MAX_SAFE_INTEGER);

/** The counters with costs at list prices in the place of costs. */
export const atListCost = (counters: Counters): Counters => {
  const {
    listDifferenceProviderNanoUsd = 0,
    listDifferenceComputedNanoUsd = 0,
    listDifferenceEstimatedNanoUsd = 0,
    listUnpricedRequests = 0,
    ...effective
  } = counters;
  return addCounters(effective, {
    costProviderNanoUsd: listDifferenceProviderNanoUsd,
    costComputedNanoUsd: listDifferenceComputedNanoUsd,
    costEstimatedNanoUsd: listDifferenceEstimatedNanoUsd,
    unpricedRequests: listUnpricedRequests,
  });
};

/** Compares for sorting, costliest first. */
export const byKnownCost = (left: Counters, right: Counters): number => {
  const [leftCost, rightCost] = [sumOfCosts(left), sumOfCosts(right)];
  return leftCost === rightCost ? 0 : leftCost > rightCost ? -1 : 1;
};

/** @throws CounterOverflowError where one of the sums is no longer exact */
export const requireExact = (counters: Counters): void => {
  for (const [name, value] of Object.entries(counters)) exact(name, value ?? 0);
};

/** The result of a function; undefined where one of its sums is no longer exact. */
export const ifExact = <T>(sums: () => T): T | undefined => {
  try {
    return sums();
  } catch (error) {
    if (!(error instanceof CounterOverflowError)) throw error;
    return undefined;
  }
};

const known: ReadonlySet<string> = new Set(counterNames);
export const isCounterName = (name: string): name is CounterName =>
  known.has(name) || name.startsWith(UNIT_PREFIX) || name.startsWith(DURATION_PREFIX);

export const unitCounterName = (kind: string): CounterName => `${UNIT_PREFIX}${kind}`;

/** Units that are not tokens, by kind, converted back from thousandths (2.5 seconds). */
export const unitsOf = (counters: Counters): Record<string, number> =>
  Object.fromEntries(
    Object.entries(counters)
      .filter(([name]) => name.startsWith(UNIT_PREFIX))
      .map(([name, value]) => [name.slice(UNIT_PREFIX.length), (value ?? 0) / 1_000]),
  );

type Sum = Partial<Record<CounterName, number>>;

/** Adds up counters by key, in place: a year by day of a thousand crosses is a third of a million additions. */
export const sumMap = () => {
  const sums = new Map<string, Sum>();
  return {
    sums: sums as ReadonlyMap<string, Counters>,
    add: (key: string, counters: Counters): void => {
      const sum = sums.get(key);
      if (sum === undefined) {
        sums.set(key, { ...counters });
        return;
      }
      for (const name of Object.keys(counters) as CounterName[])
        sum[name] = boundedSum(sum[name] ?? 0, counters[name] ?? 0);
    },
  };
};
