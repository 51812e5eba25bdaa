import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { interceptTable, raceTable } from '../../fixtures/intercept-table.ts';
import { openAccounts } from '../../lambda/data/accounts/accounts.ts';
import { openApiTokens } from '../../lambda/data/accounts/api-tokens.ts';
import { auditEntry, openAuditLog } from '../../lambda/data/accounts/audit-log.ts';
import { MAX_INVITATION_MAILS_PER_DAY, openMembers } from '../../lambda/data/accounts/members.ts';
import { openMembership } from '../../lambda/data/accounts/membership.ts';
import { openProjects } from '../../lambda/data/accounts/projects.ts';
import { openServiceKeys } from '../../lambda/data/accounts/service-keys.ts';
import { openUsers } from '../../lambda/data/accounts/users.ts';
import { put, update } from '../../lambda/data/table/actions.ts';
import { invitationMailsKey, projectKey, serviceKeyKey, userKey } from '../../lambda/data/table/keys.ts';
import { findItem } from '../../lambda/data/table/read.ts';
import type { Table } from '../../lambda/data/table/table.ts';
import { write } from '../../lambda/data/table/write.ts';
import type { Role } from '../../lambda/domain/accounts/permissions.ts';
import { DAY_MS } from '../../lambda/domain/calendar/units.ts';
import { EmailTakenError, InvalidCredentialsError, TotpRequiredError } from '../../lambda/domain/errors.ts';
import type { MembershipOf } from '../../lambda/http/parse-request.ts';
import { MailError, type SendMail } from '../../lambda/integrations/mail.ts';
import { newAccount, newKey, newMember, newUnverifiedAccount } from '../data/new-account.ts';
import { APP_CLIENT_ID, callAs, invoke, refusedWith } from '../http/invoke.ts';
import { tableForTests } from '../table-for-tests.ts';
import { identityApi } from './open-identity.ts';

const table = tableForTests();
let handler: unknown;
/** As it is deployed. */
let cachingHandler: unknown;

/** A directory of logins in memory. */
const logins = new Map<string, { userId: string; email: string; password?: string; totp?: string; createdAt: Date }>();
const endedSessions: string[] = [];
const mails: Parameters<SendMail>[0][] = [];
let failingMail = false;
let now: Date;

const addLogin = ({ userId, email }: { userId: string; email: string }, password?: string) =>
  logins.set(userId, { userId, email, ...(password && { password }), createdAt: new Date(0) });
const byEmail = (email: string) => [...logins.values()].find((login) => login.email === email);
const directory = {
  createUser: async ({ email }: { email: string }) => {
    if (byEmail(email)) throw new EmailTakenError('taken');
    const userId = randomUUID();
    logins.set(userId, { userId, email, createdAt: now });
    return userId;
  },
  setPassword: async (userId: string, password: string) => void Object.assign(logins.get(userId)!, { password }),
  deleteUser: async (userId: string) => void logins.delete(userId),
  findByEmail: async (email: string) => {
    const login = byEmail(email);
    if (!login) return undefined;
    const { userId, createdAt, totp } = login;
    return { userId, accountId: undefined, createdAt, hasTotp: totp !== undefined };
  },
  changeEmail: async (userId: string, email: string) => void Object.assign(logins.get(userId)!, { email }),
};
const sessions = {
  logIn: async (email: string, password: string, totp?: string) => {
    const login = byEmail(email);
    if (login === undefined || login.password !== password) throw new InvalidCredentialsError();
    if (login.totp !== totp) throw new TotpRequiredError('Send the code.');
    return { userId: login.userId, token: 't', refreshToken: 'r', expiresIn: 3600, authTime: 0 };
  },
  endSessions: async (userId: string) => void endedSessions.push(userId),
};

const sendMail: SendMail = async (mail) => {
  if (failingMail) throw new MailError('mail was not accepted');
  mails.push(mail);
};

const replaced = { directory, sessions, sendMail, now: () => now };
/** No cache: each request sees the membership as it is. */
const membershipOf: MembershipOf = (claims) => openMembership(table, APP_CLIENT_ID).membershipOf(claims);
const open = (over: Table = table) => identityApi(over, replaced, { membershipOf });

beforeAll(async () => {
  handler = open();
  cachingHandler = identityApi(table, replaced, { membershipOf: openMembership(table, APP_CLIENT_ID).membershipOf });
});
beforeEach(() => {
  logins.clear();
  endedSessions.length = 0;
  mails.length = 0;
  failingMail = false;
  now = new Date('2026-11-20T12:00:00.000Z');
});

const password = 'correct horse battery 1';
const names = { firstName: 'Grace', lastName: 'Hopper' };
const newEmail = () => `${randomUUID()}@example.com`;

const as = (userId: string) => {
  // The membership comes from the table; the caller here only names the user.
  const call = callAs(handler, { accountId: '', userId });
  return {
    list: async () => (await call('GET', '/members')).body,
    invitations: async () => (await call('GET', '/invitations')).body.items,
    invite: (email: string, role = 'member') => call('POST', '/invitations', { email, role }),
    inviteMany: (lines: readonly object[]) => call('POST', '/invitations/batch', { lines }),
    resend: (id: string) => call('POST', `/invitations/${id}/resend`),
    revoke: (id: string) => call('DELETE', `/invitations/${id}`),
    changeRole: (id: string, role: string, revokeTokens?: boolean) =>
      call('PATCH', `/members/${id}`, { role, revokeTokens }),
    remove: (id: string, revokeTokens?: string) => call('DELETE', `/members/${id}`, undefined, {}, { revokeTokens }),
    transfer: (id: string, revokeTokens?: string) =>
      call('POST', `/members/${id}/transfer-ownership`, undefined, {}, { revokeTokens }),
    leave: () => call('POST', '/members/leave'),
    call,
  };
};
const accept = (token: string, change: object = {}) =>
  invoke(handler, {
    method: 'POST',
    path: '/api/auth/accept-invitation',
    body: { token, password, ...names, ...change },
  });
