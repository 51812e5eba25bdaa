import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { createTable, type EmulatedTable, emulatedTable, tableAt } from '../fixtures/emulated-table.ts';

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

/** An empty table for each test, on one emulator: to start another takes longer than most tests. */
export const tableForEachTest = (): EmulatedTable => {
  const first = tableForTests();
  const table = {} as EmulatedTable;
  let tables = 0;
  beforeEach(async () => {
    const name = `table-${++tables}`;
    await createTable(first.endpoint, name);
    Object.assign(table, first, tableAt(first.endpoint, name));
  });
  return table;
};
