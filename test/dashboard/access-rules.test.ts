import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { openProjects } from '../../lambda/data/accounts/projects.ts';
import { openServiceKeys } from '../../lambda/data/accounts/service-keys.ts';
import { openBlocks } from '../../lambda/data/alerts/blocks.ts';
import { accountServiceKeyKey, serviceKeyKey } from '../../lambda/data/table/keys.ts';
import { findItem } from '../../lambda/data/table/read.ts';
import { secretHash } from '../../lambda/domain/accounts/issued-secret.ts';
import type { Role } from '../../lambda/domain/accounts/permissions.ts';
import { DAY_MS } from '../../lambda/domain/calendar/units.ts';
import type { AccessRule } from '../../lambda/domain/limits/access.ts';
import { MAX_ACCESS_RULES } from '../../lambda/domain/limits/access-rules.ts';
import { type Block, NO_BLOCKS } from '../../lambda/domain/limits/block.ts';
import type { RequestRecord } from '../../lambda/domain/spend/request-record.ts';
import { addSpend, costing } from '../data/add-spend.ts';
import { invalidAt, refusedWith } from '../http/invoke.ts';
import { dashboardForTests } from './open-dashboard.ts';

/** The account's dearest requests. */
let dearest: Partial<RequestRecord>[];

const { table, clock, caller, call, audited } = dashboardForTests({
  requests: {
    highest: async () => ({ items: dearest as RequestRecord[], unreadableRequests: 0, examinedFrom: null }),
  } as never,
});
beforeEach(() => {
  dearest = [];
});
const create = (rule: object) => call('POST', '/access-rules', { name: 'Team defaults', ...rule });
/** What the gateway reads of a key. */
const secretOf = (serviceKey: string) => findItem(table, serviceKeyKey(secretHash(serviceKey)));
const stored = async () => (await openBlocks(table).read(caller.accountId)).access;

