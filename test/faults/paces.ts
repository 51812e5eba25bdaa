import { AssertionError } from 'node:assert/strict';

/** By how much a scenario's times grow, try after try. */
const PACES = [1, 4, 16];

/**
 * Runs a scenario in which one time-out strikes and another must not. A machine that stands still for as long looks like the
 * fault itself, so that a failure is tried again with longer times: what is wrong fails at every pace.
 *
 * @throws AssertionError of the slowest pace
 */
export const atSomePace = async (run: (pace: number) => Promise<string>): Promise<string> => {
  let failed: unknown;
  for (const pace of PACES) {
    try {
      return await run(pace);
    } catch (error) {
      if (!(error instanceof AssertionError)) throw error;
      failed = error;
    }
  }
  throw failed;
};
