import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Table } from '../../lambda/data/table/table.ts';
import { SetupError } from '../setup-error.ts';

/** The layout of the table: 2 has internal account ids. Version 0.1 of the product had another layout and wrote no such file. */
const VERSION = '2';

const versionOf = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return undefined;
  }
};

/**
 * Marks a new data folder with the layout of its table.
 *
 * @throws SetupError where the table has data of another layout, which would be read as empty
 */
export const requireOwnLayout = async (dataDir: string, table: Table): Promise<void> => {
  const file = join(dataDir, 'version');
  const version = versionOf(file);
  if (version === VERSION) return;
  const { Items = [] } = await table.call('Scan', { TableName: table.name, Limit: 1 });
  if (version !== undefined || Items.length > 0)
    throw new SetupError(
      `The data in ${dataDir} is of another version, which this one cannot read: start with another folder (--data). CHANGELOG.md says how to convert data of 0.1.`,
    );
  writeFileSync(file, VERSION);
};
