import { randomBytes, randomUUID } from 'node:crypto';
import { AdminGetUserCommand, CognitoIdentityProviderClient } from '@aws-sdk/client-cognito-identity-provider';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openApiTokenUse } from '../../lambda/data/accounts/api-tokens.ts';
import { openAuditLog } from '../../lambda/data/accounts/audit-log.ts';
import { openUsers } from '../../lambda/data/accounts/users.ts';
import { update } from '../../lambda/data/table/actions.ts';
import { accountUserKey, apiTokenKey, userKey } from '../../lambda/data/table/keys.ts';
import { write } from '../../lambda/data/table/write.ts';
import { apiTokenEmail, newApiToken, secretHash } from '../../lambda/domain/accounts/issued-secret.ts';
import type { Role } from '../../lambda/domain/accounts/permissions.ts';
import { DAY_MS, MINUTE_MS } from '../../lambda/domain/calendar/units.ts';
import { newAccount } from '../data/new-account.ts';
import { collected } from '../http/collected.ts';
import { callAs, invoke, refusedWith } from '../http/invoke.ts';
import { startDeployed } from './start-deployed.ts';

/** The deployed entries, with emulated Cognito and DynamoDB. */
let tokens: unknown;
let machine: unknown;
let reading: unknown;
let settings: unknown;
let deployed: Awaited<ReturnType<typeof startDeployed>>;
let { table, cognito } = {} as typeof deployed;

beforeAll(async () => {
  deployed = await startDeployed();
  ({ table, cognito } = deployed);
  tokens = (await import('../../lambda/dashboard/functions/identity.ts')).handler;
  machine = collected((await import('../../lambda/dashboard/functions/machine.ts')).handler);
  reading = collected((await import('../../lambda/dashboard/functions/reading.ts')).handler);
  settings = (await import('../../lambda/dashboard/functions/settings.ts')).handler;
});
afterAll(() => deployed.stop());

type Caller = { readonly accountId: string; readonly userId: string };

const asCaller = (caller: Caller) => ({
  create: (body: unknown) => invoke(tokens, { method: 'POST', path: '/api/tokens', body, caller }),
  list: async () => (await invoke(tokens, { method: 'GET', path: '/api/tokens', caller })).body.items,
  remove: (id: string) => invoke(tokens, { method: 'DELETE', path: `/api/tokens/${id}`, caller }),
});

const newToken = async (account: Caller, role: Role = 'viewer') => {
  const { status, body } = await asCaller(account).create({ name: 'ci', role });
  expect(status).toBe(201);
  return body as { id: string; token: string };
};

const exchange = (form: Record<string, string>, headers: Record<string, string> = {}) =>
  invoke(tokens, {
    method: 'POST',
    path: '/api/auth/token',
    rawBody: new URLSearchParams(form).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  });

const grant = { grant_type: 'client_credentials' };
const basic = (id: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
});
const subjectOf = (jwt: string): string => JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString()).sub;
/** The caller that the API's authorizer finds in a JWT. */
const callerOf = (jwt: string) => ({ accountId: '', userId: subjectOf(jwt) });
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const machineSpend = (headers: Record<string, string>) =>
  invoke(machine, { method: 'GET', path: '/api/machine/spend', headers });

