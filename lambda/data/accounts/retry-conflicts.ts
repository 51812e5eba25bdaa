import { setTimeout as sleep } from 'node:timers/promises';
import { UnavailableError } from '../../domain/errors.ts';
import { ConditionsFailedError } from '../table/transact.ts';

const MAX_ATTEMPTS = 6;
const FIRST_BACKOFF_MS = 20;

/** An attempt returns this to be run again at once. */
export const RETRY = Symbol('retry');

/**
 * Runs a read-decide-write attempt again when another writer changed the account between its read and its write, after a random,
 * growing pause. Six attempts in all.
 *
 * @throws UnavailableError if other writers keep changing the account; any other error of the attempt
 */
export const retryConflicts = async <T>(attempt: () => Promise<T | typeof RETRY>): Promise<T> => {
  for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts++) {
    try {
      const result = await attempt();
      if (result !== RETRY) return result;
    } catch (error) {
      if (!(error instanceof ConditionsFailedError)) throw error;
      await sleep(Math.random() * FIRST_BACKOFF_MS * 2 ** attempts);
    }
  }
  throw new UnavailableError('Other requests are changing the account. Try again.');
};
