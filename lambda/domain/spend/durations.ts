import { type CounterName, type Counters, DURATION_PREFIX } from './counters.ts';

/**
 * Durations of requests are counted in exponential buckets, so they add up like any counter: bucket n has what took more than GAMMA^(n-1)
 * ms, and at most GAMMA^n. Each duration is within MAX_ERROR of the middle of its bucket, and so is a percentile of them.
 *
 * @see https://arxiv.org/abs/1908.10693 DDSketch, section 2.1
 */
const MAX_ERROR = 0.1;
const GAMMA = (1 + MAX_ERROR) / (1 - MAX_ERROR);
/** All that is shorter than a millisecond is in the first bucket, all that is longer than an hour in the last one. */
const FIRST_BUCKET = 1;
const LAST_BUCKET = 76;

export const durationBucketOf = (ms: number): number =>
  Math.min(LAST_BUCKET, Math.max(FIRST_BUCKET, Math.ceil(Math.log(ms) / Math.log(GAMMA))));

const isDuration = (name: string): boolean => name.startsWith(DURATION_PREFIX);

/** Names of the buckets' counters, made once: a year of many crosses has a million of them. */
const names: CounterName[] = [];

export const durationCounterName = (bucket: number): CounterName => (names[bucket] ??= `${DURATION_PREFIX}${bucket}`);

/** Each bucket with its requests, in sequence, ascending: `[24, 3, 25, 1]`. */
export const durationPairs = (counters: Counters): number[] =>
  Object.entries(counters)
    .filter(([name]) => isDuration(name))
    .map(([name, requests]) => [Number(name.slice(DURATION_PREFIX.length)), requests ?? 0] as const)
    .sort(([left], [right]) => left - right)
    .flat();

/** The names of counters other than those of durations. */
export const namesWithoutDurations = (counters: Counters): CounterName[] =>
  (Object.keys(counters) as CounterName[]).filter((name) => !isDuration(name));

export const withoutDurations = (counters: Counters): Counters =>
  Object.fromEntries(namesWithoutDurations(counters).map((name) => [name, counters[name]]));

/**
 * Durations of requests in milliseconds, and the number of requests with a known duration: those that were forwarded and whose end is known.
 * Null if no duration is known.
 */
export const latencyOf = (counters: Counters) => {
  const pairs = durationPairs(counters);
  const requests = pairs.reduce((sum, value, index) => (index % 2 === 1 ? sum + value : sum), 0);
  if (requests === 0) return null;
  /** The shortest duration that this percentage of the requests does not exceed. */
  const percentileMs = (percent: number): number => {
    let rest = Math.ceil((percent * requests) / 100);
    let index = 0;
    for (; index < pairs.length - 2; index += 2) {
      rest -= pairs[index + 1] ?? 0;
      if (rest <= 0) break;
    }
    return Math.round((2 * GAMMA ** (pairs[index] ?? 0)) / (GAMMA + 1));
  };
  return { p50Ms: percentileMs(50), p95Ms: percentileMs(95), requests };
};