describe('an access rule', () => {
  it('is in what the gateway reads of the account, and every key says that there is something to read', async () => {
    const { status, body } = await create({ allowed: ['openai/gpt-4o*'], maxRequestUsd: 0.5 });
    const rule = {
      id: expect.any(String),
      name: 'Team defaults',
      scope: {},
      allowed: ['openai/gpt-4o*'],
      denied: [],
      maxRequestUsd: 0.5,
      createdAt: '2026-11-20T16:30:00.000Z',
    };
    expect([status, body]).toEqual([201, { ...rule, enforcedFrom: '2026-11-20T16:31:05.000Z' }]);
    expect(await stored()).toEqual([rule]);
    expect(await secretOf(caller.accountKey)).toMatchObject({ withoutBlocks: 'pass' });
    expect((await call('GET', '/access-rules')).body).toEqual({ items: [rule] });
  });

  it.each([
    [{ denied: ['opneai/*'] }, 'denied.0', /^must begin with \*\/, or a provider, which is one of openai, .*own-…$/],
    [{ allowed: ['azure/gpt-4o', 'own-/llama'] }, 'allowed.1', /^must begin with/],
    [{ denied: ['gpt-4o'] }, 'denied.0', /^must be a provider and a model/],
  ])('names providers that there are: %j', async (rule, path, message) => {
    expect(await create(rule)).toMatchObject(invalidAt(path, message));
    expect((await create({ denied: ['own-gpu/*', 'bedrock/*', '*/o1*'] })).status).toBe(201);
  });

  it('shows and deletes what an earlier version took for a provider', async () => {
    const { id } = (await create({ denied: ['openai/*'] })).body;
    await openBlocks(table).change(caller.accountId, ({ access: [rule], ...others }) => ({
      ...others,
      access: [{ ...(rule as AccessRule), denied: ['opneai/*'] }],
    }));
    expect((await call('GET', '/access-rules')).body.items).toMatchObject([{ denied: ['opneai/*'] }]);
    expect((await call('DELETE', `/access-rules/${id}`)).status).toBe(204);
  });

  it('is changed by what is sent, deleted, and audited', async () => {
    const { id } = (await create({ denied: ['openai/o1*'] })).body;
    const changed = await call('PATCH', `/access-rules/${id}`, { allowed: ['anthropic/*'] });
    expect(changed).toMatchObject({ status: 200, body: { id, denied: ['openai/o1*'], allowed: ['anthropic/*'] } });
    expect((await call('DELETE', `/access-rules/${id}`)).status).toBe(204);
    expect([await stored(), (await secretOf(caller.accountKey))?.['withoutBlocks']]).toEqual([[], undefined]);
    expect((await call('PATCH', `/access-rules/${id}`, { denied: [] })).status).toBe(404);
    expect((await call('DELETE', `/access-rules/${id}`)).status).toBe(404);
    expect((await audited()).map(({ action, subject }) => [action, subject])).toEqual(
      expect.arrayContaining(['created', 'changed', 'deleted'].map((verb) => [`access_rule.${verb}`, id])),
    );
  });

  it('keeps what several people change at once, and stays deleted', async () => {
    const { id } = (await create({ denied: ['openai/o1*'] })).body;
    const change = (body: object) => call('PATCH', `/access-rules/${id}`, body);
    await Promise.all([change({ name: 'Renamed' }), change({ allowed: ['openai/*'] }), change({ maxRequestUsd: 3 })]);
    expect(await stored()).toMatchObject([{ name: 'Renamed', allowed: ['openai/*'], maxRequestUsd: 3 }]);
    await Promise.all([call('DELETE', `/access-rules/${id}`), change({ name: 'a' }), change({ name: 'b' })]);
    expect(await stored()).toEqual([]);
  });

  it.each<[string, object, string]>([
    ['refuses nothing', {}, 'allowed'],
    ['has a model without a provider', { allowed: ['gpt-4o'] }, 'allowed.0'],
    ['has an unknown key', { scope: { key: 'key-9' }, denied: ['openai/*'] }, 'scope.key'],
    ['has an unknown project', { scope: { project: 'nowhere' }, denied: ['openai/*'] }, 'scope.project'],
  ])('that %s is not stored', async (_case, rule, path) => {
    expect(await create(rule)).toMatchObject(invalidAt(path));
    expect(await stored()).toEqual([]);
  });

  it(`is one of ${MAX_ACCESS_RULES} at most`, async () => {
    const access = Array.from({ length: MAX_ACCESS_RULES }, (_, index) => ({
      ...{ id: `rule-${index}`, name: 'r', scope: {}, allowed: null, denied: ['openai/*'], maxRequestUsd: null },
      createdAt: clock.toISOString(),
    }));
    await openBlocks(table).change(caller.accountId, (blocks) => ({ ...blocks, access }));
    expect(await create({ denied: ['openai/*'] })).toMatchObject(refusedWith(409, 'LIMIT_REACHED'));
  });
});

it('keeps what a later version wrote next to pauses and rules, and in them', async () => {
  const denied = ['openai/o1*'];
  const facts = { name: 'n', allowed: null, denied, maxRequestUsd: null, createdAt: '2026-11-20T16:00:00Z' };
  const later = { ...facts, id: 'a', scope: { network: 'n' } as object, more: 2 };
  const pause = {
    kind: 'pause',
    until: null,
    amountNanoUsd: null,
    spentNanoUsd: null,
    startedAt: '2026-11-20T16:00:00Z',
  };
  const paused = { ...pause, id: 'p', name: 'p', scope: { tag: 'a', network: 'n' }, more: 4 } as Block;
  const blocks = { ...NO_BLOCKS, blocks: [paused], access: [later], quotas: [3] };
  await openBlocks(table).change(caller.accountId, () => blocks);
  expect((await call('POST', '/pauses', { name: 'q', scope: { tag: 'b' } })).status).toBe(201);
  expect((await create({ denied })).status).toBe(201);
  expect((await call('GET', '/access-rules')).body.items).toHaveLength(2);
  expect((await call('GET', '/pauses')).body.items).toHaveLength(2);
  const after = await openBlocks(table).read(caller.accountId);
  expect(after).toMatchObject({ access: [later, {}], blocks: [paused, {}], quotas: [3] });
});

