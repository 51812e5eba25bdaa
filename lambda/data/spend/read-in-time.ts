import { UnavailableError } from '../../domain/errors.ts';
import type { ReadCounters } from '../../domain/spend/spend-report.ts';

/** API Gateway waits for 29 s, which are the function's as well: the rest is for adding up and for the answer. */
const MAX_READ_MS = 22_000;
/** Cells between two looks at the clock. */
const STRIDE = 256;

const tooMuch = () =>
  new UnavailableError(
    'There is more spend in this range than can be read in time. Ask for less at once: a shorter range, days instead of hours, or fewer dimensions to group and filter by.',
  );

/** The same cells for somebody who waits: reading that takes too long ends with an error that says what to do. @param now milliseconds */
export const readInTime =
  (read: ReadCounters, now: () => number = () => performance.now()): ReadCounters =>
  (...query) => ({
    [Symbol.asyncIterator]: () => {
      const until = now() + MAX_READ_MS;
      const cells = read(...query)[Symbol.asyncIterator]();
      let count = 0;
      return {
        // No generator of its own: a step more for each of a million cells.
        next: () => {
          if (++count % STRIDE === 0 && now() > until) throw tooMuch();
          return cells.next();
        },
        return: async () => (await cells.return?.()) ?? { done: true, value: undefined },
      };
    },
  });
