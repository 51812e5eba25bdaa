import { MINUTE_MS } from '../domain/calendar/units.ts';

/** The longest time that one account takes: fifty alerts, ten at a time, each with a webhook that takes five seconds. */
const ACCOUNT_MS = MINUTE_MS;

/** True where an account that is begun now might not be done in time. */
export const isLate = (remainingMs: () => number): boolean => remainingMs() < ACCOUNT_MS;

/** The values until it is time to stop; `isCut` is true where values were left out. */
export const takeUntil = <T>(values: AsyncIterable<T>, isTime: () => boolean) => {
  let isCut = false;
  return {
    isCut: () => isCut,
    async *[Symbol.asyncIterator](): AsyncGenerator<T> {
      for await (const value of values) {
        isCut = isTime();
        if (isCut) return;
        yield value;
      }
    },
  };
};
