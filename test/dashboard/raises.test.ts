import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { raceTable } from '../../fixtures/intercept-table.ts';
import { openServiceKeys } from '../../lambda/data/accounts/service-keys.ts';
import { openRaises } from '../../lambda/data/ledger/raises.ts';
import { put } from '../../lambda/data/table/actions.ts';
import { raiseKey, sessionCounterKey, sessionCounterName } from '../../lambda/data/table/keys.ts';
import { findItem } from '../../lambda/data/table/read.ts';
import { transact } from '../../lambda/data/table/write.ts';
import type { Role } from '../../lambda/domain/accounts/permissions.ts';
import { DAY_MS } from '../../lambda/domain/calendar/units.ts';
import { MailError } from '../../lambda/integrations/mail.ts';
import { newAccount, newKey, newMember } from '../data/new-account.ts';
import { callAs, invalidAt } from '../http/invoke.ts';
import { dashboardForTests, openDashboard } from './open-dashboard.ts';

let mails: { readonly to: readonly string[]; readonly subject: string; readonly text: string }[];
let posted: { readonly url: string; readonly body: string }[];
let mailFails: boolean;

const {
  table,
  clock,
  caller: owner,
  audited,
  ...dashboard
} = dashboardForTests({
  webhookUrlProblem: async () => undefined,
  sendMail: async (mail) => {
    if (mailFails) throw new MailError('the mail service is down');
    mails.push(mail);
  },
  postWebhook: async ({ url }, body) => void posted.push({ url, body }),
});

type Member = { readonly accountId: string; readonly userId: string; readonly role: Role; readonly name: string };

/** Somebody of the owner's account. */
const memberOf = async (role: Role): Promise<Member> => {
  const userId = randomUUID();
  await newMember(table, owner.accountId, userId, role);
  return { accountId: owner.accountId, userId, role, name: `${userId}@example.com` };
};
const keyOf = async ({ accountId, userId, role }: Member): Promise<string> =>
  (await newKey(table, accountId, { name: 'laptop', ownerUserId: userId, ownerRole: role })).keyId;

let developer: Member;
let admin: Member;
let boss: Member;

beforeEach(async () => {
  mails = [];
  posted = [];
  mailFails = false;
  boss = { accountId: owner.accountId, userId: owner.userId, role: 'owner', name: owner.email };
  developer = await memberOf('developer');
  admin = await memberOf('admin');
});

const call = (caller: Member, method: string, path: string, body?: unknown) =>
  dashboard.call(method, path, body, caller);
const newBudget = async (changes: object = {}): Promise<string> => {
  const body = { name: 'Developers', amount: 200, period: 'monthly', each: 'member', ...changes };
  const created = await call(boss, 'POST', '/budgets', body);
  expect([created.status, created.body]).toEqual([201, expect.anything()]);
  return created.body.id;
};
const ask = (by: Member, id: string, body: object = {}, value = by.userId) =>
  call(by, 'POST', `/budgets/${id}/values/${value}/raises`, { amount: 300, reason: 'A migration', ...body });
const decide = (by: Member, id: string, body: object = {}) =>
  call(by, 'PATCH', `/raises/${id}`, { isApproved: true, ...body });
const ownLimits = async (by: Member) => (await call(by, 'GET', '/own-limits')).body.items;
const listed = async (by: Member) => (await call(by, 'GET', '/raises')).body.items;
const actions = async () => (await audited()).map(({ action, actor }) => [action, actor?.userId]);

