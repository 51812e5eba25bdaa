import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { openDataFolder } from '../../../local/host/data-folder.ts';

const parent = mkdtempSync(join(tmpdir(), 'data-folder-'));
afterAll(() => rmSync(parent, { recursive: true, force: true }));

it('a data folder is for its owner alone: it holds passwords, mails and secrets', () => {
  const folder = openDataFolder(join(parent, '.data'));
  try {
    expect(statSync(folder.path).mode & 0o077).toBe(0);
  } finally {
    folder.release();
  }
});
