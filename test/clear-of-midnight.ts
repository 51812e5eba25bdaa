import { setTimeout as sleep } from 'node:timers/promises';

const DAY_MS = 86_400_000;

/** Where sums by day are compared, a run that passes midnight (UTC) would compare two days: it begins the day after. */
export const clearOfMidnight = async (marginMs = 60_000): Promise<void> => {
  const leftMs = DAY_MS - (Date.now() % DAY_MS);
  if (leftMs < marginMs) await sleep(leftMs);
};
