import { createHmac, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { copyFile, mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  AdminCreateUserCommand,
  AdminSetUserPasswordCommand,
  CognitoIdentityProviderClient,
} from '@aws-sdk/client-cognito-identity-provider';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { totpCode } from '../../fixtures/totp.ts';
import { openAccounts } from '../../lambda/data/accounts/accounts.ts';
import { openAddressCodes } from '../../lambda/data/accounts/address-codes.ts';
import { auditEntry, openAuditLog } from '../../lambda/data/accounts/audit-log.ts';
import { openMembership } from '../../lambda/data/accounts/membership.ts';
import { openUsers } from '../../lambda/data/accounts/users.ts';
import { update } from '../../lambda/data/table/actions.ts';
import { addressCodeKey, serviceKeyKey } from '../../lambda/data/table/keys.ts';
import { write } from '../../lambda/data/table/write.ts';
import { isWellFormedAccountKey, secretHash } from '../../lambda/domain/accounts/issued-secret.ts';
import { HOUR_MS } from '../../lambda/domain/calendar/units.ts';
import { UnauthenticatedError } from '../../lambda/domain/errors.ts';
import { requestSigner } from '../../lambda/gateway/aws/aws-json.ts';
import { LOCAL_REGION, startCognito } from '../../local/emulators/cognito.ts';
import { newKey } from '../data/new-account.ts';
import { invalidAt, invoke, refusedWith } from '../http/invoke.ts';
import { startDeployed } from './start-deployed.ts';

/** The deployed entry, with emulated Cognito and DynamoDB. */
let handler: unknown;
let deployed: Awaited<ReturnType<typeof startDeployed>>;
let { table, mail, cognito } = {} as typeof deployed;

beforeAll(async () => {
  deployed = await startDeployed();
  ({ table, mail, cognito } = deployed);
  handler = (await import('../../lambda/dashboard/functions/identity.ts')).handler;
});
afterAll(() => deployed.stop());

const password = 'correct horse 1';
const post = (path: string, body: unknown) => invoke(handler, { method: 'POST', path: `/api/auth/${path}`, body });
const me = (token: string) =>
  invoke(handler, { method: 'GET', path: '/api/auth/me', headers: { authorization: `Bearer ${token}` } });
const payloadOf = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
/** The claims of a token as API Gateway passes them to a handler. */
const claimsOf = (token: string) =>
  Object.fromEntries(Object.entries(payloadOf(token)).map(([name, value]) => [name, String(value)]));
/** Calls with a session's token, which the authorizer accepted. */
const as = (session: { token: string }, path: string, body?: unknown, method = 'POST') =>
  invoke(handler, { method, path: `/api/auth/${path}`, body, claims: claimsOf(session.token) });
const lettersTo = async (email: string) =>
  (await mail.inbox()).filter(({ destination }) => destination.to[0] === email);
/** The code that proves an address. */
const codeOf = (letter: Awaited<ReturnType<typeof lettersTo>>[number] | undefined) =>
  /^\d{4} \d{4}$/m.exec(letter?.body.text ?? '')?.[0] ?? '';
/** The code that a reset takes. */
const resetCode = async (email: string) => {
  await post('forgot-password', { email });
  const letter = (await lettersTo(email)).find(({ subject }) => /confirmation|reset/i.test(subject));
  return /\d{4,}/.exec(letter?.body.text ?? '')?.[0];
};
const internalAccountId = async (userId: string) => (await openUsers(table).find(userId))?.accountId;
const newEmail = () => `${randomUUID()}@example.com`;
const register = async (email = newEmail()) => ({
  email,
  response: await post('register', { email, password, firstName: 'Ada', lastName: 'Lovelace' }),
});

describe('auth', () => {
  it('registers: the token works for /auth/me, and the gateway accepts the account key', async () => {
    const { email, response } = await register();
    expect(response.status).toBe(201);
    const { accountId, userId, token, expiresIn } = response.body;
    expect(isWellFormedAccountKey(accountId)).toBe(true);
    expect(expiresIn).toBe(3600);

    expect(await me(token)).toMatchObject({
      status: 200,
      body: {
        user: { userId, email, firstName: 'Ada', lastName: 'Lovelace', companyName: null },
        account: { accountId, status: 'active', plan: 'FREE', billingStatus: 'ACTIVE' },
      },
    });
    const { Items } = await table.call('Query', {
      TableName: table.name,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': serviceKeyKey(secretHash(accountId)).pk },
    });
    expect(JSON.stringify(payloadOf(token))).not.toContain(Items?.[0]?.['accountId']);
    // The account key is a credential: neither the token nor the key of an item contains it.
    expect(Buffer.from(token.split('.')[1], 'base64url').toString()).not.toContain(accountId);
    expect(Items).toEqual([
      {
        ...serviceKeyKey(secretHash(accountId)),
        accountId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        keyId: expect.any(String),
        keyStatus: 'active',
        accountStatus: 'active',
        // Access rules may name the key's project and the role of its owner.
        projectId: 'default',
        ownerRole: 'owner',
      },
    ]);
  });

  it('rejects an e-mail that is already registered', async () => {
    const { email } = await register();
    expect((await register(email.toUpperCase())).response).toMatchObject(refusedWith(409, 'EMAIL_TAKEN'));
  });

  it('logs in with an address in any case', async () => {
    const { email, response } = await register();
    const login = await post('login', { email: ` ${email.toUpperCase()} `, password });
    expect(login).toMatchObject({
      status: 200,
      body: { accountId: response.body.accountId, userId: response.body.userId, expiresIn: 3600 },
    });
    expect((await me(login.body.token)).status).toBe(200);
  });

  it('gives the same response after the same time for an unknown e-mail and a wrong password', async () => {
    const { email } = await register();
    const timed = async (body: unknown) => {
      const startedMs = performance.now();
      const response = await post('login', body);
      return { response, tookMs: performance.now() - startedMs };
    };
    const wrong = await timed({ email, password: 'wrong horse 1' });
    const unknown = await timed({ email: newEmail(), password });
    expect(wrong.response).toMatchObject(refusedWith(401, 'INVALID_CREDENTIALS'));
    expect({ ...unknown.response.body.error, requestId: '' }).toEqual({ ...wrong.response.body.error, requestId: '' });
    for (const { tookMs } of [wrong, unknown]) expect(tookMs).toBeGreaterThanOrEqual(395);
  });

  it('has log-ins that failed, and changed names, in the audit log', async () => {
    const { email, response } = await register();
    const { token, userId } = response.body;
    await post('login', { email, password: 'wrong horse 1' });
    const names = { firstName: 'Grace', lastName: 'Hopper' };
    expect((await as({ token }, 'me', names, 'PATCH')).status).toBe(204);
    expect((await me(token)).body.user).toMatchObject(names);
    const accountId = (await internalAccountId(userId)) ?? '';
    const { items } = await openAuditLog(table).page(accountId, { from: '2026', to: '2100', limit: 2 });
    expect(items).toMatchObject([
      {
        action: 'user.name_changed',
        subject: userId,
        details: { name: 'Grace Hopper' },
        before: { name: 'Ada Lovelace' },
      },
      { action: 'user.sign_in_failed', subject: userId, actor: null },
    ]);
  });

  it('rejects a user who was created in the pool by hand, without an account', async () => {
    const email = newEmail();
    const pool = { UserPoolId: cognito.userPoolId, Username: email };
    const client = new CognitoIdentityProviderClient({});
    await client.send(new AdminCreateUserCommand({ ...pool, MessageAction: 'SUPPRESS' }));
    await client.send(new AdminSetUserPasswordCommand({ ...pool, Password: password, Permanent: true }));
    expect(await post('login', { email, password })).toMatchObject(refusedWith(401, 'INVALID_CREDENTIALS'));
  });

  it('exchanges a refresh token for a new token, and responds with 401 to an invalid one', async () => {
    const { response } = await register();
    const refreshed = await post('refresh', { refreshToken: response.body.refreshToken });
    expect(refreshed).toMatchObject({
      status: 200,
      body: { accountId: response.body.accountId, refreshToken: response.body.refreshToken },
    });
    expect((await me(refreshed.body.token)).status).toBe(200);
    expect(await post('refresh', { refreshToken: 'no such token' })).toMatchObject(refusedWith(401, 'UNAUTHORIZED'));
  });

  it('ends only the session that logs out, and does not reveal whether it existed', async () => {
    const { email, response } = await register();
    const elsewhere = await post('login', { email, password });
    const refreshed = async ({ body: { refreshToken } }: typeof response) =>
      (await post('refresh', { refreshToken })).status;
    expect((await post('logout', { refreshToken: response.body.refreshToken })).status).toBe(204);
    expect([await refreshed(response), await refreshed(elsewhere)]).toEqual([401, 200]);
    expect((await post('logout', { refreshToken: response.body.refreshToken })).status).toBe(204);
    expect((await post('logout', { refreshToken: 'no such token' })).status).toBe(204);
  });

  it('sets a new password with the code from the e-mail', async () => {
    const { email } = await register();
    const known = await post('forgot-password', { email: (await register()).email });
    const unknown = await post('forgot-password', { email: newEmail() });
    expect([known.status, unknown.status, known.text]).toEqual([202, 202, unknown.text]);
    const code = await resetCode(email);
    const newPassword = 'another horse 2';

    expect(await post('reset-password', { email, code: '000', newPassword })).toMatchObject(invalidAt('code'));
    const copied = `${code?.slice(0, 3)}\t${code?.slice(3)}`;
    expect((await post('reset-password', { email, code: copied, newPassword })).status).toBe(204);
    expect((await post('login', { email, password })).status).toBe(401);
    expect((await post('login', { email, password: newPassword })).status).toBe(200);
  });

  it('takes addresses that are as long as Cognito allows', async () => {
    const statusOf = async (characters: number) => {
      const labels = `${'a'.repeat(60)}.${randomUUID().slice(0, 8)}.example.com`;
      const email = `${'b'.repeat(characters - labels.length - 1)}@${labels}`;
      return (await register(email)).response.status;
    };
    expect([await statusOf(128), await statusOf(129)]).toEqual([201, 400]);
  });

  describe('the e-mail address', () => {
    const verifiedOf = async (token: string) => (await me(token)).body.user.emailVerified;

    it('gets one mail at registration, which has nothing of what the user wrote', async () => {
      const email = newEmail();
      const names = { firstName: 'Win', lastName: 'https://evil.example', companyName: 'A prize for you' };
      const { body } = await post('register', { email, password, ...names });
      const letters = await lettersTo(email);
      expect(letters.map(({ subject }) => subject)).toEqual(['Your verification code']);
      const text = `${letters[0]?.body.text}${letters[0]?.body.html}`;
      for (const word of [...Object.values(names), email]) expect(text).not.toContain(word);
      expect(await verifiedOf(body.token)).toBe(false);
    });

    it('is verified by the code, in the session of the user who got it, once', async () => {
      const { email, response } = await register();
      const other = await register();
      const code = codeOf((await lettersTo(email))[0]);
      expect(await as(other.response.body, 'verify-email', { code })).toMatchObject(invalidAt('code'));
      expect((await as(response.body, 'verify-email', { code })).status).toBe(204);
      expect(await verifiedOf(response.body.token)).toBe(true);
      expect(await verifiedOf(other.response.body.token)).toBe(false);
      expect((await as(response.body, 'verify-email', { code })).status).toBe(400);
      expect(await as(response.body, 'verification-codes')).toMatchObject(refusedWith(409, 'CONFLICT'));
    });

    it('is not verified by guesses: after five, the right code is wrong, too', async () => {
      const { email, response } = await register();
      const code = codeOf((await lettersTo(email))[0]);
      const wrong = code.startsWith('0') ? '10000000' : '00000000';
      for (let guess = 0; guess < 5; guess++)
        expect((await as(response.body, 'verify-email', { code: wrong })).status).toBe(400);
      expect((await as(response.body, 'verify-email', { code })).status).toBe(400);
      expect(await verifiedOf(response.body.token)).toBe(false);
    });

    it('gets no second code within a minute', async () => {
      const { email, response } = await register();
      expect(await as(response.body, 'verification-codes')).toMatchObject(refusedWith(429, 'RATE_LIMITED'));
      expect(await lettersTo(email)).toHaveLength(1);
    });
  });

  describe('a second factor', () => {
    const enabled = async () => {
      const { email, response } = await register();
      const { secret, uri } = (await post('totp', { email, password })).body;
      expect(uri).toBe(
        `otpauth://totp/AI%20Spend%20Gateway%3A${encodeURIComponent(email)}?secret=${secret}&issuer=AI+Spend+Gateway`,
      );
      const code = () => totpCode(secret, Date.now());
      expect((await post('totp/confirm', { email, password, totp: code() })).status).toBe(204);
      return { email, session: response.body, code };
    };
    const wrongOf = (code: string) => (code.startsWith('0') ? '100000' : '000000');

    it('is asked for once it is confirmed, after the password', async () => {
      const { email, session, code } = await enabled();
      expect((await me(session.token)).body.user.totpEnabled).toBe(true);
      expect(await post('login', { email, password })).toMatchObject(refusedWith(401, 'TOTP_REQUIRED'));
      const wrong = { email, password, totp: wrongOf(code()) };
      expect(await post('login', wrong)).toMatchObject(refusedWith(401, 'TOTP_REQUIRED'));
      const guess = { email, password: 'wrong horse 1', totp: code() };
      expect(await post('login', guess)).toMatchObject(refusedWith(401, 'INVALID_CREDENTIALS'));
      const accountId = (await internalAccountId(session.userId)) ?? '';
      const { items } = await openAuditLog(table).page(accountId, { from: '2026', to: '2100', limit: 10 });
      // The wrong code and the wrong password, and not the step before the code.
      expect(items.filter(({ action }) => action === 'user.sign_in_failed')).toHaveLength(2);
      const login = await post('login', { email, password, totp: code() });
      expect(login).toMatchObject({ status: 200, body: { userId: session.userId } });
      expect((await me(login.body.token)).status).toBe(200);
      expect((await post('refresh', { refreshToken: login.body.refreshToken })).status).toBe(200);
    });

    it('is not asked for before it is confirmed with the right code', async () => {
      const { email } = await register();
      const { secret } = (await post('totp', { email, password })).body;
      const wrong = wrongOf(totpCode(secret, Date.now()));
      expect(await post('totp/confirm', { email, password, totp: wrong })).toMatchObject(invalidAt('totp'));
      expect((await post('login', { email, password })).status).toBe(200);
    });

    it('is replaced or turned off by nobody who has the password alone', async () => {
      const { email, code } = await enabled();
      expect(await post('totp', { email, password })).toMatchObject(refusedWith(409, 'CONFLICT'));
      const wrong = { email, password, totp: wrongOf(code()) };
      expect(await post('totp/remove', wrong)).toMatchObject(refusedWith(401, 'TOTP_REQUIRED'));
      expect(await post('totp/confirm', wrong)).toMatchObject(refusedWith(409, 'CONFLICT'));
      expect((await post('totp/remove', { email, password, totp: code() })).status).toBe(204);
      expect((await post('login', { email, password })).status).toBe(200);
    });

    it('survives a password reset', async () => {
      const { email, code } = await enabled();
      const reset = await resetCode(email);
      const newPassword = 'another horse 2';
      expect((await post('reset-password', { email, code: reset, newPassword })).status).toBe(204);
      expect(await post('login', { email, password: newPassword })).toMatchObject(refusedWith(401, 'TOTP_REQUIRED'));
      expect((await post('login', { email, password: newPassword, totp: code() })).status).toBe(200);
    });

    it('that the account requires is set up before there is a session', async () => {
      const { email, response } = await register();
      const accountId = (await internalAccountId(response.body.userId)) ?? '';
      const audit = auditEntry(accountId, {}, { action: 'settings.changed' }, new Date());
      await openAccounts(table).setRequiresTotp(true, audit);
      const refused = await post('login', { email, password });
      expect(refused).toMatchObject(refusedWith(403, 'TOTP_SETUP_REQUIRED'));
      expect(await post('refresh', { refreshToken: response.body.refreshToken })).toMatchObject({ status: 401 });
      const { secret } = (await post('totp', { email, password })).body;
      const now = Date.now();
      const totp = totpCode(secret, now);
      expect((await post('totp/confirm', { email, password, totp })).status).toBe(204);
      expect((await post('login', { email, password, totp })).status).toBe(200);
      const next = totpCode(secret, now + 30_000);
      expect(await post('totp/remove', { email, password, totp: next })).toMatchObject(refusedWith(409, 'CONFLICT'));
    });
  });

  it('refuses a new password that is easy to guess, and lets an old one in', async () => {
    const email = newEmail();
    const names = { firstName: 'Ada', lastName: 'Lovelace' };
    expect(await post('register', { email, ...names, password: 'password1234' })).toMatchObject(
      invalidAt('password', 'too easy to guess'),
    );
    expect((await register(email)).response.status).toBe(201);
    const old = { UserPoolId: cognito.userPoolId, Username: email, Password: 'old-pw-1', Permanent: true };
    await new CognitoIdentityProviderClient({}).send(new AdminSetUserPasswordCommand(old));
    expect((await post('login', { email, password: 'old-pw-1' })).status).toBe(200);
  });

  describe('a user', () => {
    it('changes the password with the old one, which ends every session', async () => {
      const { email, response } = await register();
      const newPassword = 'another horse 2';
      expect(await as(response.body, 'change-password', { password: 'wrong horse 1', newPassword })).toMatchObject(
        refusedWith(401, 'INVALID_CREDENTIALS'),
      );
      expect((await as(response.body, 'change-password', { password, newPassword: 'password1234' })).status).toBe(400);
      expect((await me(response.body.token)).status).toBe(200);
      expect((await as(response.body, 'change-password', { password, newPassword })).status).toBe(204);
      expect((await me(response.body.token)).status).toBe(401);
      expect((await post('refresh', { refreshToken: response.body.refreshToken })).status).toBe(401);
      expect((await post('login', { email, password })).status).toBe(401);
      expect((await post('login', { email, password: newPassword })).status).toBe(200);
      // Whose address it is was not proven.
      expect((await lettersTo(email)).map(({ subject }) => subject)).not.toContain('Your password was changed');
    });

    it('changes the address with the password and the code from the new one, which ends every session', async () => {
      const { email: former, response } = await register();
      const session = response.body;
      const code = async (address: string) => codeOf((await lettersTo(address)).at(-1));
      await as(session, 'verify-email', { code: await code(former) });
      // A minute between two codes.
      await write(
        table,
        update(addressCodeKey(session.userId), 'SET issuedAtMs = :before', null, { before: Date.now() - 61_000 }),
      );
      const email = newEmail();
      expect((await as(session, 'change-email', { email, password: 'wrong horse 1' })).status).toBe(401);
      expect(await lettersTo(email)).toEqual([]);
      expect((await as(session, 'change-email', { email, password })).status).toBe(202);
      expect((await me(session.token)).body.user).toMatchObject({ email: former, emailVerified: true });
      expect((await post('login', { email, password })).status).toBe(401);

      expect((await as(session, 'verify-email', { code: await code(email) })).status).toBe(204);
      expect((await me(session.token)).status).toBe(401);
      expect((await post('refresh', { refreshToken: session.refreshToken })).status).toBe(401);
      expect((await post('login', { email: former, password })).status).toBe(401);
      const login = await post('login', { email, password });
      expect((await me(login.body.token)).body.user).toMatchObject({
        userId: session.userId,
        email,
        emailVerified: true,
      });
      for (const address of [former, email])
        expect((await lettersTo(address)).map(({ subject }) => subject)).toContain(
          'The address of your login was changed',
        );
    });

    it('gets an address by its code from a login that never proved it, and from no other', async () => {
      const { email: taken, response: other } = await register();
      const code = codeOf((await lettersTo(taken))[0]);
      const { response } = await register();
      const session = response.body;
      const { email: squatted, response: squatter } = await register();
      await openAddressCodes(table).issue(session.userId, squatted, '12345678', Date.now() + 61_000);
      expect((await as(session, 'verify-email', { code: '12345678' })).status).toBe(204);
      const again = (await post('login', { email: squatted, password })).body;
      expect(again.userId).toBe(session.userId);
      expect((await post('refresh', { refreshToken: squatter.body.refreshToken })).status).toBe(401);
      expect((await me(squatter.body.token)).status).toBe(401);
      // The mail says how the other login is called now: it has its account still.
      const letter = (await lettersTo(squatted)).find(({ subject }) => subject.startsWith('A login that never proved'));
      const placeholder = /^\S+@unproven\.invalid$/m.exec(letter?.body.text ?? '')?.[0];
      expect((await post('login', { email: placeholder, password })).body).toMatchObject({
        userId: squatter.body.userId,
        accountId: squatter.body.accountId,
      });

      expect((await as(other.body, 'verify-email', { code })).status).toBe(204);
      await openAddressCodes(table).issue(session.userId, taken, '12345678', Date.now() + 122_000);
      expect(await as(again, 'verify-email', { code: '12345678' })).toMatchObject(refusedWith(409, 'EMAIL_TAKEN'));
      expect((await me(again.token)).body.user.email).not.toBe(taken);
    });

    it('requires a second factor of the account only with an own one', async () => {
      const { response } = await register();
      const body = { requiresTotp: true, password };
      expect((await as(response.body, 'account', { ...body, requiresTotp: false }, 'PATCH')).status).toBe(204);
      expect(await as(response.body, 'account', body, 'PATCH')).toMatchObject({ status: 409 });
      await openUsers(table).setTotp(response.body.userId, true);
      expect((await as(response.body, 'account', body, 'PATCH')).status).toBe(204);
    });

    it('changes what protects the account with the password and the code; it is on record, and the owner gets a mail', async () => {
      const { email, response } = await register();
      const session = response.body;
      const accountId = (await internalAccountId(session.userId)) ?? '';
      await openUsers(table).verifyEmail({ ...session, accountId }, email, new Date().toISOString());
      const { secret } = (await post('totp', { email, password })).body;
      const now = Date.now();
      const totp = totpCode(secret, now);
      await post('totp/confirm', { email, password, totp });
      const change = (body: object) => as(session, 'account', { requiresTotp: true, ...body }, 'PATCH');
      const subject = 'A setting that protects your account was changed';
      const letters = async () => (await lettersTo(email)).filter((letter) => letter.subject === subject);

      expect(await change({})).toMatchObject(invalidAt('password', 'Send your password.'));
      expect(await change({ password: 'wrong horse 1', totp })).toMatchObject({ status: 401 });
      expect(await change({ password })).toMatchObject(refusedWith(401, 'TOTP_REQUIRED'));
      expect((await me(session.token)).body.account.requiresTotp).toBe(false);
      expect(await letters()).toEqual([]);

      expect((await change({ password, totp })).status).toBe(204);
      expect((await me(session.token)).body.account.requiresTotp).toBe(true);
      expect((await change({ requiresTotp: false, password, totp: totpCode(secret, now + 30_000) })).status).toBe(204);
      const { items } = await openAuditLog(table).page(accountId, { from: '2026', to: '2100', limit: 2 });
      expect(items).toMatchObject([
        { action: 'settings.changed', details: { requiresTotp: 'false' }, before: { requiresTotp: 'true' } },
        { action: 'settings.changed', details: { requiresTotp: 'true' }, before: { requiresTotp: 'false' } },
      ]);
      expect(items[0]?.actor).toEqual({ userId: session.userId, name: email });
      expect((await letters()).map(({ body }) => body.text)).toEqual([
        expect.stringContaining('is now required of every member'),
        expect.stringContaining('is no longer required of members'),
      ]);
    });
  });

  describe('a stolen session', () => {
    it('is worth nothing at Cognito’s own API, which asks for the secret of the app client', async () => {
      const { email, response } = await register();
      const { refreshToken } = response.body;
      const ClientId = cognito.clientId;
      const refused = expect.objectContaining({ __type: 'NotAuthorizedException' });
      const calls = [
        ['GetTokensFromRefreshToken', { ClientId, RefreshToken: refreshToken }],
        ['InitiateAuth', { ClientId, AuthFlow: 'REFRESH_TOKEN_AUTH', AuthParameters: { REFRESH_TOKEN: refreshToken } }],
        [
          'InitiateAuth',
          { ClientId, AuthFlow: 'USER_PASSWORD_AUTH', AuthParameters: { USERNAME: email, PASSWORD: password } },
        ],
        ['ForgotPassword', { ClientId, Username: email }],
      ] as const;
      for (const [action, body] of calls) expect(await cognitoCall(cognito.endpoint, action, body)).toEqual(refused);
      expect((await post('refresh', { refreshToken })).status).toBe(200);
    });

    it('has no access token, with which the user’s attributes could be changed', async () => {
      const { email } = await register();
      const { body } = await post('login', { email, password });
      expect(Object.keys(body).sort()).toEqual(['accountId', 'expiresIn', 'refreshToken', 'token', 'userId']);
      expect(payloadOf(body.token)['token_use']).toBe('id');
    });

    it('ends with a reset: its tokens, its refresh token, and what it made is listed', async () => {
      const { email } = await register();
      // Somebody else knows the password, signs in, and makes a key that outlives the reset.
      const thief = (await post('login', { email, password })).body;
      const accountId = (await internalAccountId(thief.userId)) ?? '';
      await newKey(table, accountId, { keyId: 'key-of-thief', createdAt: new Date().toISOString() });
      expect((await me(thief.token)).status).toBe(200);
      expect((await as(thief, 'review', undefined, 'GET')).body).toEqual({ since: null, keys: [], tokens: [] });

      const other = (await register()).response.body;
      const code = await resetCode(email);
      expect((await post('reset-password', { email, code, newPassword: 'another horse 2' })).status).toBe(204);

      const owner = (await post('login', { email, password: 'another horse 2' })).body;
      expect((await me(thief.token)).status).toBe(401);
      const refreshed = await Promise.all(
        [thief, owner, other].map(({ refreshToken }) => post('refresh', { refreshToken })),
      );
      expect(refreshed.map(({ status }) => status)).toEqual([401, 200, 200]);
      // Another function knows of it, too, at the latest when its cache of a minute ends.
      const membership = openMembership(table, cognito.clientId);
      const tokenOf = ({ token }: { token: string }) => ({
        userId: owner.userId,
        audience: cognito.clientId,
        authTime: Number(claimsOf(token)['auth_time']),
      });
      await expect(membership.membershipOf(tokenOf(thief))).rejects.toThrow(UnauthenticatedError);
      expect(await membership.membershipOf(tokenOf(owner))).toMatchObject({ accountId, role: 'owner' });

      const { body: review } = await as(owner, 'review', undefined, 'GET');
      expect(review.keys).toEqual([expect.objectContaining({ id: 'key-of-thief', name: 'key' }), expect.anything()]);
      expect((await me(owner.token)).body.user).toMatchObject({ reviewSince: review.since, emailVerified: true });
      expect((await as(owner, 'review', undefined, 'DELETE')).status).toBe(204);
      expect((await as(owner, 'review', undefined, 'GET')).body).toEqual({ since: null, keys: [], tokens: [] });

      const notice = (await lettersTo(email)).find(({ subject }) => subject === 'Your password was reset');
      expect(notice?.body.text).toContain('https://app.example.com/review');
    });

    it('of another app client of the pool is refused, though the authorizer accepts its tokens', async () => {
      const { response } = await register();
      const claims = { ...claimsOf(response.body.token), aud: 'anotherclient0000000000001' };
      const call = { method: 'GET', path: '/api/auth/review' };
      expect((await invoke(handler, { ...call, claims: claimsOf(response.body.token) })).status).toBe(200);
      expect(await invoke(handler, { ...call, claims })).toMatchObject(refusedWith(401, 'UNAUTHORIZED'));
    });
  });

  describe('/auth/me responds with 401 UNAUTHORIZED', () => {
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    /** The parts of a new user's token. */
    const parts = async () => {
      const { response } = await register();
      const [header = '', payload = '', signature = ''] = response.body.token.split('.');
      const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
      return { header: decode(header), payload: decode(payload), raw: { header, payload, signature } };
    };
    /** By default signed with a key of this test. */
    const signed = (header: object, payload: object, key?: string) => {
      const privateKey = key ?? generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
      const content = `${encode(header)}.${encode(payload)}`;
      return `${content}.${sign('sha256', Buffer.from(content), privateKey).toString('base64url')}`;
    };
    const refused = async (token: string) =>
      expect(await me(token)).toMatchObject({
        status: 401,
        body: { error: { code: 'UNAUTHORIZED', type: 'gateway_error' } },
      });

    it('to no token, another scheme, and nonsense', async () => {
      const get = (headers: Record<string, string>) =>
        invoke(handler, { method: 'GET', path: '/api/auth/me', headers });
      for (const headers of [{}, { authorization: 'Basic abc' }, { authorization: 'Bearer' }]) {
        expect(await get(headers as Record<string, string>)).toMatchObject({ status: 401 });
      }
      await refused('a.b.c');
    });

    it('to alg none, and to HS256 with the public key as the secret', async () => {
      const { header, payload } = await parts();
      await refused(`${encode({ ...header, alg: 'none' })}.${encode(payload)}.`);
      await refused(signed({ ...header, alg: 'HS256' }, payload));
    });

    it('to a changed payload and to another key', async () => {
      const { header, payload, raw } = await parts();
      await refused(`${raw.header}.${encode({ ...payload, sub: 'another-user' })}.${raw.signature}`);
      await refused(signed(header, payload));
      await refused(signed({ ...header, kid: 'another' }, payload));
    });

    it('to an access token', async () => {
      const { email } = await register();
      const { AccessToken } = await accessToken(email);
      await refused(AccessToken);
    });

    it('to an expired token', async () => {
      const { header, payload } = await parts();
      const pem = await readFile(join(tmpdir(), SIGNING_KEY), 'utf8');
      const nowSeconds = Math.floor(Date.now() / 1000);
      expect((await me(signed(header, { ...payload, exp: nowSeconds + 60 }, pem))).status).toBe(200);
      await refused(signed(header, { ...payload, exp: nowSeconds - 60 }, pem));
    });

    it('to a token of another pool or another client', async () => {
      for (const other of [
        await startOther({ id: `${LOCAL_REGION}_Other0001`, clients: [{ id: cognito.clientId }] }),
        await startOther({ id: cognito.userPoolId, clients: [{ id: 'anotherclient0000000000001' }] }),
      ]) {
        await refused(other);
      }
    });
  });
});

const SIGNING_KEY = 'cognito-key.pem';

const cognitoCall = async (endpoint: string, action: string, input: object) => {
  const sign = requestSigner({
    name: 'cognito-idp',
    region: LOCAL_REGION,
    host: new URL(endpoint).host,
    contentType: 'application/x-amz-json-1.1',
  });
  const body = JSON.stringify(input);
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const headers = sign(`AWSCognitoIdentityProviderService.${action}`, body, credentials);
  return (await fetch(endpoint, { method: 'POST', headers, body })).json();
};

/** As whoever may read the app client does. */
const secretHashOf = async (endpoint: string, UserPoolId: string, ClientId: string, username: string) => {
  const { UserPoolClient } = (await cognitoCall(endpoint, 'DescribeUserPoolClient', { UserPoolId, ClientId })) as {
    UserPoolClient: { ClientSecret?: string };
  };
  return createHmac('sha256', UserPoolClient.ClientSecret ?? '')
    .update(username + ClientId)
    .digest('base64');
};

const logInTo = async (endpoint: string, UserPoolId: string, ClientId: string, USERNAME: string) => {
  const SECRET_HASH = await secretHashOf(endpoint, UserPoolId, ClientId, USERNAME);
  return (
    (await cognitoCall(endpoint, 'AdminInitiateAuth', {
      UserPoolId,
      ClientId,
      AuthFlow: 'ADMIN_USER_PASSWORD_AUTH',
      AuthParameters: { USERNAME, PASSWORD: password, SECRET_HASH },
    })) as { AuthenticationResult: { AccessToken: string; IdToken: string } }
  ).AuthenticationResult;
};

const accessToken = (email: string) => logInTo(cognito.endpoint, cognito.userPoolId, cognito.clientId, email);

/** An ID token of another pool or client, with a valid signature. */
const startOther = async (pool: { id: string; clients: [{ id: string }] }): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'other-'));
  await copyFile(join(tmpdir(), SIGNING_KEY), join(folder, SIGNING_KEY));
  const other = await startCognito({
    dataDir: folder,
    userPools: [{ ...pool, customAttributes: ['custom:accountId'] }],
  });
  try {
    const email = newEmail();
    const user = { UserPoolId: pool.id, Username: email };
    const UserAttributes = [{ Name: 'custom:accountId', Value: 'account-x' }];
    await cognitoCall(other.endpoint, 'AdminCreateUser', { ...user, MessageAction: 'SUPPRESS', UserAttributes });
    await cognitoCall(other.endpoint, 'AdminSetUserPassword', { ...user, Password: password, Permanent: true });
    return (await logInTo(other.endpoint, pool.id, pool.clients[0].id, email)).IdToken;
  } finally {
    await other.stop();
  }
};

describe('rate limits', () => {
  it('let five reset codes an hour go to an address, whether or not it has a user', async () => {
    const { email } = await register();
    const hour = () => Math.floor(Date.now() / HOUR_MS);
    for (const address of [email, newEmail()]) {
      const began = hour();
      let last = await post('forgot-password', { email: address });
      let sent = 0;
      for (; last.status === 202 && sent < 10; sent++)
        last = await post('forgot-password', { email: sent % 2 === 0 ? address.toUpperCase() : address });
      expect(last).toMatchObject(refusedWith(429, 'RATE_LIMITED'));
      expect(Number(last.headers['Retry-After'])).toBeGreaterThan(0);
      // An hour that ends meanwhile takes its count with it.
      if (hour() === began) expect(sent).toBe(5);
    }
  });
});
