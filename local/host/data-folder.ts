import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LockedError, lockFile } from '../file-lock.ts';
import { SetupError } from '../setup-error.ts';

/** Another instance works on this data folder. */
class DataFolderInUseError extends SetupError {
  override readonly name = 'DataFolderInUseError';
}

export interface DataFolder {
  readonly path: string;
  readonly logs: string;
  release(): void;
}

/** A killed instance may take a moment to end. */
const PATIENCE_MS = 2_000;

/** The emulator of the user pool stores passwords in the clear; mails have reset codes. */
const OWNER_ALONE = 0o700;

/**
 * Locks the data folder for this process. A missing folder is made with access for this user only, and git ignores it wherever it is.
 *
 * @throws DataFolderInUseError
 */
export const openDataFolder = (path: string): DataFolder => {
  const logs = join(path, 'logs');
  const lock = join(path, 'lock.sqlite');
  const ignored = join(path, '.gitignore');
  // Not in somebody else's folder.
  const isOurs = !existsSync(path) || existsSync(lock);
  mkdirSync(logs, { recursive: true, mode: OWNER_ALONE });
  if (isOurs && !existsSync(ignored)) writeFileSync(ignored, '*\n');
  try {
    return { path, logs, release: lockFile(lock, PATIENCE_MS) };
  } catch (error) {
    if (!(error instanceof LockedError)) throw error;
    throw new DataFolderInUseError(
      `The data folder ${path} is in use by another instance: stop that one, or give this one another folder with --data.`,
    );
  }
};
