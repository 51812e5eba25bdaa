import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { withSeed } from '../seed.ts';
import type { ScenarioGroup } from './scenario.ts';

/** A group at its quick scale, as tests of Jest. */
export const testGroup = <Context>({ title, timeoutMs, open, close, scenarios }: ScenarioGroup<Context>): void => {
  describe(title, () => {
    let context: Context;
    beforeAll(async () => {
      context = await open('quick');
    }, timeoutMs);
    afterAll(() => close(context), timeoutMs);
    for (const { name, run } of scenarios.filter(({ fullOnly }) => !fullOnly))
      it(name, async () => expect(await withSeed(() => run(context, 'quick'))).toBeTruthy(), timeoutMs);
  });
};
