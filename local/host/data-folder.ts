import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Table } from '../../lambda/data/table/table.ts';
import { writeFileAtomically } from '../emulators/atomic-file.ts';
import { LockedError, lockFile } from '../file-lock.ts';
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
  writeFileAtomically(file, VERSION);
};

/** A killed instance may take a moment to end. */
const PATIENCE_MS = 2_000;

/** The emulator of the user pool stores passwords in the clear; mails have reset codes. */
const OWNER_ALONE = 0o700;

/** Node's own `recursive` tries for ever where the system has no place for a folder, as below /proc. */
const makeFolder = (path: string): void => {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  mkdirSync(path, { mode: OWNER_ALONE });
};

/**
 * Locks the data folder for this process. A missing folder is made with access for this user only, and git ignores it wherever it is.
 *
 * @throws SetupError where another instance works on it, or nothing can be written there
 */
export const openDataFolder = (path: string) => {
  const logs = join(path, 'logs');
  const lock = join(path, 'lock.sqlite');
  const ignored = join(path, '.gitignore');
  // A folder that is not ours gets no .gitignore.
  const isOurs = !existsSync(path) || existsSync(lock);
  try {
    makeFolder(logs);
    if (isOurs && !existsSync(ignored)) writeFileSync(ignored, '*\n');
    return { path, logs, release: lockFile(lock, PATIENCE_MS) };
  } catch (error) {
    throw new SetupError(
      error instanceof LockedError
        ? `The data folder ${path} is in use by another instance: stop that one, or give this one another folder with --data.`
        : `The data folder cannot be used (${(error as Error).message}): give another one with --data.`,
    );
  }
};

export type DataFolder = ReturnType<typeof openDataFolder>;
