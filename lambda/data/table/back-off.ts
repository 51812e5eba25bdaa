import { setTimeout as sleep } from 'node:timers/promises';

const FIRST_MS = 20;
const MAX_MS = 1_000;

/**
 * A random pause that grows with each attempt, from 0 on, up to a second: writers that conflicted once should not conflict again.
 *
 * @see https://aws.amazon.com/builders-library/timeouts-retries-and-backoff-with-jitter/
 */
export const backOff = (attempt: number): Promise<void> =>
  sleep(Math.random() * Math.min(MAX_MS, FIRST_MS * 2 ** attempt));