describe('API tokens', () => {
  it('are shown once, listed masked, and stored as a hash', async () => {
    const account = await newAccount(table);
    const { create, list } = asCaller(account);
    const { body } = await create({ name: 'nightly report', role: 'viewer', expiresInDays: 30 });
    expect(body).toEqual({
      id: expect.any(String),
      name: 'nightly report',
      maskedToken: `${body.token.slice(0, 8)}…${body.token.slice(-4)}`,
      role: 'viewer',
      projects: null,
      createdBy: account.userId,
      createdAt: expect.any(String),
      expiresAt: new Date(Date.parse(body.createdAt) + 30 * DAY_MS).toISOString(),
      lastUsedAt: null,
      token: expect.stringMatching(/^sat_/),
    });
    const { token, ...shown } = body;
    expect(await list()).toEqual([shown]);
    const { Items } = await table.call('Scan', { TableName: table.name });
    expect(JSON.stringify(Items)).not.toContain(token);
    expect(JSON.stringify(Items)).toContain(secretHash(token));
  });

  it('never have more permissions than their creator, and none is an owner', async () => {
    const account = await newAccount(table);
    for (const key of [userKey(account.userId), accountUserKey(account.accountId, account.userId)])
      await write(table, update(key, 'SET #role = :admin', null, { admin: 'admin' }));
    const { create } = asCaller(account);
    expect((await create({ name: 'x', role: 'admin' })).status).toBe(201);
    // An admin may not change the plan; the billing role may.
    expect(await create({ name: 'x', role: 'billing' })).toMatchObject(refusedWith(403, 'FORBIDDEN', 'billing:write'));
    expect((await create({ name: 'x', role: 'owner' })).status).toBe(400);
  });

  it('cannot create a lasting access: no token, member or login is changed with one', async () => {
    const { id, token } = await newToken(await newAccount(table), 'admin');
    const { body } = await exchange({ ...grant, client_id: id, client_secret: token });
    const program = asCaller(callerOf(body.access_token));
    expect(await program.create({ name: 'more', role: 'viewer' })).toMatchObject(
      refusedWith(403, 'FORBIDDEN', 'tokens:write'),
    );
    expect(await program.list()).toHaveLength(1);
  });

  it('are limited in number', async () => {
    const account = await newAccount(table);
    for (let i = 0; i < 100; i++) {
      const tokenId = String(i);
      const key = { pk: `ACCOUNT#${account.accountId}`, sk: `TOKEN#${tokenId}` };
      const change =
        'SET tokenId = :id, accountId = :a, #role = :r, userId = :id, validUntil = :at, #name = :id, tokenHash = :id, maskedToken = :id, createdBy = :id, createdAt = :at';
      const values = { id: tokenId, a: account.accountId, r: 'viewer', at: '2026-01-01' };
      await write(table, update(key, change, null, values));
    }
    expect((await asCaller(account).create({ name: 'x', role: 'viewer' })).body.error.code).toBe('LIMIT_REACHED');
  });

  it('leave nothing behind when they are removed', async () => {
    const { accountId, userId } = await newAccount(table);
    const account = { accountId, userId };
    const { id } = await newToken(account);
    const { remove, list } = asCaller(account);
    expect((await remove(id)).status).toBe(204);
    expect((await remove(id)).status).toBe(404);
    expect(await list()).toEqual([]);
    const { Items } = await table.call('Scan', { TableName: table.name });
    // The audit log keeps what happened.
    expect(JSON.stringify(Items?.filter(({ pk }) => !pk.endsWith('#AUDIT')))).not.toContain(id);
    const client = new CognitoIdentityProviderClient({ endpoint: cognito.endpoint });
    await expect(
      client.send(new AdminGetUserCommand({ UserPoolId: cognito.userPoolId, Username: apiTokenEmail(id) })),
    ).rejects.toMatchObject({ name: 'UserNotFoundException' });
  });
});

