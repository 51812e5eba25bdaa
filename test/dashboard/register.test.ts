import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { register as operation } from '../../lambda/dashboard/auth/operations.ts';
import { type RegisterDependencies, register } from '../../lambda/dashboard/auth/register.ts';
import type { Account, NewAccount } from '../../lambda/data/accounts/accounts.ts';
import { EmailTakenError, InvalidCredentialsError } from '../../lambda/domain/errors.ts';
import { route } from '../../lambda/http/operation.ts';
import type { DirectoryUser } from '../../lambda/integrations/user-directory.ts';
import { invoke, refusedWith, serve, silentLogger } from '../http/invoke.ts';

const now = new Date('2026-11-20T12:00:00Z');

/** Directory and table in memory. The steps in `breaks` fail before or after their effect. */
const world = (registration: RegisterDependencies['registration'] = 'open') => {
  const users = new Map<string, DirectoryUser & { email: string; password?: string }>();
  const accounts = new Map<string, Account>();
  const registrations: NewAccount[] = [];
  const codes: object[] = [];
  let ids = 0;
  const breaks = new Map<string, 'before' | 'after'>();
  const step = async <T>(name: string, work: () => T): Promise<T> => {
    if (breaks.get(name) === 'before') throw new Error(`${name} broke`);
    const result = work();
    if (breaks.get(name) === 'after') throw new Error(`${name} broke`);
    return result;
  };
  const byEmail = (email: string) => [...users.values()].find((user) => user.email === email);
  const dependencies: RegisterDependencies = {
    registration,
    directory: {
      createUser: ({ email, accountId }) =>
        step('createUser', () => {
          if (byEmail(email)) throw new EmailTakenError('taken');
          const userId = `user-${++ids}`;
          users.set(userId, { userId, email, accountId, createdAt: now, hasTotp: false });
          return userId;
        }),
      setPassword: (userId, password) =>
        step('setPassword', () => void Object.assign(users.get(userId)!, { password })),
      deleteUser: (userId) => step('deleteUser', () => void users.delete(userId)),
      findByEmail: async (email) => byEmail(email),
    },
    sessions: {
      logIn: (email, password) =>
        step('logIn', () => {
          const user = byEmail(email);
          if (user?.password !== password) throw new InvalidCredentialsError();
          return { userId: user?.userId ?? '', token: 't', refreshToken: 'r', expiresIn: 3600, authTime: 0 };
        }),
    },
    accounts: {
      create: (registration) =>
        step('create', () => {
          registrations.push(registration);
          accounts.set(registration.account.accountId, registration.account);
        }),
      rollBack: ({ account }) => step('rollBack', () => void accounts.delete(account.accountId)),
    },
    users: {
      find: async (userId) =>
        registrations.find(({ user, account }) => user.userId === userId && accounts.has(account.accountId))?.user,
    },
    newId: () => `id-${++ids}`,
    newAccountKey: () => `svc_${ids}`,
    sendCode: (user, email) => step('sendCode', () => void codes.push({ ...user, email })),
    now: () => now,
    logger,
  };
  const handler = serve([route(operation, register(dependencies))]);
  return { users, accounts, registrations, codes, breaks, handler, byEmail };
};

const logger = silentLogger();
beforeEach(() => {
  jest.clearAllMocks();
});

const body = { email: ' Ada@Example.COM ', password: 'correct horse 1', firstName: 'Ada', lastName: 'Lovelace' };
const post = (handler: unknown, change: object = {}) =>
  invoke(handler, { method: 'POST', path: '/api/auth/register', body: { ...body, ...change } });