describe('asking for more', () => {
  it('tells those who may decide, by mail and by the channels of the limit', async () => {
    const slack = 'https://hooks.slack.com/services/T0/B0/abc';
    const id = await newBudget({ channels: ['email', 'slack'], targets: { slack } });
    await memberOf('viewer');
    await memberOf('member');
    const asked = await ask(developer, id, { reason: 'See https://evil.example\nnow' });
    expect(asked).toMatchObject({
      status: 201,
      body: {
        status: 'pending',
        limitNanoUsd: 200e9,
        validUntil: '2026-11-27T16:30:00.000Z',
        sentBy: ['email', 'slack'],
      },
    });
    expect(mails.map(({ to }) => [...to].sort())).toEqual([[owner.email, admin.name].sort()]);
    expect(mails[0]?.text).toContain('https://dashboard.example.com/raises');
    expect(mails[0]?.text).not.toContain('https://evil.example');
    expect(posted).toEqual([{ url: slack, body: expect.stringContaining('asks for $300') }]);
    expect(await ownLimits(developer)).toMatchObject([
      {
        budgetId: id,
        value: developer.userId,
        limitNanoUsd: 200e9,
        usedNanoUsd: 0,
        isCounted: false,
        raise: { status: 'pending' },
      },
    ]);
  });

  it('is stored where nobody can be told', async () => {
    mailFails = true;
    const { status, body } = await ask(developer, await newBudget());
    expect([status, body.sentBy]).toEqual([201, []]);
    expect(await listed(admin)).toHaveLength(1);
  });

  it('is for own values alone, where somebody sees a part of the account', async () => {
    const ofMembers = await newBudget();
    const ofKeys = await newBudget({ each: 'key' });
    const [own, others] = [await keyOf(developer), await keyOf(admin)];
    expect((await ask(developer, ofMembers, {}, admin.userId)).status).toBe(404);
    expect((await ask(developer, ofKeys, {}, others)).status).toBe(404);
    const withKeys = { ...developer, keyIds: new Set([own]) };
    expect((await ask(withKeys, ofKeys, {}, own)).status).toBe(201);
    expect(
      (await ownLimits(withKeys)).map(({ value, label }: { value: string; label: string }) => [value, label]),
    ).toEqual(
      expect.arrayContaining([
        [developer.userId, developer.name],
        [own, 'laptop'],
      ]),
    );
    expect((await call(boss, 'DELETE', `/keys/${own}`)).status).toBe(204);
    expect(await ownLimits(withKeys)).not.toContainEqual(expect.objectContaining({ value: own }));
    expect((await ask(developer, await newBudget({ each: undefined }))).status).toBe(404);
  });

  it('is for projects in which somebody has a key, and sessions of their keys alone', async () => {
    const [own, others] = [await keyOf(developer), await keyOf(admin)];
    const withKeys = { ...developer, keyIds: new Set([own]) };
    const projects = await newBudget({ each: 'project' });
    expect((await ask(withKeys, projects, {}, 'default')).status).toBe(201);
    expect((await ask(withKeys, projects, {}, 'other')).status).toBe(404);
    expect((await ask(developer, projects, {}, 'default')).status).toBe(404);
    await openServiceKeys(table).revoke(owner.accountId, own, { force: true, revokedAt: clock.toISOString() });
    expect((await ask(withKeys, projects, {}, 'default')).status).toBe(404);

    const sessions = await newBudget({ each: 'session' });
    const sent = (sessionId: string, keyId: string, requests = 1, day = '2026-11-18') => {
      const name = sessionCounterName({ sessionId, agentId: null, parentAgentId: null, client: null, keyId });
      const expiresAt = clock.getTime() / 1_000 + 1_000;
      return put({ ...sessionCounterKey(owner.accountId, day, name, 0), requests, expiresAt });
    };
    const counters = [
      sent('own', own),
      sent('moved', others, 0),
      sent('moved', own),
      sent('earlier', own, 1, '2026-10-31'),
    ];
    await transact(table, [...counters, sent('shared', own), sent('shared', others, 1, '2026-11-01')]);
    for (const [session, status] of [
      ['own', 201],
      ['moved', 201],
      ['shared', 404],
      ['earlier', 404],
      ['unknown', 404],
    ] as const)
      expect([session, (await ask(withKeys, sessions, {}, session)).status]).toEqual([session, status]);
    expect((await ask(withKeys, await newBudget({ each: 'dim:user' }), {}, 'ada')).status).toBe(404);
    expect((await call(withKeys, 'GET', '/raises')).body.items).toHaveLength(3);
  });

  it('takes more than holds now, and one at a time', async () => {
    const id = await newBudget();
    const low = await ask(developer, id, { amount: 200 });
    expect(low).toMatchObject(invalidAt('amount', 'must be more than $200, the limit now'));
    const twice = await Promise.all([ask(developer, id), ask(developer, id)]);
    expect(twice.map(({ status }) => status).sort()).toEqual([201, 409]);
    await call(boss, 'PUT', `/budgets/${id}/values/${admin.userId}`, { amount: null });
    const users = await newBudget({ each: 'dim:user' });
    for (const unlimited of [await ask(admin, id), await ask(admin, users, {}, '(none)')])
      expect(unlimited.body.error.details).toEqual([{ path: 'amount', message: 'is not needed: there is no limit' }]);
  });

  it('shows others of the whole account, and a developer the own', async () => {
    const id = await newBudget();
    const other = await memberOf('developer');
    await ask(developer, id);
    await ask(other, id);
    expect(await listed(developer)).toMatchObject([{ askedBy: { userId: developer.userId, name: developer.name } }]);
    expect(await listed(await memberOf('viewer'))).toHaveLength(2);
  });

  it('shows as many as a response of Lambda holds, the newest', async () => {
    const id = await newBudget();
    await ask(developer, id, { reason: '"'.repeat(500) });
    const raises = openRaises(table);
    const list = async (accountId: string, now: Date) => {
      const [raise] = await raises.list(accountId, now);
      return Array.from({ length: 3_000 }, (_, n) => ({ ...raise!, id: `${n}`, value: '"'.repeat(256) }));
    };
    const many = callAs(
      openDashboard(table, () => new Date(clock), { raises: { ...raises, list } }),
      boss,
    );
    const { status, body, text } = await many('GET', '/raises');
    expect([status, body.items.length, body.items[0].id]).toEqual([200, 1_500, '0']);
    expect(JSON.stringify({ body: text }).length).toBeLessThan(6 * 2 ** 20);
  });
});

