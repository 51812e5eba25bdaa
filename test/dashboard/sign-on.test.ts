import { createHash, generateKeyPairSync, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { raceTable } from '../../fixtures/intercept-table.ts';
import { listen, urlOf } from '../../fixtures/listen.ts';
import { authorize, startSignOnProvider } from '../../fixtures/sign-on-provider.ts';
import { openAuditLog } from '../../lambda/data/accounts/audit-log.ts';
import { openMembers } from '../../lambda/data/accounts/members.ts';
import { openSignOns } from '../../lambda/data/accounts/sign-ons.ts';
import { openUsers } from '../../lambda/data/accounts/users.ts';
import { update } from '../../lambda/data/table/actions.ts';
import { accountKey, userKey } from '../../lambda/data/table/keys.ts';
import type { Table } from '../../lambda/data/table/table.ts';
import { write } from '../../lambda/data/table/write.ts';
import { InvalidCredentialsError } from '../../lambda/domain/errors.ts';
import type { OutgoingMail } from '../../lambda/integrations/mail-sender.ts';
import type { LinkIdentity } from '../../lambda/integrations/sign-on.ts';
import { authorizeUrl, codeExchange, linkTokenReader, type SignedOn } from '../../lambda/integrations/sign-on.ts';
import type { UserDirectory } from '../../lambda/integrations/user-directory.ts';
import { newAccount, newUnverifiedAccount } from '../data/new-account.ts';
import { APP_CLIENT_ID, invalidAt, invoke, refusedWith } from '../http/invoke.ts';
import { tableForTests } from '../table-for-tests.ts';
import { identityApi } from './open-identity.ts';

const NOW = new Date('2026-11-20T16:30:00.500Z');
const NOW_SECONDS = Math.floor(NOW.getTime() / 1000);

const table = tableForTests();
let handler: unknown;
/** The person who signs in next. */
let person: SignedOn;
let signedInAtSeconds: number;
let now: Date;
const findByEmail = jest.fn<UserDirectory['findByEmail']>();
const linkIdentity = jest.fn<LinkIdentity>();
const deleteUser = jest.fn<UserDirectory['deleteUser']>();
const changeEmail = jest.fn<UserDirectory['changeEmail']>();
const endedSessions: string[] = [];
const loginOf = (userId: string) => ({ userId, accountId: undefined, createdAt: NOW, hasTotp: false });

const mails: OutgoingMail[] = [];
const providers: Record<string, { domains: string[]; verifiesAddresses: boolean }> = {};

/** Who comes with a code: `person`, or whom a provider says. */
let exchange: ReturnType<typeof codeExchange> = async () => person;
const readLinkToken = async () => ({ ...person, userId: person.session.userId });
const session = (userId: string) => ({
  userId,
  token: 't',
  refreshToken: 'r',
  expiresIn: 3600,
  authTime: signedInAtSeconds,
});
let passwordUser: string;

const open = (over: Table) =>
  identityApi(over, {
    providers,
    sessions: {
      logIn: async (email: string, password: string) => {
        if (password !== 'x') throw new InvalidCredentialsError();
        return session(email.includes('@') ? passwordUser : email);
      },
      refresh: async () => session(passwordUser),
      endSessions: async (userId: string) => void endedSessions.push(userId),
    },
    directory: { findByEmail, deleteUser, changeEmail },
    sendMail: async (mail) => void mails.push(mail),
    urlOf: (provider) => `https://pool.example/${provider}`,
    exchange: (...code) => exchange(...code),
    readLinkToken,
    linkIdentity,
    clock: { nowMs: () => 0, pause: async () => {} },
    now: () => now,
  });
beforeEach(() => {
  handler = open(table);
  findByEmail.mockReset().mockResolvedValue(undefined);
  for (const mock of [linkIdentity, deleteUser, changeEmail]) mock.mockReset().mockResolvedValue();
  endedSessions.length = 0;
  signedInAtSeconds = NOW_SECONDS - 60;
  now = NOW;
});

/** An account whose owner's address is in a domain of its own, for which there is a provider. */
const newCompany = async () => {
  const account = await newAccount(table);
  const name = `P${randomUUID().slice(0, 8)}`;
  const domain = `${name.toLowerCase()}.example`;
  providers[name] = { domains: [domain], verifiesAddresses: false };
  const email = `ada@${domain}`;
  await openUsers(table).verifyEmail(account, email, NOW.toISOString());
  const { accountId, userId } = account;
  const caller = { accountId, userId, role: 'owner' as const };
  const claims = { sub: userId, aud: APP_CLIENT_ID, auth_time: String(NOW_SECONDS - 3_600) };
  return {
    ...account,
    name,
    domain,
    email,
    read: async () => (await invoke(handler, { method: 'GET', path: '/api/sign-on', caller })).body,
    change: (body: object) =>
      invoke(handler, { method: 'PATCH', path: '/api/sign-on', caller, claims, body: { password: 'x', ...body } }),
    person: (email = `grace.${randomUUID().slice(0, 6)}@${domain}`): SignedOn => ({
      session: session(randomUUID()),
      provider: name,
      subject: '0042',
      username: `${name}_0042`,
      email,
      isEmailVerified: true,
      firstName: 'Grace',
      lastName: 'Hopper',
    }),
  };
};

/** A company that uses its provider. */
const usingCompany = async (settings: object = {}) => {
  const company = await newCompany();
  await company.change({ provider: company.name, ...settings });
  return company;
};

const signIn = async (as: SignedOn) => {
  person = as;
  const body = { code: 'code', codeVerifier: 'v'.repeat(43) };
  return invoke(handler, { method: 'POST', path: '/api/auth/sign-on', body });
};

/** Answers to the first response that a member's login gets. */
const link = (body: object) =>
  invoke(handler, { method: 'POST', path: '/api/auth/sign-on/link', body: { linkToken: 't', ...body } });

const findFor = async (email: string) =>
  (await invoke(handler, { method: 'GET', path: '/api/auth/sign-on', query: { email: [email] } })).body;

describe('finding the identity provider', () => {
  it('goes by the domain of the address alone', async () => {
    const { name, domain } = await newCompany();
    expect(await findFor(`Nobody@${domain.toUpperCase()}`)).toEqual({ authorizeUrl: `https://pool.example/${name}` });
    for (const email of ['a@elsewhere.example', `a@sub.${domain}`, `${domain}@elsewhere.example`])
      expect(await findFor(email)).toEqual({ authorizeUrl: null });
  });
});

describe('signing in', () => {
  it('makes a person a member the first time, with the default role, and the same one again later', async () => {
    const company = await usingCompany({ defaultRole: 'member' });
    const grace = company.person();
    const { status, body } = await signIn(grace);
    expect([status, body.userId, body.token]).toEqual([200, grace.session.userId, 't']);
    expect(await openUsers(table).find(grace.session.userId)).toMatchObject({
      accountId: company.accountId,
      email: grace.email,
      role: 'member',
      firstName: 'Grace',
      emailVerifiedAt: NOW.toISOString(),
    });
    await company.change({ defaultRole: 'viewer' });
    expect((await signIn(grace)).status).toBe(200);
    const members = await openMembers(table).list(company.accountId);
    expect(members.map(({ email, role }) => [email, role])).toContainEqual([grace.email, 'member']);
    expect(members).toHaveLength(2);
  });

  it('makes nobody a member by settings that changed in the meantime', async () => {
    const company = await usingCompany({ defaultRole: 'admin' });
    const raced = raceTable(table, () => company.change({ defaultRole: 'viewer' }));
    handler = open(raced);
    expect((await signIn(company.person())).status).toBe(409);
  });

  it('makes developers of the default projects, if the owner says so', async () => {
    const company = await newCompany();
    const settings = { provider: company.name, defaultRole: 'developer', defaultProjects: ['default'] };
    expect((await company.change(settings)).body).toMatchObject(settings);
    const grace = company.person();
    expect((await signIn(grace)).status).toBe(200);
    const joined = { role: 'developer', projects: ['default'] };
    expect(await openUsers(table).find(grace.session.userId)).toMatchObject(joined);
    // Limits of each member find them here.
    expect(await openMembers(table).list(company.accountId)).toContainEqual(expect.objectContaining(joined));
    expect((await company.change({ defaultProjects: ['no-such'] })).status).toBe(400);
    // A role of the whole account has no projects.
    expect((await company.change({ defaultRole: 'admin' })).status).toBe(400);
    expect((await company.change({ defaultRole: 'admin', defaultProjects: null })).status).toBe(200);
  });

  it('is refused where no account uses the provider, or not any more', async () => {
    const company = await newCompany();
    const grace = company.person();
    expect(await signIn(grace)).toMatchObject(refusedWith(403, 'FORBIDDEN', /No account uses/));
    await company.change({ provider: company.name });
    expect((await signIn(grace)).status).toBe(200);
    await company.change({ provider: null });
    expect((await signIn(grace)).status).toBe(403);
    expect((await signIn(company.person())).status).toBe(403);
  });

  it('is refused for an address that the provider does not vouch for', async () => {
    const [company, other] = [await usingCompany(), await usingCompany()];
    for (const email of [`x@${other.domain}`, 'x@elsewhere.example', `x@sub.${company.domain}`])
      expect((await signIn(company.person(email))).status).toBe(403);
  });

  it("connects a member's login with the provider once its password is sent, on record and with a mail", async () => {
    const company = await usingCompany();
    mails.length = 0;
    findByEmail.mockResolvedValue(loginOf(company.userId));
    const ada = company.person(company.email);
    const { status, body } = await signIn(ada);
    expect([status, body]).toEqual([200, { email: company.email, linkToken: 't' }]);
    expect((await link({ password: 'wrong' })).status).toBe(401);
    expect(linkIdentity).not.toHaveBeenCalled();
    expect(deleteUser).not.toHaveBeenCalled();

    const own = { userId: company.userId, accountId: company.accountKey };
    expect(await link({ password: 'x' })).toMatchObject({ status: 200, body: own });
    // Cognito connects only people whom it does not know.
    expect(deleteUser).toHaveBeenCalledWith(`${company.name}_0042`);
    const identity = expect.objectContaining({ provider: company.name, subject: '0042' });
    expect(linkIdentity).toHaveBeenCalledWith(company.userId, identity);
    const subject = 'Your login was connected with an identity provider';
    expect(mails).toMatchObject([{ to: [company.email], subject }]);
    // From then on the tokens are the member's.
    person = { ...ada, session: session(company.userId) };
    expect((await link({ password: 'x' })).status).toBe(409);
    expect((await signIn(person)).body).toMatchObject(own);
    expect(await openMembers(table).list(company.accountId)).toHaveLength(1);
    expect(await openUsers(table).find(company.userId)).toMatchObject({ lastSignInAt: NOW.toISOString() });
    const { items } = await openAuditLog(table).page(company.accountId, { from: '2026', to: '2027', limit: 3 });
    expect(items.map(({ action, actor, details }) => [action, actor?.userId, details]).sort()).toEqual([
      ['user.identity_linked', company.userId, { provider: company.name }],
      ['user.signed_in', company.userId, {}],
      ['user.signed_in', company.userId, {}],
    ]);
    // The login has an address of its own.
    findByEmail.mockResolvedValue(undefined);
    await signIn({ ...person, username: company.userId, email: `lovelace@${company.domain}` });
    expect(await openUsers(table).find(company.userId)).toMatchObject({ email: company.email });
  });

  it('lets nobody join or connect whose address the provider does not call verified', async () => {
    const company = await usingCompany();
    const grace = { ...company.person(), isEmailVerified: false };
    const refused = refusedWith(403, 'FORBIDDEN', 'address is verified');
    expect(await signIn(grace)).toMatchObject(refused);
    findByEmail.mockResolvedValue(loginOf(company.userId));
    expect(await signIn({ ...grace, email: company.email })).toMatchObject(refused);
    expect(await link({ password: 'x' })).toMatchObject(refused);
    expect(linkIdentity).not.toHaveBeenCalled();
    expect(await openMembers(table).list(company.accountId)).toHaveLength(1);
    // Whoever is connected already is known by the provider's id, not by the address.
    expect((await signIn({ ...grace, session: session(company.userId) })).status).toBe(200);
    findByEmail.mockResolvedValue(undefined);
    providers[company.name] = { domains: [company.domain], verifiesAddresses: true };
    expect((await signIn(grace)).status).toBe(200);
  });

  it('takes the address from a login that never proved it, and is not stopped by one without an account', async () => {
    const company = await usingCompany();
    const squatter = await newUnverifiedAccount(table);
    findByEmail.mockResolvedValueOnce(loginOf(squatter.userId));
    const grace = company.person();
    expect(await signIn(grace)).toMatchObject({ status: 200, body: { userId: grace.session.userId } });
    const left = await openUsers(table).find(squatter.userId);
    expect(left).toMatchObject({ accountId: squatter.accountId, email: expect.stringMatching(/@unproven\.invalid$/) });
    expect(changeEmail).toHaveBeenCalledWith(squatter.userId, left?.email ?? '');
    expect(endedSessions).toEqual([squatter.userId]);
    expect(await openMembers(table).list(squatter.accountId)).toHaveLength(1);
    expect(linkIdentity).not.toHaveBeenCalled();

    findByEmail.mockResolvedValueOnce(loginOf(randomUUID()));
    expect((await signIn(company.person())).status).toBe(200);
  });

  it('never takes over a login that is in another account', async () => {
    const [company, other] = [await usingCompany(), await newCompany()];
    const attacker = await newAccount(table);
    findByEmail.mockResolvedValue(loginOf(attacker.userId));
    expect((await signIn(company.person())).status).toBe(403);
    expect(linkIdentity).not.toHaveBeenCalled();
    // A member of the provider's account who is a user of another one, by the `sub` of the token.
    await other.change({ provider: other.name });
    const grace = company.person();
    findByEmail.mockResolvedValue(undefined);
    expect((await signIn(grace)).status).toBe(200);
    expect((await signIn({ ...other.person(), session: grace.session })).status).toBe(403);
  });
});

describe('the settings', () => {
  it('let an owner choose the provider of the own verified address, and no other', async () => {
    const [company, other] = [await newCompany(), await newCompany()];
    const defaults = { available: company.name, defaultRole: 'viewer', defaultProjects: null };
    expect(await company.read()).toEqual({ ...defaults, provider: null, domains: [], isRequired: false });
    for (const provider of [other.name, 'nonsense', 'constructor'])
      expect(await company.change({ provider })).toMatchObject(invalidAt('provider', `must be ${company.name}`));
    expect((await company.change({ isRequired: true })).status).toBe(400);
    expect((await company.change({})).status).toBe(400);
    expect((await company.change({ provider: company.name, defaultRole: 'owner' })).status).toBe(400);
    const chosen = { provider: company.name, isRequired: true };
    expect((await company.change(chosen)).body).toEqual({ ...defaults, ...chosen, domains: [company.domain] });
    expect((await company.change({ provider: null })).body).toMatchObject({ provider: null, isRequired: false });
  });

  it('change with the password alone; the change is on record, and the owner gets a mail', async () => {
    const company = await usingCompany({ isRequired: true });
    mails.length = 0;
    expect(await company.change({ isRequired: false, password: undefined })).toMatchObject(
      invalidAt('password', 'identity provider again'),
    );
    expect((await company.change({ isRequired: false, password: 'wrong' })).status).toBe(401);
    expect(await company.read()).toMatchObject({ isRequired: true });
    expect(mails).toEqual([]);

    expect((await company.change({ isRequired: false })).status).toBe(200);
    const { items } = await openAuditLog(table).page(company.accountId, { from: '2026', to: '2027', limit: 1 });
    const details = { signOn: company.name, defaultRole: 'viewer', isRequired: 'false' };
    expect(items).toMatchObject([{ action: 'settings.changed', details, before: { isRequired: 'true' } }]);
    expect(mails).toMatchObject([{ to: [company.email], text: expect.stringContaining('It is now: signOn: ') }]);
  });

  it('do not let an unverified address choose', async () => {
    const { name, ...company } = await newCompany();
    const TableName = table.name;
    const { Item } = await table.call('GetItem', { TableName, Key: userKey(company.userId) });
    await table.call('PutItem', { TableName, Item: { ...Item, emailVerifiedAt: null } });
    expect(await company.change({ provider: name })).toMatchObject(
      invalidAt('provider', 'can be chosen once your e-mail address is verified'),
    );
  });

  it('give a provider to one account only', async () => {
    const company = await usingCompany();
    const rival = await newAccount(table);
    await openUsers(table).verifyEmail(rival, `rival@${company.domain}`, NOW.toISOString());
    const { accountId, userId } = rival;
    const response = await invoke(handler, {
      method: 'PATCH',
      path: '/api/sign-on',
      caller: { accountId, userId, role: 'owner' },
      body: { provider: company.name, password: 'x' },
    });
    expect(response).toMatchObject(refusedWith(409, 'CONFLICT', /Another account/));
    await company.change({ provider: null });
    expect(await openSignOns(table).accountOf(company.name)).toBeUndefined();
  });
});

describe('required single sign-on', () => {
  const logInWithPassword = () =>
    invoke(handler, { method: 'POST', path: '/api/auth/login', body: { email: 'a@b.example', password: 'x' } });
  const refreshSession = () =>
    invoke(handler, { method: 'POST', path: '/api/auth/refresh', body: { refreshToken: 'r' } });

  it('refuses passwords, and ends sessions that began with one; the owner keeps the password', async () => {
    const company = await usingCompany({ defaultRole: 'admin' });
    const grace = company.person();
    await signIn(grace);
    passwordUser = grace.session.userId;
    expect([(await logInWithPassword()).status, (await refreshSession()).status]).toEqual([200, 200]);

    await company.change({ isRequired: true });
    expect(await logInWithPassword()).toMatchObject(refusedWith(403, 'FORBIDDEN', /single sign-on/));
    expect((await refreshSession()).status).toBe(401);
    // A session that begins now has begun at the provider.
    signedInAtSeconds = NOW_SECONDS;
    expect((await refreshSession()).status).toBe(200);
    now = new Date(NOW.getTime() + 60_000);
    await company.change({ defaultRole: 'viewer' });
    expect((await refreshSession()).status).toBe(200);
    passwordUser = company.userId;
    signedInAtSeconds = NOW_SECONDS - 60;
    expect([(await logInWithPassword()).status, (await refreshSession()).status]).toEqual([200, 200]);

    passwordUser = grace.session.userId;
    await company.change({ isRequired: false });
    expect((await logInWithPassword()).status).toBe(200);
    await write(table, update(accountKey(company.accountId), 'SET requiresTotp = :yes', null, { yes: true }));
    // The session may have begun at the provider.
    expect([(await logInWithPassword()).status, (await refreshSession()).status]).toEqual([403, 200]);
  });
});

describe('the exchange of a code', () => {
  const verifier = 'v'.repeat(43);
  const client = {
    issuer: 'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Local0001',
    clientId: 'client',
    clientSecret: 'secret',
    redirectUri: 'http://localhost/sign-in/callback',
    signingKey: generateKeyPairSync('rsa', { modulusLength: 2_048 })
      .privateKey.export({ type: 'pkcs8', format: 'pem' })
      .toString(),
  };

  it('gives the person of the ID token, by the code flow with PKCE, for the verifier alone, and once', async () => {
    const provider = await startSignOnProvider('Acme');
    provider.open(client);
    try {
      const endpoint = { origin: provider.origin, ...client, clientSecret: async () => client.clientSecret };
      const url = new URL(authorizeUrl(endpoint, 'Acme'));
      url.searchParams.set('state', 'abc');
      url.searchParams.set('code_challenge', createHash('sha256').update(verifier).digest('base64url'));
      url.searchParams.set('code_challenge_method', 'S256');
      const begin = async () => {
        const back = await authorize(url.href, client.redirectUri, 'grace@acme.example');
        expect(back.get('state')).toBe('abc');
        return back.get('code') ?? '';
      };
      const finish = codeExchange(endpoint);
      const code = await begin();
      expect(await finish(code, verifier)).toEqual({
        session: {
          userId: 'grace@acme.example',
          token: expect.stringMatching(/^eyJ/),
          refreshToken: expect.any(String),
          expiresIn: 3600,
          authTime: expect.any(Number),
        },
        provider: 'Acme',
        subject: 'grace@acme.example',
        username: 'Acme_grace@acme.example',
        email: 'grace@acme.example',
        isEmailVerified: true,
        firstName: 'Grace',
        lastName: 'Hopper',
      });
      await expect(finish(code, verifier)).rejects.toThrow('finished already');
      await expect(finish(await begin(), 'w'.repeat(43))).rejects.toThrow('Begin again');
      url.searchParams.set('nonce', url.searchParams.get('code_challenge') ?? '');
      expect(await finish(await begin(), verifier)).toMatchObject({ email: 'grace@acme.example' });
      url.searchParams.set('nonce', 'that of another sign-in');
      await expect(finish(await begin(), verifier)).rejects.toThrow('another page');
      const stolen = codeExchange({ ...endpoint, clientSecret: async () => 'guessed' });
      await expect(stolen(await begin(), verifier)).rejects.toThrow('401');
    } finally {
      await provider.stop();
    }
  });

  it.each([
    [true, true],
    ['true', true],
    ['false', false],
    [undefined, false],
  ])('takes an address for verified where the provider says so: %p', async (email_verified, isEmailVerified) => {
    const identities = [{ providerName: 'Acme', userId: 'ada' }];
    const claims = { sub: 's', auth_time: 1, email: 'ada@acme.example', email_verified, identities };
    const parts = [{ alg: 'RS256', typ: 'JWT' }, { ...claims, 'cognito:username': 'Acme_ada' }, {}];
    const token = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    const read = linkTokenReader(async () => ({ userId: 's', authTime: 1 }));
    expect(await read(token)).toMatchObject({ isEmailVerified });
  });

  it('follows an address that changed at the provider, and gives the former one to who has it now', async () => {
    const company = await usingCompany();
    const provider = await startSignOnProvider(company.name);
    provider.open(client);
    const endpoint = { origin: provider.origin, ...client, clientSecret: async () => client.clientSecret };
    const url = new URL(authorizeUrl(endpoint, company.name));
    url.searchParams.set('code_challenge', createHash('sha256').update(verifier).digest('base64url'));
    url.searchParams.set('code_challenge_method', 'S256');
    exchange = codeExchange(endpoint);
    const come = async (as: string) => {
      const code = (await authorize(url.href, client.redirectUri, as)).get('code');
      return invoke(handler, { method: 'POST', path: '/api/auth/sign-on', body: { code, codeVerifier: verifier } });
    };
    const addressOf = async (userId: string) => (await openUsers(table).find(userId))?.email;
    try {
      const [former, next] = [`grace@${company.domain}`, `grace.hopper@${company.domain}`];
      expect((await come(former)).body.userId).toBe(former);
      provider.changeAddress(former, next);
      expect((await come(former)).body.userId).toBe(former);
      expect(await addressOf(former)).toBe(next);
      const recipients = await openUsers(table).recipients(company.accountId);
      expect(recipients.map(({ email }) => email).sort()).toEqual([company.email, next].sort());
      const { items } = await openAuditLog(table).page(company.accountId, { from: '2026', to: '2027', limit: 9 });
      expect(items).toContainEqual(
        expect.objectContaining({
          action: 'user.address_changed',
          details: { email: next },
          before: { email: former },
        }),
      );
      // The user pool has no login of the former address: it is a new colleague's.
      provider.changeAddress('colleague', former);
      expect((await come('colleague')).body.userId).toBe('colleague');
      // Not one that is not proven, that the owner's login has, or of a domain that the provider does not vouch for.
      for (const [email, status] of [
        [`unverified@${company.domain}`, 200],
        [company.email, 200],
        ['grace@elsewhere.example', 403],
      ] as const) {
        provider.changeAddress(former, email);
        findByEmail.mockImplementation(async (of) => (of === company.email ? loginOf(company.userId) : undefined));
        expect((await come(former)).status).toBe(status);
        expect(await addressOf(former)).toBe(next);
      }
      expect(await openMembers(table).list(company.accountId)).toHaveLength(3);
    } finally {
      exchange = async () => person;
      await provider.stop();
    }
  });

  it('takes no code of another provider: one is of use at the endpoint of its own alone', async () => {
    const [honest, other] = [await startSignOnProvider('Acme'), await startSignOnProvider('Globex')];
    try {
      for (const each of [honest, other]) each.open(client);
      const begun = new URL(authorizeUrl({ origin: other.origin, ...client }, 'Globex'));
      begun.searchParams.set('state', 'abc');
      begun.searchParams.set('code_challenge', createHash('sha256').update(verifier).digest('base64url'));
      begun.searchParams.set('code_challenge_method', 'S256');
      const code = (await authorize(begun.href, client.redirectUri, 'eve@acme.example')).get('code') ?? '';
      const finish = codeExchange({ origin: honest.origin, ...client, clientSecret: async () => client.clientSecret });
      await expect(finish(code, verifier)).rejects.toThrow('Begin again');
    } finally {
      await Promise.all([honest.stop(), other.stop()]);
    }
  });

  it('says when the user pool does not respond', async () => {
    const server = createServer((_, response) => response.destroy());
    await listen(server);
    const origin = urlOf(server);
    const finish = codeExchange({ ...client, origin, clientSecret: async () => 'secret' });
    await expect(finish('code', verifier)).rejects.toMatchObject({ name: 'UnavailableError' });
    server.close();
  });
});
