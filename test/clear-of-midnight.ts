import { setTimeout as sleep } from 'node:timers/promises';

const DAY_MS = 86_400_000;

const MARGIN_MS = 120_000;

/**
 * Where sums by day are compared, a run that passes midnight (UTC) would compare two days: it begins the day after. For the top of a file,
 * which no time-out ends.
 */
export const clearOfMidnight = async (): Promise<void> => {
  const leftMs = DAY_MS - (Date.now() % DAY_MS);
  if (leftMs < MARGIN_MS) await sleep(leftMs);
};
