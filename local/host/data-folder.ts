import { mkdirSync } from 'node:fs';
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

/** An instance that was just killed needs a moment to be gone. */
const PATIENCE_MS = 2_000;

/** The user pool's emulator keeps passwords as they are; mails have reset codes. */
const OWNER_ALONE = 0o700;

/**
 * Takes the data folder for this process alone, and makes it, for this user alone, where it is missing.
 *
 * @throws DataFolderInUseError
 */
export const openDataFolder = (path: string): DataFolder => {
  const logs = join(path, 'logs');
  mkdirSync(logs, { recursive: true, mode: OWNER_ALONE });
  try {
    return { path, logs, release: lockFile(join(path, 'lock.sqlite'), PATIENCE_MS) };
  } catch (error) {
    if (!(error instanceof LockedError)) throw error;
    throw new DataFolderInUseError(
      `The data folder ${path} is in use by another instance: stop that one, or give this one another folder with --data.`,
    );
  }
};
