import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { SetupError } from '../setup-error.ts';

/** Another instance works on this data folder. */
export class DataFolderInUseError extends SetupError {
  override readonly name = 'DataFolderInUseError';
}

export interface DataFolder {
  readonly path: string;
  readonly logs: string;
  release(): void;
}

/** An instance that was just killed needs a moment to be gone. */
const PATIENCE_MS = 2_000;

/**
 * Takes the data folder for this process alone, and makes it where it is missing. The lock is SQLite's on a file: the
 * operating system drops it when the process ends, however it ends, and Node has no lock of its own.
 *
 * @throws DataFolderInUseError
 */
export const openDataFolder = (path: string): DataFolder => {
  const logs = join(path, 'logs');
  mkdirSync(logs, { recursive: true });
  const lock = new DatabaseSync(join(path, 'lock.sqlite'), { timeout: PATIENCE_MS });
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch {
    lock.close();
    throw new DataFolderInUseError(
      `The data folder ${path} is in use by another instance: stop that one, or give this one another folder with --data.`,
    );
  }
  return { path, logs, release: () => lock.close() };
};
