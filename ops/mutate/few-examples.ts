import fc from '../../node_modules/fast-check/lib/fast-check.js';

/*
 * What tests get for `fast-check` in a mutation run: the same examples for every mutant, fewer than otherwise, and no search for
 * the smallest that fails.
 */
const EXAMPLES = 20;

fc.configureGlobal({ seed: 20_261_120 });

const assert: typeof fc.assert = (property: fc.IRawProperty<unknown>, parameters: fc.Parameters<unknown> = {}) =>
  fc.assert(property, {
    ...parameters,
    numRuns: Math.min(parameters.numRuns ?? EXAMPLES, EXAMPLES),
    endOnFailure: true,
  }) as never;

export * from '../../node_modules/fast-check/lib/fast-check.js';
export default { ...fc, assert };
