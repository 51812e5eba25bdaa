import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { filesOf } from '../../fixtures/open-dashboard.ts';
import { manageArchives } from '../../lambda/dashboard/archives/manage-archives.ts';
import * as archiveOperations from '../../lambda/dashboard/archives/operations.ts';
import { openArchives } from '../../lambda/data/accounts/archives.ts';
import { auditEntry, openAuditLog } from '../../lambda/data/accounts/audit-log.ts';
import { openSignOns } from '../../lambda/data/accounts/sign-ons.ts';
import { InvalidCredentialsError, TotpRequiredError } from '../../lambda/domain/errors.ts';
import { routes } from '../../lambda/http/operation.ts';
import { newAccount, newMember } from '../data/new-account.ts';
import { APP_CLIENT_ID, invalidAt, invoke, serve } from '../http/invoke.ts';
import { tableForTests } from '../table-for-tests.ts';
import { identityApi } from './open-identity.ts';

const table = tableForTests();
let handlerOf: (path: string) => unknown;
let owner: Awaited<ReturnType<typeof newAccount>>;
let other: Awaited<ReturnType<typeof newAccount>>;
const mails: { readonly to: readonly string[]; readonly subject: string }[] = [];
let now: Date;

beforeAll(async () => {
  const identity = identityApi(table, {
    sessions: {
      logIn: async (userId: string, password: string, totp?: string) => {
        if (password !== 'right') throw new InvalidCredentialsError();
        if (totp !== '123456') throw new TotpRequiredError('Send the code.');
        return { userId, token: 't', refreshToken: 'r', expiresIn: 3600, authTime: 0 };
      },
    },
    sendMail: async (mail) => void mails.push(mail),
    now: () => now,
  });
  const archives = serve(
    routes(
      archiveOperations,
      manageArchives({
        ...filesOf(table, () => now),
        objects: {
          signGet: async (key: string) => `https://bucket.example.com/${key}`,
          getRange: async () => Buffer.alloc(0),
        },
        newId: () => `archive-${Math.random()}`,
      }),
    ),
  );
  handlerOf = (path) => (path.startsWith('archives') ? archives : identity);
});
beforeEach(async () => {
  owner = await newAccount(table);
  other = await newAccount(table);
  mails.length = 0;
  now = new Date();
});

const call = (method: string, path: string, body?: object, by = owner, secondsAgo = 0, username = by.userId) => {
  const { accountId, userId } = by;
  const auth_time = String(Math.floor(Date.now() / 1_000) - secondsAgo);
  return invoke(handlerOf(path), {
    method,
    path: `/api/account/${path}`,
    body,
    caller: { accountId, userId },
    claims: { sub: userId, aud: APP_CLIENT_ID, auth_time, 'cognito:username': username },
  });
};

describe('the deletion of an account', () => {
  it('takes the password and the code, and can be cancelled for seven days', async () => {
    expect(await call('POST', 'deletion', {})).toMatchObject(invalidAt('password'));
    const attempts = [{ password: 'wrong' }, { password: 'right' }, { password: 'right', totp: '000000' }];
    for (const body of attempts) expect((await call('POST', 'deletion', body)).status).toBe(401);
    expect((await call('GET', 'deletion')).body).toEqual({ deletion: null });
    expect(mails).toEqual([]);
    await newMember(table, owner.accountId, `viewer-${owner.userId}`, 'viewer');

    const { status, body } = await call('POST', 'deletion', { password: 'right', totp: '123456' });
    expect(status).toBe(202);
    expect(Date.parse(body.deletesAt) - now.getTime()).toBe(7 * 86_400_000);
    expect((await call('GET', 'deletion')).body).toEqual({ deletion: body });
    expect((await call('GET', 'deletion', undefined, other)).body).toEqual({ deletion: null });
    expect(mails).toEqual([expect.objectContaining({ to: [owner.email], subject: 'Your account will be deleted' })]);
    expect((await call('POST', 'deletion', { password: 'right', totp: '123456' })).status).toBe(409);

    expect((await call('DELETE', 'deletion', undefined, other)).status).toBe(404);
    expect((await call('DELETE', 'deletion')).status).toBe(204);
    expect((await call('GET', 'deletion')).body).toEqual({ deletion: null });
    expect(mails.at(-1)?.subject).toBe('Your account stays');
    const { items } = await openAuditLog(table).page(owner.accountId, { from: '2026', to: '2100', limit: 10 });
    expect(items.map(({ action }) => action)).toEqual(['account.deletion_cancelled', 'account.deletion_requested']);
  });

  it('takes a recent sign-in of who has no login but the identity provider’s, and of nobody else', async () => {
    const { accountId } = owner;
    const settings = { provider: `P${accountId}`, defaultRole: 'viewer' } as const;
    const audit = auditEntry(accountId, {}, { action: 'settings.changed' }, now);
    await openSignOns(table).set(accountId, undefined, settings, audit);
    const sent = async (minutes: number, username?: string) =>
      (await call('POST', 'deletion', {}, owner, minutes * 60, username)).status;
    const atProvider = `${settings.provider.toLowerCase()}_0042`;
    expect(await sent(11, atProvider)).toBe(400);
    expect(await sent(0)).toBe(400);
    expect(await sent(0, 'other_0042')).toBe(400);
    expect(await sent(9, atProvider)).toBe(202);
  });
});

describe('archives', () => {
  it('are written one at a time, and linked once they are ready', async () => {
    const { status, body } = await call('POST', 'archives');
    expect([status, body.status, body.progress]).toEqual([202, 'pending', 0]);
    expect((await call('POST', 'archives')).status).toBe(409);
    expect((await call('POST', `archives/${body.id}/link`)).status).toBe(409);
    expect((await call('POST', `archives/${body.id}/link`, undefined, other)).status).toBe(404);

    const availableUntil = new Date(now.getTime() + 86_400_000).toISOString();
    const archive = { accountId: owner.accountId, archiveId: body.id };
    await openArchives(table).write(archive, { status: 'ready', progress: 100, bytes: 7, availableUntil }, null);
    expect((await call('GET', 'archives')).body.items).toEqual([
      expect.objectContaining({ id: body.id, status: 'ready', bytes: 7, availableUntil }),
    ]);
    expect((await call('GET', 'archives', undefined, other)).body.items).toEqual([]);
    const link = await call('POST', `archives/${body.id}/link`);
    expect(link.body.url).toBe(
      `https://bucket.example.com/archives/${owner.accountId}/${body.id}/ai-spend-archive.tar.gz`,
    );
    now = new Date(Date.parse(availableUntil) + 1);
    expect((await call('GET', 'archives')).body.items).toEqual([]);
    expect((await call('POST', `archives/${body.id}/link`)).status).toBe(409);
  });
});
