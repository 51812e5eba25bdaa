import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { withSeed } from '../seed.ts';
import type { ScenarioGroup } from './scenario.ts';

/** On a busy machine a scenario takes twenty times longer. What it waits for in vain has limits of its own: eventually.ts. */
const TIMEOUT_MS = 1_200_000;

/** A group at its quick scale, as tests of Jest. */
export const testGroup = <Context>({ title, open, close, scenarios }: ScenarioGroup<Context>): void => {
  describe(title, () => {
    let context: Context;
    beforeAll(async () => {
      context = await open('quick');
    }, TIMEOUT_MS);
    afterAll(() => close(context), TIMEOUT_MS);
    for (const { name, run } of scenarios.filter(({ fullOnly }) => !fullOnly))
      it(name, async () => expect(await withSeed(() => run(context, 'quick'))).toBeTruthy(), TIMEOUT_MS);
  });
};