describe('what rules choose by is on every secret of a key', () => {
  const newKey = async (body: object) => (await call('POST', '/keys', { name: 'k', ...body })).body;

  it('from its creation on, and after it was moved and rotated', async () => {
    await openProjects(table).create({ projectId: 'search', name: 'Search', createdAt: clock.toISOString() }, {
      ...{ accountId: caller.accountId, at: clock.toISOString(), action: 'project.created' },
    } as never);
    const { id, key } = await newKey({});
    expect(await secretOf(key)).toMatchObject({ projectId: 'default', ownerRole: 'owner' });
    const rotated = (await call('POST', `/keys/${id}/rotate`, { overlapHours: 1 })).body.key;
    expect((await call('PATCH', `/keys/${id}`, { project: 'search' })).status).toBe(200);
    for (const secret of [key, rotated])
      expect(await secretOf(secret)).toMatchObject({ projectId: 'search', ownerRole: 'owner', keyId: id });
    // Only the former secret has an end.
    const ends = [await secretOf(key), await secretOf(rotated)].map((secret) => secret?.['validUntil']);
    expect(ends).toEqual(['2026-11-20T17:30:00.000Z', undefined]);
  });

  it('also on keys of earlier versions, from the first rule on that asks for it', async () => {
    for (const key of [
      serviceKeyKey(secretHash(caller.accountKey)),
      accountServiceKeyKey(caller.accountId, caller.keyId),
    ])
      await table.call('UpdateItem', {
        TableName: table.name,
        Key: key,
        UpdateExpression: 'REMOVE projectId, ownerRole',
      });
    expect((await create({ scope: { role: 'owner' }, denied: ['openai/*'] })).status).toBe(201);
    expect(await secretOf(caller.accountKey)).toMatchObject({ projectId: 'default', ownerRole: 'owner' });
  });

  it('after the role of its member has changed', async () => {
    const keys = openServiceKeys(table);
    const other = (await newKey({ member: null })).key;
    const roles = new Map<string, Role>([
      [caller.userId, 'viewer'],
      [randomUUID(), 'admin'],
    ]);
    await keys.copyRoles(caller.accountId, async () => roles);
    expect(await secretOf(caller.accountKey)).toMatchObject({ ownerRole: 'viewer' });
    expect(await secretOf(other)).not.toHaveProperty('ownerRole');
  });
});

