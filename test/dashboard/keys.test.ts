import { randomBytes } from 'node:crypto';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { uuidv7 } from 'uuidv7';
import { emulatedTable } from '../../fixtures/emulated-table.ts';
import { createKey, listKeys, revokeKey } from '../../lambda/dashboard/keys/manage-keys.ts';
import * as operations from '../../lambda/dashboard/keys/operations.ts';
import { openAccounts } from '../../lambda/data/accounts/accounts.ts';
import { openServiceKeys } from '../../lambda/data/accounts/service-keys.ts';
import { serviceKeyKey } from '../../lambda/data/table/keys.ts';
import { isWellFormedAccountKey, newAccountKey, serviceKeyHash } from '../../lambda/domain/accounts/account-key.ts';
import { httpStack } from '../../lambda/http/http-stack.ts';
import { route } from '../../lambda/http/operation.ts';
import { newAccount } from '../data/new-account.ts';
import { invoke, membershipOf, silentLogger } from '../http/invoke.ts';

let table: Awaited<ReturnType<typeof emulatedTable>>;
let handler: unknown;

beforeAll(async () => {
  table = await emulatedTable();
  const dependencies = {
    keys: openServiceKeys(table),
    accounts: openAccounts(table),
    newAccountKey: () => newAccountKey(randomBytes),
    newKeyId: uuidv7,
    now: () => new Date('2026-11-20T16:30:00.000Z'),
  };
  handler = httpStack(
    [
      route(operations.listKeys, listKeys(dependencies)),
      route(operations.createKey, createKey(dependencies)),
      route(operations.revokeKey, revokeKey(dependencies)),
    ],
    { logger: silentLogger(), corsOrigins: [], membershipOf },
  );
});
afterAll(() => table.stop());

const admitted = async (serviceKey: string) =>
  (await table.client.send(new GetCommand({ TableName: table.name, Key: serviceKeyKey(serviceKeyHash(serviceKey)) })))
    .Item;

const asCaller = (caller: { accountId: string; userId: string }) => ({
  list: async () => (await invoke(handler, { method: 'GET', path: '/api/keys', caller })).body,
  create: (name: string) => invoke(handler, { method: 'POST', path: '/api/keys', body: { name }, caller }),
  revoke: (keyId: string, force?: string) =>
    invoke(handler, {
      method: 'DELETE',
      path: `/api/keys/${keyId}`,
      caller,
      ...(force && { query: { force: [force] } }),
    }),
});

describe('keys', () => {
  it('lists the account key first, masked', async () => {
    const account = await newAccount(table);
    expect(await asCaller(account).list()).toEqual({
      items: [
        {
          id: account.keyId,
          name: 'default',
          maskedKey: `${account.accountKey.slice(0, 8)}…${account.accountKey.slice(-4)}`,
          status: 'active',
          createdAt: '2026-11-01T00:00:00.000Z',
          revokedAt: null,
          lastUsedAt: null,
        },
      ],
      active: 1,
      limit: 2,
    });
  });

  it('creates a key that the gateway accepts, and shows it once', async () => {
    const account = await newAccount(table);
    const { list, create } = asCaller(account);
    const { status, body } = await create('batch jobs');
    expect(status).toBe(201);
    expect(isWellFormedAccountKey(body.key)).toBe(true);
    expect(await admitted(body.key)).toMatchObject({
      accountId: account.accountId,
      keyId: body.id,
      keyStatus: 'active',
      accountStatus: 'active',
    });
    expect(JSON.stringify(await list())).not.toContain(body.key);
  });

  it("enforces the plan's limit, also concurrently", async () => {
    const account = await newAccount(table, 'STARTER');
    const { list, create } = asCaller(account);
    const responses = await Promise.all(Array.from({ length: 8 }, (_, index) => create(`key ${index}`)));
    // Under contention a request may be asked to retry, but never exceeds the limit.
    expect(responses.every(({ status }) => [201, 409, 503].includes(status))).toBe(true);
    while ((await create('one more')).status === 201);
    expect(await list()).toMatchObject({ active: 5, limit: 5 });
    expect((await list()).items).toHaveLength(5);
    expect((await create('too many')).body.error.code).toBe('LIMIT_REACHED');
  });

  it('revokes a key permanently, and only once', async () => {
    const account = await newAccount(table);
    const { list, create, revoke } = asCaller(account);
    const { body } = await create('second');
    expect((await revoke(body.id)).status).toBe(204);
    expect(await admitted(body.key)).toMatchObject({ keyStatus: 'revoked' });
    expect((await revoke(body.id)).status).toBe(204);
    expect(await list()).toMatchObject({
      active: 1,
      items: [{ status: 'active' }, { id: body.id, status: 'revoked', revokedAt: '2026-11-20T16:30:00.000Z' }],
    });
  });

  it('keeps the last active key unless forced', async () => {
    const account = await newAccount(table);
    const { list, revoke } = asCaller(account);
    expect((await revoke(account.keyId)).body.error.code).toBe('CONFLICT');
    expect(await admitted(account.accountKey)).toMatchObject({ keyStatus: 'active' });
    expect((await revoke(account.keyId, 'true')).status).toBe(204);
    expect(await list()).toMatchObject({ active: 0 });
    expect(await admitted(account.accountKey)).toMatchObject({ keyStatus: 'revoked' });
  });

  it("does not find another account's key", async () => {
    const [mine, theirs] = [await newAccount(table), await newAccount(table)];
    expect(await asCaller(mine).revoke(theirs.keyId, 'true')).toMatchObject({ status: 404 });
    expect(await admitted(theirs.accountKey)).toMatchObject({ keyStatus: 'active' });
  });
});
