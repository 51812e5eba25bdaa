import type { Usage } from '../usage/usage.ts';

/** Counted from a usage, under the same names: see the subset rules of lambda/domain/usage/usage.ts. */
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

/**
 * The counters of a spend cell. All are integers.
 * `requests` = priced + `freeRequests` + `unpricedRequests`.
 */
const counterNames = [
  'requests',
  /** Cost in nano-USD (1e-9 USD), split by how it is known. */
  'costProviderNanoUsd',
  'costComputedNanoUsd',
  'costEstimatedNanoUsd',
  /** Requests whose cost is not known: never counted as $0. */
  'unpricedRequests',
  'freeRequests',
  /** The provider failed or refused: see `isError`. */
  'errors',
  /** The answer was cut or could not be read whole: usage may be too low. */
  'partialRequests',
  /** No close event came (yet): see outcome `unknown`. */
  'unfinishedRequests',
  /** Forwarded while tracking was failing, and recorded all the same. */
  'bypassedRequests',
  /** Requests whose dimensions were folded into `(other)`. */
  'overflowRequests',
  ...tokenCounterNames,
] as const;

/** Billable units that are not tokens are kept in thousandths, since seconds come with fractions and counters have none. */
const UNIT_PREFIX = 'milliUnits.';
export type CounterName = (typeof counterNames)[number] | `${typeof UNIT_PREFIX}${string}`;

/** Sparse: a counter that is absent is 0. Differences may be negative. */
export type Counters = Readonly<Partial<Record<CounterName, number>>>;

/** A sum passed 2^53 - 1 and can no longer be told exactly: about 9 million USD in one sum. Wrong numbers are not shown. */
export class CounterOverflowError extends Error {
  override readonly name = 'CounterOverflowError';
}

const exact = (name: string, value: number): number => {
  if (!Number.isSafeInteger(value)) throw new CounterOverflowError(`Counter ${name} passed 2^53.`);
  return value;
};

const combine = (left: Counters, right: Counters, sign: 1 | -1): Counters => {
  const sum: Partial<Record<string, number>> = { ...left };
  for (const [name, value] of Object.entries(right)) {
    const total = exact(name, (sum[name] ?? 0) + sign * (value ?? 0));
    if (total === 0) delete sum[name];
    else sum[name] = total;
  }
  return sum;
};

/** @throws CounterOverflowError */
export const addCounters = (left: Counters, right: Counters): Counters => combine(left, right, 1);

/** @throws CounterOverflowError */
export const subtractCounters = (left: Counters, right: Counters): Counters => combine(left, right, -1);

export const isZero = (counters: Counters): boolean => Object.values(counters).every((value) => value === 0);

/** All cost that is known, however it is known, in nano-USD. `unpricedRequests` says how many requests it leaves out. */
export const knownCostNanoUsd = (counters: Counters): number =>
  exact(
    'costNanoUsd',
    (counters.costProviderNanoUsd ?? 0) + (counters.costComputedNanoUsd ?? 0) + (counters.costEstimatedNanoUsd ?? 0),
  );

const known: ReadonlySet<string> = new Set(counterNames);
export const isCounterName = (name: string): name is CounterName => known.has(name) || name.startsWith(UNIT_PREFIX);

export const unitCounterName = (kind: string): CounterName => `${UNIT_PREFIX}${kind}`;

/** Billable units that are not tokens, by kind, in whole units again (2.5 seconds). */
export const unitsOf = (counters: Counters): Record<string, number> =>
  Object.fromEntries(
    Object.entries(counters)
      .filter(([name]) => name.startsWith(UNIT_PREFIX))
      .map(([name, value]) => [name.slice(UNIT_PREFIX.length), (value ?? 0) / 1_000]),
  );
