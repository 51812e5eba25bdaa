import { type EmulatedTable, emulatedTable, tableAt } from '../../../fixtures/emulated-table.ts';
import { startFaultProxy } from '../harness/fault-proxy.ts';
import { type ItemLocks, itemLocks } from '../harness/item-locks.ts';
import type { Random } from '../random.ts';

interface ConflictingTable extends EmulatedTable, Pick<ItemLocks, 'conflicts'> {}

/** Creates the empty table in memory with its own emulator, behind a proxy: writes conflict as on AWS. */
export const conflictingTable = async (random: Random): Promise<ConflictingTable> => {
  const table = await emulatedTable();
  const proxy = await startFaultProxy(table.endpoint);
  const locks = itemLocks(random);
  proxy.fault = { kind: 'conflicts', locks };
  return {
    ...tableAt(proxy.endpoint, table.name),
    endpoint: proxy.endpoint,
    conflicts: locks.conflicts,
    stop: async () => {
      await proxy.close();
      await table.stop();
    },
  };
};
