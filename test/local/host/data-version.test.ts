import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newAccountKey } from '../../../lambda/domain/accounts/account-key.ts';
import { bringUpToDate } from '../../../local/host/data-version.ts';
import { tableForTests } from '../../table-for-tests.ts';

const table = tableForTests();
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'data-version-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

it('data of version 0.1 is migrated at the first start, and looked at no more', async () => {
  const key = newAccountKey((size) => new Uint8Array(size).fill(5));
  const Item = {
    pk: `KEY#${key}`,
    sk: 'META',
    accountId: key,
    keyId: 'k',
    keyStatus: 'active',
    accountStatus: 'active',
  };
  const put = () => table.call('PutItem', { TableName: table.name, Item });
  const items = async () => (await table.call('Scan', { TableName: table.name })).Items ?? [];

  await put();
  await bringUpToDate(folder, table);
  expect(JSON.stringify(await items())).not.toContain(key);
  expect(await readFile(join(folder, 'version'), 'utf8')).toBe('2');

  await put();
  await bringUpToDate(folder, table);
  expect(await items()).toHaveLength(2);
});
