import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Another process held the lock for the whole time. */
export class LockedError extends Error {
  override readonly name = 'LockedError';
}

/**
 * Locks a file for this process. The lock is SQLite's, which the operating system drops when the process ends, however it ends.
 * Node has no lock of its own. proper-lockfile 4.1.2 keeps the lock for 2 s after kill -9 (this one: 1 ms), and lets a second
 * process in while the first stands still for longer than that.
 *
 * @returns what releases it
 * @throws LockedError after `patienceMs`, during which the process is blocked
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
