import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
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

it('a data folder inside a repository is never committed', () => {
  const git = (...args: string[]) => execFileSync('git', ['-C', parent, ...args], { encoding: 'utf8' });
  git('init', '--quiet');
  const folder = openDataFolder(join(parent, 'mine'));
  try {
    writeFileSync(join(folder.path, 'users.json'), '{"password":"in the clear"}');
    expect(git('status', '--porcelain', '--untracked-files=all', 'mine')).toBe('');
  } finally {
    folder.release();
  }
});

it('a folder with other things in it keeps what git sees of it', () => {
  const path = join(parent, 'theirs');
  mkdirSync(path);
  const folder = openDataFolder(path);
  try {
    expect(existsSync(join(path, '.gitignore'))).toBe(false);
  } finally {
    folder.release();
  }
});
