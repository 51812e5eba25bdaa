import { randomInt } from 'node:crypto';

const given = process.env['TEST_SEED'];

/** Seed of random values in tests: a fresh one in every run, unless TEST_SEED gives one. */
export const SEED = given === undefined ? randomInt(2 ** 31) : Number(given);
if (!Number.isSafeInteger(SEED)) throw new Error(`TEST_SEED is a whole number, not ${given}.`);

/**
 * How many random examples a test draws, given how many are all of them. A third is drawn, since other runs draw others: TEST_EXAMPLES=1
 * draws all, 10 ten times as many.
 */
export const examples = (all: number): number => Math.ceil(Number(process.env['TEST_EXAMPLES'] ?? 1 / 3) * all);

/** How to repeat a run. */
const hint = `To repeat it, set TEST_SEED=${SEED} in the environment.`;

/** An error that also says how to repeat what failed. */
export const repeatable = (message: string, cause: unknown): Error => new Error(`${message}\n\n${hint}`, { cause });

/** Runs a test with random values; when it fails, the error says how to repeat it. */
export const withSeed = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw repeatable(error instanceof Error ? error.message : String(error), error);
  }
};