describe('POST /auth/token', () => {
  it.each([
    ['in the form', (id: string, token: string) => exchange({ ...grant, client_id: id, client_secret: token })],
    ['by HTTP Basic', (id: string, token: string) => exchange(grant, basic(id, token))],
    [
      'by HTTP Basic, with the id in the form, too',
      (id: string, token: string) => exchange({ ...grant, client_id: id }, basic(id, token)),
    ],
    [
      'with parameters we do not know',
      (id: string, token: string) => exchange({ ...grant, audience: 'x', scope: '' }, basic(id, token)),
    ],
  ])('issues a JWT with the role of the token: %s', async (_, send) => {
    const account = await newAccount(table);
    const { id, token } = await newToken(account);
    const { status, headers, body } = await send(id, token);
    expect(status).toBe(200);
    expect(headers).toMatchObject({ 'Cache-Control': 'no-store' });
    expect(body).toEqual({ access_token: expect.any(String), token_type: 'Bearer', expires_in: 3600 });
    const caller = callerOf(body.access_token);
    expect((await invoke(reading, { method: 'GET', path: '/api/spend', caller })).status).toBe(200);
    expect((await invoke(settings, { method: 'GET', path: '/api/keys', caller })).body.items[0].id).toBe(account.keyId);
    expect((await invoke(settings, { method: 'POST', path: '/api/keys', body: { name: 'x' }, caller })).status).toBe(
      403,
    );
    expect((await asCaller(account).list())[0].lastUsedAt).toEqual(expect.any(String));
    const { items } = await openAuditLog(table).page(account.accountId, { from: '2026', to: '2100', limit: 1 });
    expect(items).toMatchObject([{ action: 'token.exchanged', subject: id, actor: { name: 'ci' } }]);
  });

  it('issues a JWT that changes nothing once the token is removed, also where its rights are cached', async () => {
    const account = await newAccount(table);
    const { id, token } = await newToken(account, 'member');
    const { body } = await exchange(grant, basic(id, token));
    const program = callAs(settings, callerOf(body.access_token));
    const create = async (name: string) => (await program('POST', '/keys', { name })).status;
    expect(await create('x')).toBe(201);
    await asCaller(account).remove(id);
    expect(await create('y')).toBe(401);
  });

  it('refuses wrong credentials as RFC 6749 says', async () => {
    const account = await newAccount(table);
    const [one, other] = [await newToken(account), await newToken(account)];
    const refused = async (id: string, secret: string) => {
      for (const response of [
        await exchange({ ...grant, client_id: id, client_secret: secret }),
        await exchange(grant, basic(id, secret)),
      ]) {
        expect(response).toMatchObject({
          status: 401,
          headers: { 'WWW-Authenticate': expect.stringMatching(/^Basic /), Pragma: 'no-cache' },
          body: {
            error: 'invalid_client',
            error_description: expect.stringMatching(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/),
          },
        });
        expect(response.text).not.toContain(secret);
      }
    };
    await refused(one.id, other.token);
    await refused('no-such-id', one.token);
    await refused(one.id, newApiToken(randomBytes));
    await refused(one.id, 'guessed');
  });

  it.each([
    [{}, {}, 400, 'invalid_request'],
    [{ grant_type: 'password' }, {}, 400, 'unsupported_grant_type'],
    [{ grant_type: 'authorization_code', code: 'x' }, {}, 400, 'invalid_grant'],
    [{ ...grant, scope: 'spend' }, basic('a', 'b'), 400, 'invalid_scope'],
    [grant, {}, 401, 'invalid_client'],
    [{ ...grant, client_id: 'a' }, {}, 401, 'invalid_client'],
    [{ ...grant, client_secret: 'b' }, basic('a', 'b'), 400, 'invalid_request'],
    [{ ...grant, client_id: 'c' }, basic('a', 'b'), 400, 'invalid_request'],
    [grant, { authorization: 'Bearer x' }, 401, 'invalid_client'],
    [grant, { authorization: 'Basic ???' }, 401, 'invalid_client'],
    [{ ...grant, client_id: 'x'.repeat(5000) }, {}, 400, 'invalid_request'],
    [grant, { 'content-type': 'application/json' }, 400, 'invalid_request'],
  ])('responds to %j with %j by %i %s', async (form, headers, status, error) => {
    expect(await exchange(form, headers)).toMatchObject({ status, body: { error } });
  });

  it('refuses a parameter that is sent twice, and a body that is too large', async () => {
    const send = (rawBody: string) =>
      invoke(tokens, {
        method: 'POST',
        path: '/api/auth/token',
        rawBody,
        headers: { 'Content-Type': 'application/x-www-form-urlencoded; charset=utf-8' },
      });
    for (const body of ['grant_type=client_credentials&grant_type=x', `grant_type=${'x'.repeat(70_000)}`]) {
      expect(await send(body)).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    }
  });

  it('ends with the token: no further JWT, and those issued lose their account', async () => {
    const account = await newAccount(table);
    const { id, token } = await newToken(account);
    const { body } = await exchange(grant, basic(id, token));
    await asCaller(account).remove(id);
    // This process still has the token in its cache.
    expect(await exchange(grant, basic(id, token))).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
    expect(await openUsers(table).find(subjectOf(body.access_token))).toBeUndefined();
  });
});

