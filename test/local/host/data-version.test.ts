import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { requireOwnLayout } from '../../../local/host/data-version.ts';
import { tableForTests } from '../../table-for-tests.ts';

const table = tableForTests();
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'data-version-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

it('a new folder is marked, and accepted when it has data', async () => {
  await requireOwnLayout(folder, table);
  expect(await readFile(join(folder, 'version'), 'utf8')).toBe('2');
  await table.call('PutItem', { TableName: table.name, Item: { pk: 'KEY#hash', sk: 'META' } });
  await requireOwnLayout(folder, table);
});

it('data of 0.1, which has no mark, is refused with what to do', async () => {
  await table.call('PutItem', { TableName: table.name, Item: { pk: 'KEY#svc_1', sk: 'META' } });
  await expect(requireOwnLayout(folder, table)).rejects.toThrow(/of another version.*--data.*CHANGELOG\.md/);
});

it('data of a later version is refused', async () => {
  await writeFile(join(folder, 'version'), '3');
  await expect(requireOwnLayout(folder, table)).rejects.toThrow(/of another version/);
});
