import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ScenarioGroup } from './scenario.ts';

const SLOW_MS = 60_000;

/** A group at its quick scale, as tests of Jest. */
export const testGroup = <Context>({ title, open, close, scenarios }: ScenarioGroup<Context>): void => {
  describe(title, () => {
    let context: Context;
    beforeAll(async () => {
      context = await open('quick');
    }, SLOW_MS);
    afterAll(() => close(context), SLOW_MS);
    for (const { name, run } of scenarios.filter(({ fullOnly }) => !fullOnly))
      it(name, async () => expect(await run(context, 'quick')).toBeTruthy(), SLOW_MS);
  });
};
