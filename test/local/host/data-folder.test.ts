import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { openDataFolder, requireOwnLayout } from '../../../local/host/data-folder.ts';
import { tableForTests } from '../../table-for-tests.ts';

const parent = tmpdir();

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

describe('a data folder that cannot be used', () => {
  const problemOf = (path: string): unknown => {
    try {
      openDataFolder(path).release();
      return undefined;
    } catch (error) {
      return error;
    }
  };
  const unusable = (message: RegExp) =>
    expect.objectContaining({ name: 'SetupError', message: expect.stringMatching(message) });

  it('because it is a file is an error of one line', () => {
    const path = join(parent, 'a-file');
    writeFileSync(path, '');
    expect(problemOf(path)).toEqual(unusable(/^The data folder cannot be used \(ENOTDIR: .*a-file.*--data\.$/));
  });

  it('because the system has no folders there is one, too, at once', () => {
    const module = join(import.meta.dirname, '../../../local/host/data-folder.ts');
    const script = `import { openDataFolder } from ${JSON.stringify(module)}; openDataFolder('/proc/x');`;
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
      encoding: 'utf8',
      timeout: 20_000,
      killSignal: 'SIGKILL',
    });
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringContaining('SetupError: The data folder cannot be used (ENOENT: '),
    });
  });

  it('because its lock cannot be written, as on a full disk, is not called in use', () => {
    const path = join(parent, 'full');
    mkdirSync(join(path, 'lock.sqlite-journal'), { recursive: true });
    expect(problemOf(path)).toEqual(
      unusable(/^The data folder cannot be used \(.*lock\.sqlite cannot be locked: .*--data\.$/),
    );
  });
});

describe('the layout of the data', () => {
  const table = tableForTests();
  const newFolder = () => mkdtempSync(join(parent, 'layout-'));

  it('is marked in a new folder, which is accepted when it has data', async () => {
    const folder = newFolder();
    await requireOwnLayout(folder, table);
    expect(readFileSync(join(folder, 'version'), 'utf8')).toBe('2');
    await table.call('PutItem', { TableName: table.name, Item: { pk: 'KEY#hash', sk: 'META' } });
    await requireOwnLayout(folder, table);
  });

  it('of 0.1, which has no mark, is refused with what to do', async () => {
    await table.call('PutItem', { TableName: table.name, Item: { pk: 'KEY#svc_1', sk: 'META' } });
    await expect(requireOwnLayout(newFolder(), table)).rejects.toThrow(/of another version.*--data.*CHANGELOG\.md/);
  });

  it('of a later version is refused', async () => {
    const folder = newFolder();
    writeFileSync(join(folder, 'version'), '3');
    await expect(requireOwnLayout(folder, table)).rejects.toThrow(/of another version/);
  });
});
