import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { SetupError } from './setup-error.ts';

/** Another process held the lock for the whole time. */
export class LockedError extends Error {
  override readonly name = 'LockedError';
}

/** @see https://www.sqlite.org/rescode.html#busy */
const SQLITE_BUSY = 5;

/**
 * Locks a file for this process. The lock is SQLite's, which the operating system drops when the process ends, however it ends.
 * Node has no lock of its own. proper-lockfile 4.1.2 keeps the lock for 2 s after kill -9 (this one: 1 ms), and lets a second
 * process in while the first stands still for longer than that.
 *
 * @returns what releases it
 * @throws LockedError after `patienceMs`, during which the process is blocked; SetupError where waiting does not help, as on a full disk
 */
export const lockFile = (file: string, patienceMs: number): (() => void) => {
  mkdirSync(dirname(file), { recursive: true });
  const lock = new DatabaseSync(file, { timeout: patienceMs });
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    const { errcode, message } = error as Error & { readonly errcode?: number };
    if (errcode === SQLITE_BUSY) throw new LockedError(`${file} is locked.`);
    throw new SetupError(`${file} cannot be locked: ${message}`);
  }
  return () => lock.close();
};
