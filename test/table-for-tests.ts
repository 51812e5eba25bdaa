import { afterAll, beforeAll } from '@jest/globals';
import { emulatedTable } from '../fixtures/emulated-table.ts';

/** What the tests of this file share, or of the `describe` that calls this: there as soon as hooks and tests run, and stopped after them. */
export const forTests = <T extends { stop(): Promise<void> }>(start: () => Promise<T>): T => {
  const shared = {} as T;
  beforeAll(async () => {
    Object.assign(shared, await start());
  });
  afterAll(() => shared.stop?.());
  return shared;
};

/** An empty table. */
export const tableForTests = () => forTests(emulatedTable);