describe('register', () => {
  it.each(['', '  '])('takes %j as no company', async (companyName) => {
    const { handler, registrations } = world();
    expect((await post(handler, { companyName })).status).toBe(201);
    expect(registrations).toMatchObject([{ user: { companyName: null } }]);
  });

  it('creates user, account and key, and returns a session', async () => {
    const { handler, registrations } = world();
    const response = await post(handler, { companyName: 'Analytical Engines' });
    expect(response).toMatchObject({
      status: 201,
      body: { accountId: 'svc_1', userId: 'user-2', token: 't', refreshToken: 'r', expiresIn: 3600 },
    });
    const [accountId, userId, createdAt] = ['id-1', 'user-2', now.toISOString()];
    const account = {
      accountId,
      accountKey: 'svc_1',
      status: 'active',
      plan: 'FREE',
      billingStatus: 'ACTIVE',
      ownerUserId: userId,
      activeKeys: 1,
      createdAt,
    };
    const user = {
      userId,
      accountId,
      role: 'owner',
      email: 'ada@example.com',
      emailVerifiedAt: null,
      firstName: 'Ada',
      lastName: 'Lovelace',
      companyName: 'Analytical Engines',
      createdAt,
    };
    expect(registrations).toEqual([{ account, user, keyId: 'id-3' }]);
  });

  it.each(['invite', 'closed'] as const)('creates nothing while registration is %s', async (registration) => {
    const { handler, users, accounts } = world(registration);
    expect(await post(handler)).toMatchObject(refusedWith(403, 'REGISTRATION_CLOSED'));
    expect([users.size, accounts.size]).toEqual([0, 0]);
  });

  it('mails a code to the address, and works without it', async () => {
    const { handler, codes, breaks } = world();
    expect((await post(handler)).status).toBe(201);
    expect(codes).toEqual([{ userId: 'user-2', accountId: 'id-1', email: 'ada@example.com' }]);
    breaks.set('sendCode', 'before');
    expect((await post(handler, { email: 'bob@example.com' })).status).toBe(201);
    expect(logger.error).toHaveBeenCalledWith('verification code not sent', expect.anything());
  });

  it.each([
    ['setPassword', 'before'],
    ['setPassword', 'after'],
    ['create', 'before'],
    ['create', 'after'],
    ['logIn', 'before'],
    ['logIn', 'after'],
  ] as const)('leaves nothing behind when %s fails %s its effect, and the next attempt works', async (name, when) => {
    const { handler, users, accounts, breaks } = world();
    breaks.set(name, when);
    expect((await post(handler)).status).toBe(500);
    expect([users.size, accounts.size]).toEqual([0, 0]);
    breaks.clear();
    expect((await post(handler)).status).toBe(201);
  });

  it('logs a failed rollback, and cleans up on a later attempt', async () => {
    const { handler, users, accounts, breaks, byEmail } = world();
    breaks.set('create', 'before').set('deleteUser', 'before');
    expect((await post(handler)).status).toBe(500);
    expect(users.size).toBe(1);
    expect(logger.error).toHaveBeenCalledWith(
      'registration not rolled back',
      expect.objectContaining({ what: 'user', userId: 'user-2' }),
    );
    breaks.clear();
    // A user this new may belong to another registration in progress.
    expect(await post(handler)).toMatchObject(refusedWith(409, 'CONFLICT'));
    Object.assign(byEmail('ada@example.com')!, { createdAt: new Date(now.getTime() - 61_000) });
    expect((await post(handler)).status).toBe(201);
    expect([users.size, accounts.size]).toEqual([1, 1]);
  });

  it.each([
    ['short', '1234 ab'],
    ['letters alone', 'abcdefghij'],
    ['no letter', '1234567890'],
    ['a space at the end', 'correct horse '],
    ['too long', `a1${'x'.repeat(255)}`],
  ])('refuses a password with %s and explains', async (_, password) => {
    const { handler, users } = world();
    const response = await post(handler, { password });
    expect(response).toMatchObject(refusedWith(400, 'VALIDATION_ERROR'));
    expect(response.body.error.details[0]).toEqual({ path: 'password', message: expect.stringMatching(/characters/i) });
    expect(response.text).not.toContain(password);
    expect(users.size).toBe(0);
  });

  it('rejects a name with a line break', async () => {
    expect((await post(world().handler, { firstName: 'Ada\r\nBcc: x' })).status).toBe(400);
  });

  it('registers completely or not at all, whichever steps fail in whichever attempts', async () => {
    const steps = ['createUser', 'setPassword', 'create', 'logIn', 'rollBack', 'deleteUser'] as const;
    const failure = fc.tuple(fc.constantFrom(...steps), fc.constantFrom('before' as const, 'after' as const));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(failure, { maxLength: 3 }), { maxLength: 4 }), async (tries) => {
        const { handler, users, accounts, breaks } = world();
        for (const failures of tries) {
          for (const [name, when] of failures) breaks.set(name, when);
          await post(handler);
          breaks.clear();
          for (const user of users.values()) Object.assign(user, { createdAt: new Date(now.getTime() - 61_000) });
        }
        const last = await post(handler);
        // Either the last attempt registers, or an earlier one did completely and its response was lost.
        expect([201, 409]).toContain(last.status);
        expect(users.size).toBe(1);
        const [user] = users.values();
        expect(accounts.has(user?.accountId ?? '')).toBe(true);
        expect(user?.password).toBe(body.password);
      }),
    );
  });
});