describe('paths for machines', () => {
  it('take the token itself, and only that', async () => {
    const account = await newAccount(table);
    const { id, token } = await newToken(account);
    const { body } = await exchange(grant, basic(id, token));
    expect((await machineSpend(bearer(token))).body.totals).toMatchObject({ requests: 0 });
    for (const headers of [{}, bearer(body.access_token), bearer(newApiToken(randomBytes)), basic(id, token)])
      expect(await machineSpend(headers as Record<string, string>)).toMatchObject({
        status: 401,
        body: { error: { code: 'UNAUTHORIZED', message: expect.stringMatching(/API token/) } },
      });
  });
});

describe('the use of API tokens', () => {
  it('ends within a minute of removal, and at the expiry', async () => {
    const account = await newAccount(table);
    const { id, token } = await newToken(account);
    let nowMs = Date.now();
    const realNow = Date.now;
    Date.now = () => nowMs;
    try {
      const { ownerOf } = openApiTokenUse(table, () => nowMs);
      const owner = { tokenId: id, accountId: account.accountId, role: 'viewer' };
      expect(await ownerOf(token)).toMatchObject(owner);
      await asCaller(account).remove(id);
      nowMs += MINUTE_MS;
      expect(await ownerOf(token)).toBeUndefined();

      const second = await newToken(account);
      expect(await ownerOf(second.token)).toMatchObject({ tokenId: second.id });
      nowMs += 365 * DAY_MS + MINUTE_MS;
      expect(await ownerOf(second.token)).toBeUndefined();
    } finally {
      Date.now = realNow;
    }
  });

  it("takes a token's JWT its account when the token expires", async () => {
    const userId = randomUUID();
    const put = (validUntil: string) =>
      write(
        table,
        update(
          userKey(userId),
          'SET userId = :u, accountId = :u, email = :u, firstName = :u, lastName = :u, companyName = :null, createdAt = :u, tokenId = :u, validUntil = :until',
          null,
          { u: userId, null: null, until: validUntil },
        ),
      );
    await put(new Date(Date.now() + 60_000).toISOString());
    expect(await openUsers(table).find(userId)).toMatchObject({ tokenId: userId });
    await put(new Date(Date.now() - 1).toISOString());
    expect(await openUsers(table).find(userId)).toBeUndefined();
  });

  it('is noted at most every five minutes', async () => {
    const account = await newAccount(table);
    const { token } = await newToken(account);
    let nowMs = Date.parse('2026-11-20T16:00:00Z');
    const { ownerOf } = openApiTokenUse(table, () => nowMs);
    const lastUse = async () => (await asCaller(account).list())[0].lastUsedAt;
    await ownerOf(token);
    nowMs += 4 * MINUTE_MS;
    await ownerOf(token);
    expect(await lastUse()).toBe('2026-11-20T16:00:00.000Z');
    nowMs += 2 * MINUTE_MS;
    await ownerOf(token);
    expect(await lastUse()).toBe('2026-11-20T16:06:00.000Z');
    expect(apiTokenKey(secretHash(token)).pk).not.toContain(token);
  });
});
