import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Table } from '../../lambda/data/table/table.ts';
import { moveToAccountIds, removePlainKeys } from '../../ops/migrate/account-ids.ts';
import { SetupError } from '../setup-error.ts';

/** Counts the changes of what is stored that need a migration. */
const VERSION = '2';

const versionOf = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return undefined;
  }
};

/**
 * Brings the data of an older version up to date. Nothing else writes to the table yet.
 *
 * @throws SetupError where an item cannot be moved
 */
export const bringUpToDate = async (dataDir: string, table: Table): Promise<void> => {
  const file = join(dataDir, 'version');
  if (versionOf(file) === VERSION) return;
  const { conflicts } = await moveToAccountIds(table, { dryRun: false });
  if (conflicts.length > 0)
    throw new SetupError(`The data in ${dataDir} could not be migrated: start with another folder (--data).`);
  await removePlainKeys(table, { dryRun: false });
  writeFileSync(file, VERSION);
};
