import fc from '../node_modules/fast-check/lib/fast-check.js';
import { examples, repeatable, SEED } from './seed.ts';

/*
 * The module `fast-check` of all tests (jest.config.js). Every run draws other values, in CI too; a failure prints the seed, and
 * TEST_SEED repeats it.
 */
fc.configureGlobal({
  seed: SEED,
  reporter: (details) => {
    if (details.failed) throw repeatable(fc.defaultReportMessage(details) ?? '', details.errorInstance);
  },
});

const assert: typeof fc.assert = (property: fc.IRawProperty<unknown>, parameters: fc.Parameters<unknown> = {}) =>
  fc.assert(property, { ...parameters, numRuns: examples(parameters.numRuns ?? 100) }) as never;

export * from '../node_modules/fast-check/lib/fast-check.js';
export default { ...fc, assert };
