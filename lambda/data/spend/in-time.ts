import { UnavailableError } from '../../domain/errors.ts';
import type { SpendCounter } from '../../domain/spend/counters.ts';

/** API Gateway and the function time out after 29 s. The rest is for adding up and for the response. */
const MAX_READ_MS = 22_000;
/** Spend counters between two checks of the clock. */
const STRIDE = 256;

const tooMuch = () =>
  new UnavailableError(
    'There is more spend in this range than can be read in time. Ask for less at once: a shorter range, days instead of hours, or fewer dimensions to group and filter by.',
  );

/**
 * The same spend counters with a time limit, for a request that waits for them.
 *
 * @param now milliseconds
 * @throws UnavailableError with advice for the user, where reading takes too long
 */
export const inTime = (
  read: AsyncIterable<SpendCounter>,
  now: () => number = () => performance.now(),
): AsyncIterable<SpendCounter> => ({
  [Symbol.asyncIterator]: () => {
    const until = now() + MAX_READ_MS;
    const spendCounters = read[Symbol.asyncIterator]();
    let count = 0;
    return {
      // Not a generator: it would add a step to each of a million spend counters.
      next: () => {
        if (++count % STRIDE === 0 && now() > until) throw tooMuch();
        return spendCounters.next();
      },
      return: async () => (await spendCounters.return?.()) ?? { done: true, value: undefined },
    };
  },
});
