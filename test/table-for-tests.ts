import { afterAll, beforeAll } from '@jest/globals';
import { type EmulatedTable, emulatedTable } from '../fixtures/emulated-table.ts';

/** The empty table for the tests of this file, or of the `describe` that calls this: there as soon as hooks and tests run. */
export const tableForTests = (): EmulatedTable => {
  const table = {} as EmulatedTable;
  beforeAll(async () => {
    Object.assign(table, await emulatedTable());
  });
  afterAll(() => table.stop());
  return table;
};
