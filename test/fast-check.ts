import fc from '../node_modules/fast-check/lib/fast-check.js';

/*
 * What tests get for `fast-check` (jest.config.js). Every run looks at other values, and a failure prints its seed; in CI all runs
 * look at the same, so that a change is judged by the change. FC_SEED repeats a run.
 */
const CI_SEED = 20_261_120;

const seed = process.env['FC_SEED'] ?? (process.env['CI'] ? CI_SEED : undefined);
if (seed !== undefined) fc.configureGlobal({ seed: Number(seed) });

export * from '../node_modules/fast-check/lib/fast-check.js';
export default fc;