describe('a decision', () => {
  it('gives the value its amount until the period ends, and says who decided', async () => {
    const id = await newBudget();
    const { body: raise } = await ask(developer, id);
    mails = [];
    expect((await decide(admin, raise.id)).body).toMatchObject({
      status: 'approved',
      decidedBy: { name: admin.name },
      granted: { amount: 300, until: '2026-12-01T00:00:00.000Z' },
    });
    expect((await decide(boss, raise.id)).status).toBe(409);
    expect(mails).toMatchObject([{ to: [developer.name], subject: 'Your higher limit is approved' }]);
    expect(await ownLimits(developer)).toMatchObject([
      { limitNanoUsd: 300e9, limitSource: 'override', overrideUntil: '2026-12-01T00:00:00.000Z' },
    ]);
    expect(await actions()).toEqual(
      expect.arrayContaining([
        ['raise.asked', developer.userId],
        ['raise.approved', admin.userId],
        ['budget.override_set', admin.userId],
      ]),
    );
    clock.setTime(Date.parse('2026-12-01T00:00:00.000Z'));
    expect(await ownLimits(developer)).toMatchObject([{ limitNanoUsd: 200e9, limitSource: 'budget' }]);
  });

  it('gives way to the amount that somebody had decided before, once the period ends', async () => {
    const id = await newBudget();
    await call(boss, 'PUT', `/budgets/${id}/values/${developer.userId}`, { amount: 50 });
    for (const amount of [80, 90]) {
      const { body: raise } = await ask(developer, id, { amount });
      expect((await decide(admin, raise.id)).status).toBe(200);
    }
    const { body: raised } = await call(boss, 'GET', `/budgets/${id}/values/${developer.userId}`);
    expect(raised).toMatchObject({ limitNanoUsd: 90e9, overrideUntil: '2026-12-01T00:00:00.000Z' });
    clock.setTime(Date.parse('2026-12-01T00:00:00.000Z'));
    const former = { limitNanoUsd: 50e9, limitSource: 'override', overrideUntil: null };
    expect(await ownLimits(developer)).toMatchObject([former]);
  });

  it('may be another amount, for good', async () => {
    const { body: raise } = await ask(developer, await newBudget());
    expect((await decide(admin, raise.id, { amount: 150 })).status).toBe(400);
    const { body } = await decide(admin, raise.id, { amount: 250, until: null });
    expect(body.granted).toEqual({ amount: 250, until: null });
    clock.setTime(Date.parse('2027-01-01T00:00:00.000Z'));
    expect(await ownLimits(developer)).toMatchObject([{ limitNanoUsd: 250e9 }]);
  });

  it('denies without a change, and leaves room to ask again', async () => {
    const id = await newBudget();
    const { body: raise } = await ask(developer, id);
    expect((await decide(admin, raise.id, { isApproved: false })).body).toMatchObject({
      status: 'denied',
      granted: null,
    });
    expect(await ownLimits(developer)).toMatchObject([{ limitNanoUsd: 200e9, raise: { status: 'denied' } }]);
    expect((await ask(developer, id)).status).toBe(201);
    // The decided one is of before.
    expect((await decide(admin, raise.id)).status).toBe(404);
  });

  it('is one, where two people decide at once', async () => {
    const { body: raise } = await ask(developer, await newBudget());
    const both = await Promise.all([decide(admin, raise.id), decide(boss, raise.id, { isApproved: false })]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    const [{ raise: decided, limitNanoUsd }] = await ownLimits(developer);
    expect(limitNanoUsd).toBe(decided.status === 'approved' ? 300e9 : 200e9);
    expect((await actions()).filter(([action]) => /^raise\.(approved|denied)$/.test(String(action)))).toHaveLength(1);
  });

  it('is never of who asked, or is asked for', async () => {
    const id = await newBudget();
    const own = (await ask(admin, id)).body;
    expect((await decide(admin, own.id)).status).toBe(403);
    expect((await decide(boss, own.id)).status).toBe(200);
    const forAdmin = (await ask(boss, id, { amount: 400 }, admin.userId)).body;
    expect((await decide(admin, forAdmin.id)).status).toBe(403);
    expect((await decide(boss, forAdmin.id)).status).toBe(403);
    const { body: raise } = await ask(developer, id);
    expect((await decide(developer, raise.id)).status).toBe(403);
    expect((await decide(await memberOf('member'), raise.id)).status).toBe(403);
    const stranger = await newAccount(table);
    expect((await decide({ ...boss, ...stranger }, raise.id)).status).toBe(404);
  });

  it('comes too late after seven days, and the item expires', async () => {
    const id = await newBudget();
    const { body: raise } = await ask(developer, id);
    clock.setTime(clock.getTime() + 7 * DAY_MS);
    expect(await listed(admin)).toMatchObject([{ status: 'expired' }]);
    expect((await decide(admin, raise.id)).status).toBe(409);
    expect((await ask(developer, id)).status).toBe(201);
    const item = await findItem(table, raiseKey(owner.accountId, id, developer.userId));
    expect(item?.['expiresAt']).toBe((clock.getTime() + 30 * DAY_MS) / 1_000);
    clock.setTime(clock.getTime() + 30 * DAY_MS);
    expect(await listed(admin)).toEqual([]);
  });

  it('is of nothing once the budget is deleted', async () => {
    const id = await newBudget();
    const { body: raise } = await ask(developer, id);
    await call(boss, 'DELETE', `/budgets/${id}`);
    expect((await decide(admin, raise.id)).status).toBe(404);
    expect((await ask(developer, id)).status).toBe(404);
    expect(await listed(admin)).toEqual([]);
  });

  it('does not lower an amount that was raised meanwhile', async () => {
    const id = await newBudget();
    const { body: raise } = await ask(developer, id);
    await call(boss, 'PUT', `/budgets/${id}/values/${developer.userId}`, { amount: 500 });
    expect((await decide(admin, raise.id)).status).toBe(400);
    expect(await ownLimits(developer)).toMatchObject([{ limitNanoUsd: 500e9 }]);
  });

  it.each<[string, string, string]>([
    ['of the value', 'PUT', '/values/'],
    ['of the budget', 'PATCH', ''],
  ])('does not lower an amount %s that is raised at the same moment', async (_, method, values) => {
    const id = await newBudget();
    const { body: raise } = await ask(developer, id);
    const raced = raceTable(table, async () => {
      const path = `/budgets/${id}${values}${values && developer.userId}`;
      expect((await call(boss, method, path, { amount: 500 })).status).toBe(200);
    });
    const other = callAs(
      openDashboard(raced, () => new Date(clock)),
      admin,
    );
    expect(await other('PATCH', `/raises/${raise.id}`, { isApproved: true })).toMatchObject({ status: 409 });
    expect(await ownLimits(developer)).toMatchObject([{ limitNanoUsd: 500e9, raise: { status: 'pending' } }]);
  });
});

describe('without asking', () => {
  it('owners and admins alone give a value more', async () => {
    const id = await newBudget();
    const member = await memberOf('member');
    for (const [by, status] of [
      [member, 403],
      [developer, 403],
      [admin, 200],
    ] as const)
      expect((await call(by, 'PUT', `/budgets/${id}/values/${by.userId}`, { amount: 900 })).status).toBe(status);
    expect(await ownLimits(member)).toMatchObject([{ limitNanoUsd: 200e9 }]);
  });

  it('a member changes no budget that stops that member alone', async () => {
    const member = await memberOf('member');
    const [own, others] = [await keyOf(member), await keyOf(developer)];
    const changed = async (by: Member, changes: object, method = 'PATCH') => {
      const id = await newBudget({ each: undefined, ...changes });
      return (await call(by, method, `/budgets/${id}`, method === 'PATCH' ? { amount: 900 } : undefined)).status;
    };
    for (const filter of [{ member: member.userId }, { key: own }]) {
      expect(await changed(member, { filter, block: {} })).toBe(403);
      expect(await changed(member, { filter, block: {} }, 'DELETE')).toBe(403);
      expect(await changed(member, { filter })).toBe(200);
      expect(await changed(admin, { filter, block: {} })).toBe(200);
    }
    expect(await changed(member, { filter: { key: others }, block: {} })).toBe(200);
    expect(await changed(member, { block: {} }, 'DELETE')).toBe(204);
  });
});
