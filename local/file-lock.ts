import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Somebody else holds the lock, and went on holding it. */
export class LockedError extends Error {
  override readonly name = 'LockedError';
}

/**
 * Holds a file for this process alone. The lock is SQLite's: the operating system drops it when the process ends, however
 * it ends, and Node has no lock of its own.
 *
 * @returns what releases it
 * @throws LockedError after `patienceMs`, all of which blocks the process
 */
export const lockFile = (file: string, patienceMs: number): (() => void) => {
  mkdirSync(dirname(file), { recursive: true });
  const lock = new DatabaseSync(file, { timeout: patienceMs });
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch {
    lock.close();
    throw new LockedError(`${file} is locked.`);
  }
  return () => lock.close();
};