const lastToken = () => mails.at(-1)?.text.match(/#(\S+)/)?.[1] as string;

/** A member in the account, as an invitation makes one. */
const join = async (ownerId: string, role: string, email = newEmail()): Promise<string> => {
  const invited = await as(ownerId).invite(email, role);
  expect(invited.status).toBe(201);
  const accepted = await accept(lastToken());
  expect(accepted.status).toBe(201);
  return accepted.body.userId;
};

/** An account of an owner and one member. */
const withMember = async (role: string) => {
  const [owner, email] = [await newAccount(table), newEmail()];
  return { owner, email, userId: await join(owner.userId, role, email) };
};

/** An API token of the account; its user in the pool has the same id. */
const newToken = async (accountId: string, createdBy: string, role: Role, projects?: string[]) => {
  const tokenId = randomUUID();
  const facts = { name: `${role} token`, role, projects, createdBy, createdAt: now.toISOString() };
  const secrets = { tokenHash: randomUUID(), maskedToken: 'sat_…' };
  const token = { tokenId, accountId, userId: tokenId, validUntil: '9999', ...facts, ...secrets };
  await openApiTokens(table).create(token, newEmail(), auditEntry(accountId, {}, { action: 'token.created' }, now));
  return tokenId;
};

const auditOf = async (accountId: string) =>
  (await openAuditLog(table).page(accountId, { from: '2026', to: '2027', limit: 100 })).items;

const ownersOf = async (accountId: string) => {
  const account = await openAccounts(table).find(accountId);
  const members = await openMembers(table).list(accountId);
  const owners = members.filter(({ role }) => role === 'owner').map(({ userId }) => userId);
  expect(owners).toEqual([account?.ownerUserId]);
  return owners;
};

it('a list that was read while a member joined another account leaves the member out', async () => {
  const [owner, other] = [await newAccount(table), await newAccount(table)];
  const memberId = await join(owner.userId, 'viewer');
  await write(table, update(userKey(memberId), 'SET accountId = :other', null, { other: other.accountId }));
  const members = await openMembers(table).list(owner.accountId);
  expect(members.map(({ userId }) => userId)).toEqual([owner.userId]);
});

describe('invitations', () => {
  it('make a new login a member, once', async () => {
    const owner = await newAccount(table);
    const email = newEmail();
    const invited = await as(owner.userId).invite(email.toUpperCase(), 'viewer');
    const invitation = { email, role: 'viewer', invitedBy: owner.userId, status: 'pending' };
    const validUntil = '2026-11-27T12:00:00.000Z';
    expect(invited).toMatchObject({ status: 201, body: { ...invitation, validUntil } });
    const token = lastToken();
    expect(mails).toHaveLength(1);
    expect(mails[0]).toMatchObject({ to: [email], subject: 'You are invited to an AI spend account' });
    expect(mails[0]?.text).toContain(`https://dashboard.example.com/accept-invitation#${token}`);
    expect(mails[0]?.html).toContain(`href="https://dashboard.example.com/accept-invitation#${token}"`);
    // Neither the response nor the table has the token.
    expect(JSON.stringify(invited.body)).not.toContain(token.split('.')[2]);
    const stored = await openMembers(table).findInvitation(owner.accountId, invited.body.id);
    expect(JSON.stringify(stored)).not.toContain(token.split('.')[2]);

    const accepted = await accept(token);
    expect(accepted).toMatchObject({ status: 201, body: { token: 't', refreshToken: 'r' } });
    // A viewer sees the account key masked.
    expect(accepted.body.accountId).toContain('…');
    expect(await as(owner.userId).list()).toMatchObject({
      items: [
        { userId: owner.userId, role: 'owner' },
        { userId: accepted.body.userId, email, role: 'viewer', ...names },
      ],
    });
    expect(await as(owner.userId).invitations()).toEqual([]);
    expect(await accept(token)).toMatchObject(refusedWith(404, 'NOT_FOUND'));
  });

  it('are accepted with the login of a former member and its password', async () => {
    const [first, second] = [await newAccount(table), await newAccount(table)];
    const email = newEmail();
    const userId = await join(first.userId, 'member', email);
    expect((await as(userId).leave()).status).toBe(204);
    expect(endedSessions).toEqual([userId]);
    now = new Date(now.getTime() + 2 * 60_000);
    await as(second.userId).invite(email, 'admin');
    expect((await accept(lastToken(), { password: 'a wrong password 1' })).body.error.code).toBe('INVALID_CREDENTIALS');
    expect(await accept(lastToken())).toMatchObject({ status: 201, body: { userId, accountId: second.accountKey } });
    expect(await openUsers(table).find(userId)).toMatchObject({ accountId: second.accountId, role: 'admin' });
  });

  it('of a member, or of somebody who has another account, are refused clearly', async () => {
    const [mine, other] = [await newAccount(table), await newAccount(table)];
    for (const account of [other, mine]) addLogin(account);
    const elsewhere = refusedWith(409, 'CONFLICT', 'belongs to another account');
    expect(await as(mine.userId).invite(other.email)).toMatchObject(elsewhere);
    const here = refusedWith(409, 'CONFLICT', 'member of this account already');
    expect(await as(mine.userId).invite(mine.email)).toMatchObject(here);
    // A member who has yet to prove the address is a member all the same.
    await write(table, update(userKey(mine.userId), 'SET emailVerifiedAt = :none', null, { none: null }));
    await newMember(table, mine.accountId, 'admin-of-mine', 'admin');
    expect(await as('admin-of-mine').invite(mine.email)).toMatchObject(here);
    expect(mails).toEqual([]);
  });

  it('take the address from a login that never proved it, and leave the rest of it alone', async () => {
    const [owner, squatter] = [await newAccount(table), await newUnverifiedAccount(table)];
    const { email } = squatter;
    addLogin(squatter, 'of the squatter');
    expect((await as(owner.userId).invite(email)).status).toBe(201);
    const accepted = await accept(lastToken());
    expect(accepted.status).toBe(201);
    expect(accepted.body.userId).not.toBe(squatter.userId);
    expect(byEmail(email)?.userId).toBe(accepted.body.userId);
    // The squatter has the own account, with another address, and no session.
    const placeholder = expect.stringMatching(/^[0-9a-f-]{36}@unproven\.invalid$/);
    const left = await openUsers(table).find(squatter.userId);
    expect(left).toMatchObject({ accountId: squatter.accountId, role: 'owner', emailVerifiedAt: null });
    expect(left?.email).toEqual(placeholder);
    expect(logins.get(squatter.userId)).toMatchObject({ email: left?.email, password: 'of the squatter' });
    expect(left?.sessionsEndedAt).toBeGreaterThan(now.getTime() / 1_000);
    expect(endedSessions).toEqual([squatter.userId]);
    expect(await openUsers(table).recipients(squatter.accountId)).toMatchObject([{ email: left?.email }]);
    expect((await auditOf(squatter.accountId)).map(({ action, actor, details }) => [action, actor, details])).toEqual([
      ['user.address_taken', null, { from: email, to: left?.email }],
    ]);
    // Whoever registered twice finds the way to the first account.
    expect(mails.at(-1)).toMatchObject({ to: [email], text: expect.stringContaining(left?.email ?? '') });
    expect(mails.at(-1)?.subject).toBe('A login that never proved your address has lost it');
    // Nothing of either is in the other's account.
    expect((await as(owner.userId).list()).items.map(({ email: each }: { email: string }) => each)).toEqual([
      owner.email,
      email,
    ]);
  });

  it('are accepted with a login that has a second factor and no account', async () => {
    const [first, second] = [await newAccount(table), await newAccount(table)];
    const email = newEmail();
    const userId = await join(first.userId, 'member', email);
    Object.assign(logins.get(userId)!, { totp: '123456' });
    await as(userId).leave();
    now = new Date(now.getTime() + 2 * 60_000);
    await as(second.userId).invite(email);
    expect(await accept(lastToken())).toMatchObject(refusedWith(401, 'TOTP_REQUIRED'));
    // The new account requires one, too: the login has it already.
    const audit = auditEntry(second.accountId, {}, { action: 'settings.changed' }, now);
    await openAccounts(table).setRequiresTotp(true, audit);
    expect(await accept(lastToken(), { totp: '123 456' })).toMatchObject({ status: 201, body: { userId } });
    expect(await openUsers(table).find(userId)).toMatchObject({ totpEnabled: true });
  });

  it('cannot be accepted by somebody who registered an account meanwhile', async () => {
    const owner = await newAccount(table);
    const other = await newAccount(table);
    await as(owner.userId).invite(other.email);
    addLogin(other, password);
    expect(await accept(lastToken())).toMatchObject(refusedWith(409, 'CONFLICT', 'belongs to an account already'));
    expect(await openUsers(table).find(other.userId)).toMatchObject({ accountId: other.accountId, role: 'owner' });
  });

  it('expire after 7 days, and a new one replaces an expired one only', async () => {
    const owner = await newAccount(table);
    const email = newEmail();
    await as(owner.userId).invite(email);
    const token = lastToken();
    expect((await as(owner.userId).invite(email)).body.error).toMatchObject({ code: 'CONFLICT' });
    now = new Date(now.getTime() + 7 * DAY_MS);
    expect((await accept(token)).status).toBe(404);
    expect(await as(owner.userId).invitations()).toMatchObject([{ status: 'expired' }]);
    expect((await as(owner.userId).invite(email)).status).toBe(201);
    expect((await accept(token)).status).toBe(404);
    expect((await accept(lastToken())).status).toBe(201);
  });

  it('are sent again with a new link; the former link stops working', async () => {
    const owner = await newAccount(table);
    const { body } = await as(owner.userId).invite(newEmail());
    const former = lastToken();
    now = new Date(now.getTime() + 6 * DAY_MS);
    const resent = { status: 200, body: { validUntil: '2026-12-03T12:00:00.000Z' } };
    expect(await as(owner.userId).resend(body.id)).toMatchObject(resent);
    expect((await accept(former)).status).toBe(404);
    expect((await accept(lastToken())).status).toBe(201);
    expect((await as(owner.userId).resend(body.id)).status).toBe(404);
  });

  it('wait until the member who invites has verified the own address', async () => {
    const owner = await newAccount(table);
    const setVerified = (value: string | null) =>
      write(table, update(userKey(owner.userId), 'SET emailVerifiedAt = :at', null, { at: value }));
    const { body } = await as(owner.userId).invite(newEmail());
    await setVerified(null);
    mails.length = 0;
    for (const attempt of [as(owner.userId).invite(newEmail()), as(owner.userId).resend(body.id)])
      expect(await attempt).toMatchObject(refusedWith(409, 'CONFLICT'));
    expect(mails).toEqual([]);
    await setVerified(now.toISOString());
    expect((await as(owner.userId).invite(newEmail())).status).toBe(201);
  });

  it('are listed as far as a response of Lambda holds them, the newest', async () => {
    const owner = await newAccount(table);
    await as(owner.userId).invite(newEmail());
    const members = openMembers(table);
    const projects = Array.from({ length: 50 }, () => randomUUID());
    const invitations = async (accountId: string) => {
      const [first] = await members.invitations(accountId);
      return Array.from({ length: 3_000 }, (_, n) => ({ ...first!, invitationId: `${n}`, projects }));
    };
    const many = identityApi(table, { ...replaced, members: { ...members, invitations } }, { membershipOf });
    const { status, body, text } = await callAs(many, { accountId: '', userId: owner.userId })('GET', '/invitations');
    expect([status, body.items.length, body.items.at(-1).id]).toEqual([200, 2_000, '2999']);
    expect(JSON.stringify({ body: text }).length).toBeLessThan(6 * 2 ** 20);
  });

  it('can be revoked', async () => {
    const owner = await newAccount(table);
    const { body } = await as(owner.userId).invite(newEmail());
    expect((await as(owner.userId).revoke(body.id)).status).toBe(204);
    expect((await accept(lastToken())).status).toBe(404);
    expect((await as(owner.userId).revoke(body.id)).status).toBe(404);
  });

  it('do not work once the member who invited may not invite', async () => {
    const { owner, userId: admin } = await withMember('admin');
    await as(admin).invite(newEmail(), 'admin');
    const token = lastToken();
    await as(owner.userId).changeRole(admin, 'viewer');
    expect((await accept(token)).status).toBe(404);
    await as(owner.userId).remove(admin);
    expect((await accept(token)).status).toBe(404);
  });

  it('say so when the mail fails, and can be sent again', async () => {
    const owner = await newAccount(table);
    failingMail = true;
    expect(await as(owner.userId).invite(newEmail())).toMatchObject(refusedWith(503, 'UNAVAILABLE'));
    failingMail = false;
    const [invitation] = await as(owner.userId).invitations();
    expect((await as(owner.userId).resend(invitation.id)).status).toBe(200);
    expect((await accept(lastToken())).status).toBe(201);
  });

  it('fail as the code for an address does: what waits for a mail may be asked for again', async () => {
    const { accountId, userId } = await newUnverifiedAccount(table);
    const ask = () => callAs(handler, { accountId, userId })('POST', '/auth/verification-codes');
    failingMail = true;
    expect(await ask()).toMatchObject(refusedWith(503, 'UNAVAILABLE'));
    failingMail = false;
    now = new Date(now.getTime() + 60_000);
    expect((await ask()).status).toBe(202);
  });

  it('are sent to many at once, each with its own error, and make members of projects', async () => {
    const owner = await newAccount(table);
    const members = openMembers(table);
    const requireRoom = jest.fn(members.requireRoom);
    const api = identityApi(table, { ...replaced, members: { ...members, requireRoom } }, { membershipOf });
    const lines = [
      { email: 'grace@many.example', role: 'developer', projects: ['default'] },
      { email: 'no address', role: 'developer' },
      { email: 'a@many.example', role: 'captain' },
      { email: 'b@many.example', role: 'developer', projects: ['elsewhere'] },
      { email: 'c@many.example', role: 'admin', projects: ['default'] },
      { email: 'Grace@many.example', role: 'viewer' },
    ];
    const inviteMany = callAs(api, { accountId: '', userId: owner.userId });
    const { status, body } = await inviteMany('POST', '/invitations/batch', { lines });
    expect(requireRoom).toHaveBeenCalledWith(owner.accountId, now.toISOString(), lines.length);
    expect([status, body.items.map((item: { status: string }) => item.status)]).toEqual([
      200,
      ['invited', 'refused', 'refused', 'refused', 'refused', 'refused'],
    ]);
    expect(body.items.map(({ error }: { error: string | null }) => error)).toEqual([
      null,
      'email must be an e-mail address',
      expect.stringMatching(/^role /),
      'projects elsewhere is not a project of the account',
      'projects must be null: the role admin is for the whole account',
      'This address is invited already. Send the invitation again, or revoke it.',
    ]);
    const { userId } = (await accept(lastToken())).body;
    const [, joined] = (await as(owner.userId).list()).items;
    expect(joined).toMatchObject({ userId, role: 'developer', projects: ['default'] });
    const invite = () => Promise.reject(new TypeError('a fault of ours'));
    const broken = identityApi(table, { ...replaced, members: { ...members, invite } }, { membershipOf });
    const tried = callAs(broken, { accountId: '', userId: owner.userId })('POST', '/invitations/batch', { lines });
    expect((await tried).status).toBe(500);
    // A role for the whole account ends the limit.
    expect((await as(owner.userId).changeRole(userId, 'admin')).body).toMatchObject({ role: 'admin', projects: null });
  });

  it('leave those for another request whose mail, of up to 20 s, would end after the 29 s of API Gateway', async () => {
    const owner = await newAccount(table);
    const slowMail: SendMail = async () => {
      now = new Date(now.getTime() + 3_000);
    };
    const api = identityApi(table, { ...replaced, sendMail: slowMail }, { membershipOf });
    const lines = Array.from({ length: 5 }, () => ({ email: newEmail(), role: 'viewer' }));
    const inviteMany = callAs(api, { accountId: '', userId: owner.userId });
    const { body } = await inviteMany('POST', '/invitations/batch', { lines });
    expect(body.items.map(({ status }: { status: string }) => status)).toEqual([
      ...['invited', 'invited', 'invited'],
      ...['left', 'left'],
    ]);
  });

  it('are limited in number a day, also those that were revoked', async () => {
    const owner = await newAccount(table);
    const sent = invitationMailsKey(owner.accountId, now.toISOString().slice(0, 10));
    await write(table, put({ ...sent, mails: MAX_INVITATION_MAILS_PER_DAY - 4 }));
    await as(owner.userId).inviteMany(Array.from({ length: 3 }, () => ({ email: newEmail(), role: 'viewer' })));
    const last = await as(owner.userId).invite(newEmail());
    await as(owner.userId).revoke(last.body.id);
    expect(await as(owner.userId).invite(newEmail())).toMatchObject(refusedWith(409, 'LIMIT_REACHED'));
    expect(mails).toHaveLength(4);
    now = new Date(now.getTime() + DAY_MS);
    expect((await as(owner.userId).invite(newEmail())).status).toBe(201);
  });

  it('are not accepted while the member who invited is removed', async () => {
    const { owner, userId: admin } = await withMember('admin');
    const email = newEmail();
    expect((await as(admin).invite(email, 'admin')).status).toBe(201);
    const raced = raceTable(table, async () => {
      expect((await as(owner.userId).remove(admin)).status).toBe(200);
    });
    const body = { token: lastToken(), password, ...names };
    const accepted = await invoke(open(raced), { method: 'POST', path: '/api/auth/accept-invitation', body });
    expect([accepted.status, byEmail(email)]).toEqual([409, undefined]);
  });

  it('leave the login where nobody knows whether it became a member, for the next attempt', async () => {
    const owner = await newAccount(table);
    const email = newEmail();
    await as(owner.userId).invite(email);
    const failing = interceptTable(table, ({ operation }, send) =>
      operation === 'TransactWriteItems' ? Promise.reject(new Error('no response')) : send(),
    );
    const body = { token: lastToken(), password, ...names };
    const accepted = await invoke(open(failing), { method: 'POST', path: '/api/auth/accept-invitation', body });
    expect([accepted.status, byEmail(email)?.email]).toEqual([500, email]);
    now = new Date(now.getTime() + 61_000);
    expect((await accept(lastToken())).status).toBe(201);
  });

  it('make one member of two simultaneous acceptances, and leave no login without an account', async () => {
    const owner = await newAccount(table);
    await as(owner.userId).invite(newEmail());
    const token = lastToken();
    const responses = await Promise.all([accept(token), accept(token), accept(token)]);
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
    expect((await as(owner.userId).list()).items).toHaveLength(2);
    expect(logins.size).toBe(1);
  });

  it.each(['', 'x', 'a.b.c', `${randomUUID()}.${'0'.repeat(32)}.${'x'.repeat(43)}`])(
    'reject the token %j',
    async (token) => {
      expect([400, 404]).toContain((await accept(token)).status);
      expect(logins.size).toBe(0);
    },
  );

  it('reject a token whose secret is another one', async () => {
    const owner = await newAccount(table);
    await as(owner.userId).invite(newEmail());
    const [accountId, id] = lastToken().split('.');
    expect((await accept(`${accountId}.${id}.${'x'.repeat(43)}`)).status).toBe(404);
  });
});

describe('members', () => {
  it('change roles, and are kept out once removed', async () => {
    const { owner, userId } = await withMember('viewer');
    expect((await as(userId).invite(newEmail())).status).toBe(403);
    expect(await as(owner.userId).changeRole(userId, 'admin')).toMatchObject({ status: 200, body: { role: 'admin' } });
    expect((await as(userId).invite(newEmail())).status).toBe(201);
    expect(await as(owner.userId).remove(userId)).toMatchObject({ status: 200, body: { activeKeys: [] } });
    expect(endedSessions).toEqual([userId]);
    expect((await as(userId).call('GET', '/members')).status).toBe(401);
    expect((await as(owner.userId).remove(userId)).status).toBe(404);
    expect((await openUsers(table).recipients(owner.accountId)).map(({ userId: id }) => id)).toEqual([owner.userId]);
  });

  it('leave keys that stay, are revoked, or go to another member with what clients send', async () => {
    const owner = await newAccount(table);
    const keys = openServiceKeys(table);
    const { accountId } = owner;
    const audit = auditEntry(accountId, {}, { action: 'project.created' }, new Date());
    await openProjects(table).create({ projectId: 'search', name: 'Search', createdAt: null }, audit);
    const removeWith = async (query: Record<string, string>) => {
      const userId = await join(owner.userId, 'developer');
      const key = await newKey(table, accountId, { ownerUserId: userId, projectId: 'search' });
      const { status, body } = await as(owner.userId).call('DELETE', `/members/${userId}`, undefined, {}, query);
      const item = await findItem(table, serviceKeyKey(key.keyHash));
      const stored = (await keys.listWhole(owner.accountId)).filter(({ keyHash }) => keyHash === key.keyHash);
      return { status, key, item, stored, active: body.activeKeys?.map(({ id }: { id: string }) => id) };
    };
    const kept = await removeWith({});
    expect([kept.active, kept.item?.['keyStatus']]).toEqual([[kept.key.keyId], 'active']);
    const revoked = await removeWith({ keys: 'revoke' });
    expect([revoked.active, revoked.item?.['keyStatus']]).toEqual([[], 'revoked']);
    const handed = await removeWith({ keys: 'hand-over', to: owner.userId });
    const [former, next] = [...handed.stored].sort((a) => (a.keyId === handed.key.keyId ? -1 : 1));
    expect(handed.active).toEqual([]);
    // The gateway finds the other key by the same secret; the former one has what was spent.
    expect(handed.item).toMatchObject({ keyStatus: 'active', keyId: next?.keyId, ownerRole: 'owner' });
    expect(former).toMatchObject({ status: 'revoked', keyId: handed.key.keyId });
    expect(next).toMatchObject({ status: 'active', ownerUserId: owner.userId, name: 'key' });
    // A project cannot be deleted while it has keys, revoked ones too.
    const inProject = (await keys.listWhole(accountId)).filter(({ projectId }) => projectId === 'search');
    expect(await findItem(table, projectKey(accountId, 'search'))).toMatchObject({ keyCount: inProject.length });
    expect((await removeWith({ keys: 'hand-over', to: 'nobody' })).status).toBe(400);
    const leaving = await join(owner.userId, 'developer');
    const toSelf = { keys: 'hand-over', to: leaving };
    expect((await as(owner.userId).call('DELETE', `/members/${leaving}`, undefined, {}, toSelf)).status).toBe(400);
    const actions = (await auditOf(owner.accountId)).map(({ action }) => action);
    expect(actions).toEqual(expect.arrayContaining(['key.revoked', 'key.handed_over']));
  });

  describe('lose the API tokens they made', () => {
    const left = async (accountId: string) =>
      (await openApiTokens(table).list(accountId)).items.map(({ tokenId }) => tokenId);

    it('that may do more than their new role, and no other', async () => {
      const { owner, userId } = await withMember('admin');
      const admin = await newToken(owner.accountId, userId, 'admin');
      const viewer = await newToken(owner.accountId, userId, 'viewer');
      const others = await newToken(owner.accountId, owner.userId, 'admin');
      const { body } = await as(owner.userId).changeRole(userId, 'member');
      const tokens = [{ id: admin, name: 'admin token', role: 'admin', isRevoked: true }];
      expect(body).toMatchObject({ role: 'member', tokens });
      expect((await left(owner.accountId)).sort()).toEqual([viewer, others].sort());
    });

    it('that see more than the projects that they are limited to', async () => {
      const { owner, userId } = await withMember('admin');
      const [mine, other] = ['mine', 'other'];
      for (const projectId of [mine, other])
        await openProjects(table).create(
          { projectId, name: projectId, createdAt: now.toISOString() },
          auditEntry(owner.accountId, {}, { action: 'project.created' }, now),
        );
      const made = (projects?: string[]) => newToken(owner.accountId, userId, 'viewer', projects);
      const [all, both, within] = [await made(), await made([mine, other]), await made([mine])];
      const change = { role: 'member', projects: [mine] };
      const { body } = await as(owner.userId).call('PATCH', `/members/${userId}`, change);
      const revoked = body.tokens.map(({ id, isRevoked }: { id: string; isRevoked: boolean }) => [id, isRevoked]);
      expect(new Map(revoked)).toEqual(new Map([all, both].map((id) => [id, true])));
      expect(await left(owner.accountId)).toEqual([within]);
    });

    it('that may do more than an admin, once they gave the ownership away', async () => {
      const { owner, userId: next } = await withMember('viewer');
      const billing = await newToken(owner.accountId, owner.userId, 'billing');
      const admin = await newToken(owner.accountId, owner.userId, 'admin');
      const tokens = [{ id: billing, name: 'billing token', role: 'billing', isRevoked: true }];
      expect(await as(owner.userId).transfer(next)).toMatchObject({ status: 200, body: { tokens } });
      expect(await left(owner.accountId)).toEqual([admin]);
      const kept = await newToken(owner.accountId, next, 'billing');
      const { body } = await as(next).transfer(owner.userId, 'false');
      expect(body.tokens).toMatchObject([{ id: kept, isRevoked: false }]);
      expect((await left(owner.accountId)).sort()).toEqual([admin, kept].sort());
    });

    it('and review them after a reset only where they may read tokens', async () => {
      const { owner, userId: viewer } = await withMember('viewer');
      const developer = await join(owner.userId, 'developer');
      const id = await newToken(owner.accountId, owner.userId, 'viewer');
      const reviewOf = async (userId: string) => {
        await openUsers(table).endSessions(userId, 0, '2026-11-01T00:00:00.000Z');
        const { body } = await as(userId).call('GET', '/auth/review');
        return { keys: body.keys.length, tokens: body.tokens.map((token: { id: string }) => token.id) };
      };
      expect(await reviewOf(owner.userId)).toEqual({ keys: 1, tokens: [id] });
      expect(await reviewOf(viewer)).toEqual({ keys: 1, tokens: [] });
      expect(await reviewOf(developer)).toEqual({ keys: 0, tokens: [] });
    });

    const removed = { status: 200, body: { tokens: [{ role: 'viewer', isRevoked: true }] } };
    it.each<[string, (ownerId: string, userId: string) => Promise<object>, object]>([
      ['are removed', (ownerId, userId) => as(ownerId).remove(userId), removed],
      ['leave', (_, userId) => as(userId).leave(), { status: 204 }],
    ])('all of them when they %s', async (_, go, response) => {
      const { owner, userId } = await withMember('member');
      await newToken(owner.accountId, userId, 'viewer');
      expect(await go(owner.userId, userId)).toMatchObject(response);
      expect(await left(owner.accountId)).toEqual([]);
    });

    it.each<[string, (ownerId: string, userId: string) => Promise<{ readonly status: number }>]>([
      ['removed', (ownerId, userId) => as(ownerId).remove(userId)],
      ['given fewer rights', (ownerId, userId) => as(ownerId).changeRole(userId, 'viewer')],
    ])('and make none while they are %s', async (_, change) => {
      const { owner, userId } = await withMember('admin');
      const raced = raceTable(table, async () => {
        expect((await change(owner.userId, userId)).status).toBe(200);
      });
      const body = { name: 'CI', role: 'admin', expiresInDays: 30 };
      const made = await callAs(open(raced), { accountId: '', userId })('POST', '/tokens', body);
      expect([made.status, await left(owner.accountId)]).toEqual([409, []]);
    });

    it('unless it is asked for that they stay: then they are named', async () => {
      const { owner, userId } = await withMember('admin');
      const id = await newToken(owner.accountId, userId, 'admin');
      const kept = [{ id, name: 'admin token', role: 'admin', isRevoked: false }];
      expect((await as(owner.userId).changeRole(userId, 'viewer', false)).body.tokens).toEqual(kept);
      expect((await as(owner.userId).remove(userId, 'false')).body.tokens).toEqual(kept);
      expect(await left(owner.accountId)).toEqual([id]);
    });

    it('only once the change itself went through', async () => {
      const { owner, userId } = await withMember('admin');
      const id = await newToken(owner.accountId, owner.userId, 'admin');
      expect((await as(userId).remove(owner.userId)).status).toBe(409);
      expect(await left(owner.accountId)).toEqual([id]);
    });
  });

  describe('where another process has cached their membership', () => {
    /** Somebody whom the other process has just served, and a change that asks for a role's rights. */
    const cached = async (of: string) => {
      const { owner, userId } = await withMember(of);
      const call = callAs(cachingHandler, { accountId: '', userId });
      const read = async () => (await call('GET', '/members')).status;
      expect(await read()).toBe(200);
      const invite = (role: string) => call('POST', '/invitations', { email: newEmail(), role });
      return { owner, userId, read, invite };
    };

    it('have more rights at once', async () => {
      const { owner, userId, invite } = await cached('viewer');
      expect((await invite('viewer')).status).toBe(403);
      await as(owner.userId).changeRole(userId, 'admin');
      expect((await invite('viewer')).status).toBe(201);
    });

    it('give what they may give at once', async () => {
      const { owner, userId, invite } = await cached('admin');
      expect((await invite('billing')).status).toBe(403);
      await as(owner.userId).transfer(userId);
      expect((await invite('billing')).status).toBe(201);
    });

    it('change nothing any more once they have fewer rights, or were removed', async () => {
      const { owner, userId, read, invite } = await cached('admin');
      await as(owner.userId).changeRole(userId, 'viewer');
      expect((await invite('viewer')).status).toBe(403);
      await as(owner.userId).remove(userId);
      expect((await invite('viewer')).status).toBe(401);
      // What they read is kept for a minute.
      expect(await read()).toBe(200);
    });
  });

  it('are removed to the end by another request, where the first ran out of time', async () => {
    const { owner, userId } = await withMember('member');
    const remove = (api = handler) => {
      const call = callAs(api, { accountId: '', userId: owner.userId });
      return call('DELETE', `/members/${userId}`, undefined, {}, { keys: 'revoke' });
    };
    await newKey(table, owner.accountId, { ownerUserId: userId });
    const token = await newToken(owner.accountId, userId, 'viewer');
    expect((await as(owner.userId).remove(token)).status).toBe(404);
    let transactions = 0;
    const dying = interceptTable(table, async ({ operation }, send) => {
      if (operation === 'TransactWriteItems' && ++transactions > 1) throw new Error('The function ran out of time.');
      return send();
    });
    await remove(open(dying));
    expect((await as(owner.userId).list()).items).toHaveLength(1);
    const { status, body } = await remove();
    expect([status, body.activeKeys, body.tokens]).toEqual([200, [], [expect.objectContaining({ isRevoked: true })]]);
    expect(await openApiTokens(table).list(owner.accountId)).toMatchObject({ items: [] });
    expect((await remove()).status).toBe(404);
  });

  it.each([
    ['rename themselves', 'TransactWriteItems', 'PATCH', '/auth/me', names],
    ['finish a review', 'UpdateItem', 'DELETE', '/auth/review', undefined],
  ])('are signed out where they %s as they are removed', async (_, operation, method, path, body) => {
    const { owner, userId } = await withMember('member');
    const raced = raceTable(
      table,
      () => as(owner.userId).remove(userId),
      (command) => command.operation === operation,
    );
    const { status } = await callAs(open(raced), { accountId: '', userId })(method, path, body);
    expect(status).toBe(401);
  });

  it('are out of a cached membership within 60 seconds', async () => {
    const { owner, userId } = await withMember('member');
    const { membershipOf } = openMembership(table, APP_CLIENT_ID);
    const token = { userId, audience: APP_CLIENT_ID, authTime: 1 };
    const seenAt = Date.now();
    expect(await membershipOf(token)).toMatchObject({ role: 'member' });
    await as(owner.userId).remove(userId);
    const clock = jest.spyOn(Date, 'now');
    try {
      clock.mockReturnValue(seenAt + 50_000);
      expect(await membershipOf(token)).toMatchObject({ role: 'member' });
      clock.mockReturnValue(Date.now() + 10_000 + 1_000);
      expect(await membershipOf(token)).toBeUndefined();
    } finally {
      clock.mockRestore();
    }
  });

  it('have on their keys the role of the last of two changes of one moment', async () => {
    const { owner, userId } = await withMember('member');
    const key = await newKey(table, owner.accountId, { ownerUserId: userId });
    const raced = raceTable(
      table,
      async () => expect((await as(owner.userId).changeRole(userId, 'developer')).status).toBe(200),
      ({ operation, input }) => operation === 'TransactWriteItems' && JSON.stringify(input).includes('"KEY#'),
    );
    const call = callAs(open(raced), { accountId: '', userId: owner.userId });
    expect((await call('PATCH', `/members/${userId}`, { role: 'viewer' })).status).toBe(200);
    expect(await findItem(table, serviceKeyKey(key.keyHash))).toMatchObject({ ownerRole: 'developer' });
  });

  it('cannot change the owner, nor become one by a role', async () => {
    const { owner, userId: admin } = await withMember('admin');
    expect((await as(admin).changeRole(owner.userId, 'viewer')).status).toBe(409);
    expect((await as(admin).remove(owner.userId)).status).toBe(409);
    expect((await as(admin).transfer(admin)).status).toBe(403);
    expect((await as(admin).changeRole(admin, 'owner')).status).toBe(400);
    expect((await as(owner.userId).leave()).status).toBe(409);
    expect(await ownersOf(owner.accountId)).toEqual([owner.userId]);
  });

  it('are given no role that may do what the giver may not, in any way', async () => {
    const { owner, userId: admin } = await withMember('admin');
    const payer = await join(owner.userId, 'billing');
    const refused = refusedWith(403, 'FORBIDDEN', 'billing:write');
    expect(await as(admin).invite(newEmail(), 'billing')).toMatchObject(refused);
    expect(await as(admin).changeRole(admin, 'billing')).toMatchObject(refused);
    const { body } = await as(owner.userId).invite(newEmail(), 'billing');
    expect(await as(admin).resend(body.id)).toMatchObject(refused);
    // Less is no gift.
    expect((await as(admin).changeRole(payer, 'viewer')).status).toBe(200);
    expect((await as(owner.userId).changeRole(payer, 'billing')).status).toBe(200);
    for (const role of ['admin', 'member', 'viewer'])
      expect((await as(admin).invite(newEmail(), role)).status).toBe(201);
    // The one who invited may not do that any more.
    await as(owner.userId).resend(body.id);
    const token = lastToken();
    await as(owner.userId).transfer(admin);
    expect((await accept(token)).status).toBe(404);
  });

  it('get the ownership by a transfer; the former owner becomes an admin', async () => {
    const { owner, userId: next } = await withMember('member');
    expect((await as(owner.userId).transfer(owner.userId)).status).toBe(409);
    expect((await as(owner.userId).transfer(randomUUID())).status).toBe(404);
    expect((await as(owner.userId).transfer(next)).status).toBe(200);
    expect(await ownersOf(owner.accountId)).toEqual([next]);
    expect(await openUsers(table).find(owner.userId)).toMatchObject({ role: 'admin' });
    expect(await openServiceKeys(table).listWhole(owner.accountId)).toMatchObject([{ ownerRole: 'admin' }]);
    expect((await as(owner.userId).leave()).status).toBe(204);
    expect(await ownersOf(owner.accountId)).toEqual([next]);
  });

  it('leave the account with exactly one owner under concurrent calls', async () => {
    const owner = await newAccount(table);
    const others: string[] = [];
    for (const role of ['admin', 'admin', 'member']) others.push(await join(owner.userId, role));
    for (let round = 0; round < 5; round++) {
      const [current] = await ownersOf(owner.accountId);
      const rest = [owner.userId, ...others].filter((userId) => userId !== current);
      const responses = await Promise.all([
        ...rest.map((userId) => as(current as string).transfer(userId)),
        ...rest.map((userId) => as(current as string).changeRole(userId, 'viewer')),
        as(current as string).leave(),
      ]);
      // A losing call conflicts, is busy, or finds the caller without the right it had.
      expect(
        responses.map(({ status }) => status).filter((status) => ![200, 204, 403, 409, 503].includes(status)),
      ).toEqual([]);
      await ownersOf(owner.accountId);
      if ((await openUsers(table).find(current as string)) === undefined) break;
    }
  });

  it('write an audit entry with each change, and none with a refused one', async () => {
    const { owner, email, userId } = await withMember('viewer');
    await as(owner.userId).changeRole(userId, 'admin');
    await as(userId).changeRole(owner.userId, 'viewer');
    await as(owner.userId).transfer(userId);
    await as(userId).remove(owner.userId);
    const entries = (await auditOf(owner.accountId)).reverse();
    expect(entries.map(({ action, actor, subject }) => [action, actor?.name, subject])).toEqual([
      ['invitation.sent', owner.email, expect.any(String)],
      ['invitation.accepted', email, userId],
      ['member.role_changed', owner.email, userId],
      ['ownership.transferred', owner.email, userId],
      ['member.removed', email, owner.userId],
    ]);
    expect(entries[2]?.before).toEqual({ role: 'viewer' });
    expect(entries[2]?.details).toEqual({ email, role: 'admin', projects: 'all' });
  });
});