describe('the preview of an access rule', () => {
  const at = (daysAgo: number) => new Date(clock.getTime() - daysAgo * DAY_MS).toISOString();
  const preview = (rule: object) => call('POST', '/access-rules/preview', { name: 'r', ...rule });

  it('counts the requests of 30 days that it would have refused, by model and key', async () => {
    const spend = (daysAgo: number, usd: number, dimensions: object, counters = {}) =>
      addSpend(table, caller.accountId, at(daysAgo), { ...costing(usd), ...counters }, dimensions);
    await spend(1, 2, { model: 'gpt-4o-2024-08-06', keyId: caller.keyId }, { requests: 4 });
    await spend(2, 1, { model: 'gpt-4o-mini', keyId: 'other' }, { requests: 3, unpricedRequests: 1 });
    await spend(3, 0, { model: null }, { requests: 5, freeRequests: 5 });
    await spend(40, 9, { model: 'gpt-4o-mini' });
    expect((await preview({ allowed: ['openai/gpt-4o'] })).body).toEqual({
      from: '2026-10-21T00:00:00.000Z',
      to: '2026-11-20T16:30:00.000Z',
      requests: 12,
      refused: { requests: 3, costNanoUsd: 1e9, unpricedRequests: 1 },
      items: [
        {
          ...{ provider: 'openai', model: 'gpt-4o-mini', keyId: 'other' },
          ...{ requests: 3, costNanoUsd: 1e9, unpricedRequests: 1 },
        },
      ],
      mayAlsoMatch: null,
      dearest: null,
    });
    // Of one key, and of a provider, which is refused what costs nothing, too.
    expect((await preview({ scope: { key: caller.keyId }, denied: ['openai/*'] })).body).toMatchObject({
      requests: 4,
      refused: { requests: 4, costNanoUsd: 2e9 },
    });
    expect((await preview({ denied: ['openai/*'] })).body.refused.requests).toBe(12);
  });

  it.each(['key', 'project'])('is refused for a %s that the account does not have', async (member) => {
    const rule = { scope: { [member]: 'nowhere' }, denied: ['openai/*'] };
    expect(await preview(rule)).toMatchObject(invalidAt(`scope.${member}`, /^nowhere is not an? (active )?/));
    expect(await create(rule)).toMatchObject(invalidAt(`scope.${member}`, /^nowhere is not an? (active )?/));
  });

  it('says what was counted under (other)', async () => {
    await addSpend(table, caller.accountId, at(1), { ...costing(1), requests: 7 }, { model: '(other)' });
    expect((await preview({ denied: ['openai/gpt-4o'] })).body).toMatchObject({
      refused: { requests: 0, costNanoUsd: 0 },
      mayAlsoMatch: { requests: 7, costNanoUsd: 1e9 },
    });
    await addSpend(table, caller.accountId, at(1), { ...costing(2), requests: 3 }, { keyId: '(other)' });
    expect((await preview({ scope: { key: caller.keyId }, denied: ['openai/*'] })).body).toMatchObject({
      refused: { requests: 0 },
      mayAlsoMatch: { requests: 3, costNanoUsd: 2e9 },
    });
  });

  it('shows no unknown cost as $0', async () => {
    const unknown = { requests: 2, unpricedRequests: 2 };
    await addSpend(table, caller.accountId, at(1), unknown, { model: 'gpt-4o' });
    await addSpend(table, caller.accountId, at(1), unknown, { model: '(other)' });
    expect((await preview({ denied: ['openai/gpt-4o'] })).body).toMatchObject({
      refused: { requests: 2, costNanoUsd: null, unpricedRequests: 2 },
      items: [{ costNanoUsd: null }],
      mayAlsoMatch: { requests: 2, costNanoUsd: null },
    });
  });

  it('names the dearest requests above a highest price', async () => {
    const record = { requestId: 'r-1', startedAt: at(1), provider: 'openai' as const, reading: null };
    dearest = [
      { ...record, keyId: caller.keyId, costNanoUsd: 3e9 },
      { ...record, requestId: 'r-2', keyId: caller.keyId, costNanoUsd: 1e9 },
      { ...record, requestId: 'r-3', keyId: 'other', costNanoUsd: 9e9 },
      { ...record, requestId: 'r-4', keyId: null, costNanoUsd: 2.01e9 },
    ];
    const { body } = await preview({ scope: { key: caller.keyId }, maxRequestUsd: 2 });
    expect(body).toMatchObject({
      refused: { requests: 0 },
      dearest: { items: [{ id: 'r-1', costNanoUsd: 3e9, model: null }], examinedFrom: null },
    });
    // Like the other requests of a preview, those of keys that are not in the list any more, and of none, are of the whole account.
    const ofAll = (await preview({ maxRequestUsd: 2 })).body.dearest.items;
    expect(ofAll.map(({ id }: { id: string }) => id)).toEqual(['r-1', 'r-3', 'r-4']);
    expect((await preview({ maxRequestUsd: 2.01 })).body.dearest.items).toHaveLength(2);
    const reader = await call('POST', '/access-rules/preview', { name: 'r', maxRequestUsd: 2 }, { role: 'billing' });
    expect([reader.status, reader.body.dearest]).toEqual([200, null]);
  });
});
