import { beforeEach, describe, expect, it } from '@jest/globals';
import { interceptTable, raceTable } from '../../fixtures/intercept-table.ts';
import { ruleOf } from '../../fixtures/rule-of.ts';
import { openAccounts } from '../../lambda/data/accounts/accounts.ts';
import { auditEntry, openAuditLog } from '../../lambda/data/accounts/audit-log.ts';
import { openStatusCopies } from '../../lambda/data/accounts/key-copies.ts';
import { openMembers } from '../../lambda/data/accounts/members.ts';
import { openServiceKeys } from '../../lambda/data/accounts/service-keys.ts';
import { openRules } from '../../lambda/data/alerts/rules.ts';
import { put, remove, update } from '../../lambda/data/table/actions.ts';
import { accountKey, accountServiceKeyKey, serviceKeyKey, userKey } from '../../lambda/data/table/keys.ts';
import { findItem } from '../../lambda/data/table/read.ts';
import { write } from '../../lambda/data/table/write.ts';
import { isWellFormedAccountKey, secretHash } from '../../lambda/domain/accounts/issued-secret.ts';
import type { Role } from '../../lambda/domain/accounts/permissions.ts';
import { newAccount, newMember } from '../data/new-account.ts';
import { callAs, invalidAt, refusedWith } from '../http/invoke.ts';
import { tableForTests } from '../table-for-tests.ts';
import { openDashboard } from './open-dashboard.ts';

const table = tableForTests();
let now: Date;

const handler = openDashboard(table, () => now);
beforeEach(() => {
  now = new Date('2026-11-20T16:30:00.000Z');
});

const admitted = (serviceKey: string) => findItem(table, serviceKeyKey(secretHash(serviceKey)));

const asCaller = (caller: { accountId: string; userId: string; role?: Role }) => {
  const call = callAs(handler, caller);
  return {
    call,
    list: async () => (await call('GET', '/keys')).body,
    create: (name: string) => call('POST', '/keys', { name }),
    revoke: (keyId: string, force?: string) => call('DELETE', `/keys/${keyId}`, undefined, {}, { force }),
  };
};

describe('keys', () => {
  it('lists as many revoked ones as a response of Lambda holds, the newest', async () => {
    const account = await newAccount(table);
    const keys = openServiceKeys(table);
    const listOfMany = async (accountId: string) => {
      const [first] = await keys.listWhole(accountId);
      const revoked = Array.from({ length: 6_000 }, (_, index) => ({
        ...{ ...first, keyId: `0198a9b0-0000-7000-8000-${String(index).padStart(12, '0')}`, name: '"'.repeat(64) },
        ...{ status: 'revoked', revokedAt: now.toISOString() },
      }));
      return [first, ...revoked] as Awaited<ReturnType<typeof keys.listWhole>>;
    };
    const call = callAs(
      openDashboard(table, () => now, { keys: { ...keys, listWhole: listOfMany, list: listOfMany } }),
      account,
    );
    const { status, body, text } = await call('GET', '/keys');
    expect([status, body.items.length, body.items.at(-1).id.slice(-5)]).toEqual([200, 5_001, '05999']);
    expect(body.items[0].id).toBe(account.keyId);
    expect(JSON.stringify({ body: text }).length).toBeLessThan(6 * 2 ** 20);
    const [project] = (await call('GET', '/projects')).body.items;
    expect([project.keys.length, project.keys[0], project.keys.at(-1).slice(-6)]).toEqual([
      ...[1_001, account.keyId, '005999'],
    ]);
  });

  it('takes from the table no more of revoked ones than their names and places, whatever is changed', async () => {
    const account = await newAccount(table, 'PRO');
    const sent = new Set<string>();
    const watched = interceptTable(table, async ({ operation }, send) => {
      const output = (await send()) as { Items?: Record<string, unknown>[] };
      // Members are read as one list, not one by one.
      if (operation === 'BatchGetItem') sent.add(operation);
      for (const { status, ...item } of output.Items ?? [])
        if (status === 'revoked') for (const name of Object.keys(item)) sent.add(name);
      return output;
    });
    const { create, revoke, list } = asCaller(account);
    await revoke((await create('gone')).body.id);
    const call = callAs(
      openDashboard(watched, () => now),
      account,
    );
    const key = { key: account.keyId };
    const budget = { period: 'monthly', amount: 1, block: { atPercent: 100 } };
    const made = [
      await call('POST', '/pauses', { name: 'a', minutes: 1, scope: key }),
      await call('POST', '/access-rules', { name: 'a', scope: { role: 'owner' }, denied: ['openai/*'] }),
      await call('POST', '/budgets', { ...budget, name: 'a', filter: key }),
      await call('POST', '/budgets', { ...budget, name: 'b', each: 'member' }),
      await call('GET', '/spend', undefined, {}, { groupBy: 'project' }),
    ];
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201, 201, 200]);
    expect(sent).toEqual(new Set(['keyId', 'name', 'revokedAt', 'projectId', 'ownerUserId']));
    expect((await list()).items).toHaveLength(2);
  });

  it('reads a long list again only where keys have changed', async () => {
    const account = await newAccount(table, 'PRO');
    const { call, create, revoke } = asCaller(account);
    const { id } = (await create('first')).body;
    const { id: project } = (await call('POST', '/projects', { name: 'Search' })).body;
    const one = await findItem(table, accountServiceKeyKey(account.accountId, id));
    const old = Array.from({ length: 600 }, (_, n) => ({ keyId: `0-${n}`, sk: `KEY#0-${n}`, status: 'revoked' }));
    for (const item of old) await write(table, put({ ...one, ...item }));
    let queries = 0;
    let race: (() => Promise<unknown>) | undefined;
    const watched = interceptTable(table, async ({ operation }, send) => {
      if (operation === 'Query') {
        queries += 1;
        await race?.();
        race = undefined;
      }
      return send();
    });
    const lists = openServiceKeys(watched);
    const last = async () => (await lists.list(account.accountId)).at(-1);
    for (let n = 0; n < 5; n++) await last();
    expect((await lists.listActive(account.accountId)).map(({ keyId }) => keyId)).toEqual([account.keyId, id]);
    expect(queries).toBe(2);
    const changes: [() => Promise<unknown>, object][] = [
      [() => call('PATCH', `/keys/${id}`, { name: 'renamed' }), { keyId: id, name: 'renamed' }],
      [() => call('PATCH', `/keys/${id}`, { project }), { keyId: id, projectId: project }],
      [() => revoke(id), { keyId: id, status: 'revoked' }],
      [() => create('second'), { name: 'second', status: 'active' }],
    ];
    for (const [change, shown] of changes) {
      await change();
      for (let n = 0; n < 3; n++) expect(await last()).toMatchObject(shown);
    }
    expect(queries).toBe(6);
    // A change between the count and the list.
    await create('third');
    race = () => create('fourth');
    for (let n = 0; n < 3; n++) expect(await last()).toMatchObject({ name: 'fourth' });
    expect(queries).toBe(8);
    const { keyId = '' } = (await last()) ?? {};
    await newMember(table, account.accountId, 'heir', 'developer');
    const to = { keyId: '9', ownerUserId: 'heir', ownerRole: 'developer' as const, at: now.toISOString() };
    await lists.handOver(keyId, to, auditEntry(account.accountId, {}, { action: 'key.handed_over' }, now));
    expect(await last()).toMatchObject({ keyId: '9', ownerUserId: 'heir', status: 'active' });
  });

  it('lists the account key first, masked', async () => {
    const account = await newAccount(table);
    expect(await asCaller(account).list()).toEqual({
      items: [
        {
          id: account.keyId,
          name: 'default',
          maskedKey: `${account.accountKey.slice(0, 8)}…${account.accountKey.slice(-4)}`,
          status: 'active',
          project: 'default',
          ownerUserId: account.userId,
          createdAt: '2026-11-01T00:00:00.000Z',
          validUntil: null,
          formerSecrets: [],
          revokedAt: null,
          lastUsedAt: null,
        },
      ],
      active: 1,
      limit: 2,
    });
  });

  it('belongs to whoever makes it, to another member, or to nobody', async () => {
    const account = await newAccount(table, 'PRO');
    const { call } = asCaller(account);
    const ownerOf = async (member?: string | null) =>
      (await call('POST', '/keys', { name: 'k', member })).body.ownerUserId;
    expect(await ownerOf()).toBe(account.userId);
    expect(await ownerOf(account.userId)).toBe(account.userId);
    expect(await ownerOf(null)).toBe(null);
    expect(await call('POST', '/keys', { name: 'k', member: 'stranger' })).toMatchObject(
      invalidAt('member', 'stranger is not a member of the account'),
    );
    await newMember(table, account.accountId, 'program', 'member');
    await write(table, update(userKey('program'), 'SET tokenId = :id', null, { id: 'token-1' }));
    expect((await call('POST', '/keys', { name: 'k', member: 'program' })).status).toBe(400);
    await newMember(table, account.accountId, 'developer', 'member');
    const developer = asCaller({ ...account, userId: 'developer', role: 'member' });
    const forOther = { name: 'k', member: account.userId };
    expect(await developer.call('POST', '/keys', forOther)).toMatchObject(refusedWith(403, 'FORBIDDEN'));
    expect((await developer.call('POST', '/keys', { name: 'k', member: null })).status).toBe(403);
    expect((await developer.call('POST', '/keys', { name: 'k' })).body.ownerUserId).toBe('developer');
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

  it('lets keys beyond the limit of a smaller plan work and rotate, and makes no new ones', async () => {
    const account = await newAccount(table, 'STARTER');
    const { list, create, call } = asCaller(account);
    const { body: last } = await create('second');
    for (const name of ['third', 'fourth']) await create(name);
    await write(table, update(accountKey(account.accountId), 'SET #plan = :plan', null, { plan: 'FREE' }));
    expect(await list()).toMatchObject({ active: 4, limit: 2 });
    const rotated = await call('POST', `/keys/${last.id}/rotate`, {});
    expect(rotated.status).toBe(200);
    expect(await admitted(rotated.body.key)).toMatchObject({ keyStatus: 'active' });
    expect((await create('one more')).body.error.code).toBe('LIMIT_REACHED');
  });

  it('revokes a key permanently and only once, the last active one if forced', async () => {
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
    expect((await revoke(account.keyId)).body.error.code).toBe('CONFLICT');
    expect(await admitted(account.accountKey)).toMatchObject({ keyStatus: 'active' });
    expect((await revoke(account.keyId, 'true')).status).toBe(204);
    expect(await list()).toMatchObject({ active: 0 });
    expect(await admitted(account.accountKey)).toMatchObject({ keyStatus: 'revoked' });
  });

  it('is not called the last active one while its account is being deleted', async () => {
    const { create, revoke } = asCaller(await newAccount(table));
    const { id, key } = (await create('second')).body;
    await write(table, remove(serviceKeyKey(secretHash(key))));
    expect((await revoke(id)).body.error.message).toContain('changed the key');
  });
});

const HOUR_MS = 3_600_000;
const later = (hours: number) => new Date(now.getTime() + hours * HOUR_MS).toISOString();

describe('the end of a key', () => {
  it('is in the future, on the item that the gateway reads, and can be changed and removed', async () => {
    const { call, list } = asCaller(await newAccount(table, 'PRO'));
    const past = await call('POST', '/keys', { name: 'k', validUntil: later(-1) });
    expect(past).toMatchObject(invalidAt('validUntil', 'must be in the future'));
    const { body } = await call('POST', '/keys', { name: 'k', validUntil: '2026-11-21T00:00:00+01:00' });
    expect(body.validUntil).toBe('2026-11-20T23:00:00.000Z');
    expect(await admitted(body.key)).toMatchObject({ validUntil: '2026-11-20T23:00:00.000Z' });
    await call('PATCH', `/keys/${body.id}`, { validUntil: later(48) });
    expect(await admitted(body.key)).toMatchObject({ validUntil: later(48) });
    expect((await list()).items[1]).toMatchObject({ status: 'active', validUntil: later(48) });
    now = new Date(now.getTime() + 48 * HOUR_MS);
    expect((await list()).items[1]).toMatchObject({ status: 'expired' });
    expect((await call('PATCH', `/keys/${body.id}`, { validUntil: null })).body).toMatchObject({
      status: 'active',
      validUntil: null,
    });
    expect((await admitted(body.key))?.['validUntil']).toBeUndefined();
    const endless = await call('POST', '/keys', { name: 'k', validUntil: null });
    expect([endless.status, endless.body.validUntil]).toEqual([201, null]);
  });

  it('is before the year 10000, whose instants sort before all others as text', async () => {
    const { call, list } = asCaller(await newAccount(table, 'PRO'));
    expect(await call('POST', '/keys', { name: 'k', validUntil: '9999-12-31T23:00:00-01:00' })).toMatchObject(
      invalidAt('validUntil', 'must be in the years 0 to 9999 (UTC)'),
    );
    expect((await list()).items).toHaveLength(1);
    const last = '9999-12-31T23:59:59-00:00';
    expect((await call('POST', '/keys', { name: 'k', validUntil: last })).body).toMatchObject({ status: 'active' });
  });
});

it.each<[string, Role | undefined]>([
  ['is removed', undefined],
  ['gets another role', 'viewer'],
])('nobody gets a key who %s at the same moment', async (_, role) => {
  const { accountId } = await newAccount(table, 'PRO');
  await newMember(table, accountId, 'grace', 'developer');
  const members = openMembers(table);
  const raced = raceTable(table, async () => {
    const audit = auditEntry(accountId, {}, { action: 'member.removed' }, now);
    if (role) await members.change(await members.find(accountId, 'grace'), { role }, audit);
    else await members.remove('grace', audit);
  });
  const call = callAs(
    openDashboard(raced, () => now),
    { accountId, userId: 'grace', role: 'developer' },
  );
  expect(await call('POST', '/keys', { name: 'late' })).toMatchObject({ status: 409 });
  expect((await openServiceKeys(table).list(accountId)).map(({ name }) => name)).toEqual(['default']);
});

describe('rotation', () => {
  it('gives a new secret to the same key; the former works until the overlap ends', async () => {
    const account = await newAccount(table, 'PRO');
    const { call, create, list } = asCaller(account);
    const first = (await create('api')).body;
    const rotated = await call('POST', `/keys/${first.id}/rotate`, { overlapHours: 168 });
    expect(rotated).toMatchObject({
      status: 200,
      body: { id: first.id, name: 'api', formerSecrets: [{ maskedKey: first.maskedKey, validUntil: later(168) }] },
    });
    expect(isWellFormedAccountKey(rotated.body.key)).toBe(true);
    expect(await admitted(rotated.body.key)).toMatchObject({
      accountId: account.accountId,
      keyId: first.id,
      keyStatus: 'active',
      accountStatus: 'active',
    });
    expect((await admitted(rotated.body.key))?.['validUntil']).toBeUndefined();
    expect(await admitted(first.key)).toMatchObject({ keyStatus: 'active', validUntil: later(168) });
    // One key, so one of the plan's.
    expect(await list()).toMatchObject({ active: 2 });
    expect(JSON.stringify(await list())).not.toContain(rotated.body.key);
    expect((await call('POST', `/keys/${first.id}/rotate`, { overlapHours: 169 })).status).toBe(400);
  });

  it('without an overlap ends all former secrets, and revocation reaches each, and one of the same moment', async () => {
    const account = await newAccount(table, 'PRO');
    const { call, create, list } = asCaller(account);
    const first = (await create('api')).body;
    const second = (await call('POST', `/keys/${first.id}/rotate`, { overlapHours: 100 })).body;
    const third = (await call('POST', `/keys/${first.id}/rotate`, { overlapHours: 50 })).body;
    expect(third.formerSecrets).toHaveLength(2);
    const fourth = (await call('POST', `/keys/${first.id}/rotate`, { overlapHours: 0 })).body;
    expect(fourth.formerSecrets).toEqual([]);
    for (const { key } of [first, second, third]) expect(await admitted(key)).toMatchObject({ validUntil: later(0) });
    const all = [first, second, third, fourth];
    const raced = raceTable(table, async () => all.push((await call('POST', `/keys/${first.id}/rotate`, {})).body));
    const other = openDashboard(raced, () => now);
    expect((await callAs(other, account)('DELETE', `/keys/${first.id}`)).status).toBe(204);
    expect(all).toHaveLength(5);
    expect(all[4]?.formerSecrets).toHaveLength(1);
    expect((await list()).items).toContainEqual(expect.objectContaining({ id: first.id, formerSecrets: [] }));
    for (const { key } of all) expect(await admitted(key)).toMatchObject({ keyStatus: 'revoked' });
    expect((await call('POST', `/keys/${first.id}/rotate`, {})).status).toBe(409);
  });

  it('never prolongs a secret beyond its own end', async () => {
    const { call } = asCaller(await newAccount(table, 'PRO'));
    const { body } = await call('POST', '/keys', { name: 'k', validUntil: later(2) });
    const rotated = await call('POST', `/keys/${body.id}/rotate`, { overlapHours: 24 });
    expect(await admitted(body.key)).toMatchObject({ validUntil: later(2) });
    expect(await admitted(rotated.body.key)).toMatchObject({ validUntil: later(2) });
  });

  it('is refused with a sixth former secret that still works, and goes on without an overlap', async () => {
    const { call, create } = asCaller(await newAccount(table, 'PRO'));
    const first = (await create('api')).body;
    const rotate = (overlapHours: number) => call('POST', `/keys/${first.id}/rotate`, { overlapHours });
    for (let former = 0; former < 5; former++) expect((await rotate(24)).status).toBe(200);
    expect((await rotate(24)).status).toBe(409);
    expect((await rotate(0)).status).toBe(200);
    expect((await rotate(24)).status).toBe(200);
  });

  it('ends with the key, where the end of the key comes first', async () => {
    const { call, create } = asCaller(await newAccount(table, 'PRO'));
    const first = (await create('api')).body;
    const second = (await call('POST', `/keys/${first.id}/rotate`, { overlapHours: 100 })).body;
    await call('PATCH', `/keys/${first.id}`, { validUntil: later(1) });
    for (const { key } of [first, second]) expect(await admitted(key)).toMatchObject({ validUntil: later(1) });
    await call('PATCH', `/keys/${first.id}`, { validUntil: later(200) });
    expect(await admitted(first.key)).toMatchObject({ validUntil: later(1) });
    expect(await admitted(second.key)).toMatchObject({ validUntil: later(200) });
  });

  it('of the account key changes what the API shows as accountId', async () => {
    const account = await newAccount(table, 'PRO');
    const { body } = await asCaller(account).call('POST', `/keys/${account.keyId}/rotate`, {});
    expect((await openAccounts(table).find(account.accountId))?.accountKey).toBe(body.key);
  });

  it('keeps the status of the account on every secret', async () => {
    const account = await newAccount(table, 'PRO');
    const { call, create } = asCaller(account);
    const first = (await create('api')).body;
    const second = (await call('POST', `/keys/${first.id}/rotate`, {})).body;
    const suspend = update(accountKey(account.accountId), 'SET #status = :status', null, { status: 'suspended' });
    await openStatusCopies(table).write(account.accountId, 'suspended', suspend);
    for (const { key } of [first, second]) expect(await admitted(key)).toMatchObject({ accountStatus: 'suspended' });
    const third = (await call('POST', `/keys/${first.id}/rotate`, {})).body;
    expect(await admitted(third.key)).toMatchObject({ accountStatus: 'suspended' });
  });

  it('happens once of several at a time', async () => {
    const account = await newAccount(table, 'PRO');
    const { accountId } = account;
    const { call, create } = asCaller(account);
    const { id } = (await create('api')).body;
    const responses = await Promise.all([1, 2, 3].map(() => call('POST', `/keys/${id}/rotate`, {})));
    const statuses = responses.map(({ status }) => status);
    expect(statuses).toContain(200);
    expect(statuses.filter((status) => ![200, 409, 503].includes(status))).toEqual([]);
    const key = await openServiceKeys(table).find(accountId, id);
    expect(key?.former).toHaveLength(statuses.filter((status) => status === 200).length);
  });
});

describe('roles', () => {
  it('let a member change own keys only', async () => {
    const account = await newAccount(table, 'PRO');
    const member = asCaller({ accountId: account.accountId, userId: 'a-member', role: 'member' });
    await newMember(table, account.accountId, 'a-member', 'member');
    const own = (await member.create('mine')).body;
    expect(own.ownerUserId).toBe('a-member');
    for (const attempt of [
      member.call('PATCH', `/keys/${account.keyId}`, { name: 'taken' }),
      member.call('POST', `/keys/${account.keyId}/rotate`, {}),
      member.revoke(account.keyId, 'true'),
    ])
      expect(await attempt).toMatchObject(refusedWith(403, 'FORBIDDEN', 'keys:write-all'));
    expect((await member.call('PATCH', `/keys/${own.id}`, { name: 'renamed' })).body.name).toBe('renamed');
    expect((await member.revoke(own.id)).status).toBe(204);
  });
});

describe('projects', () => {
  it('hold each key exactly once, the default project those that name none', async () => {
    const { call, create, list } = asCaller(await newAccount(table, 'PRO'));
    const project = (await call('POST', '/projects', { name: 'Search' })).body;
    expect(project).toEqual({ id: expect.any(String), name: 'Search', isDefault: false, createdAt: later(0) });
    const inProject = (await call('POST', '/keys', { name: 'k', project: project.id })).body;
    const other = (await create('other')).body;
    const keysOf = async () =>
      (await call('GET', '/projects')).body.items.map(({ name, keys }: { name: string; keys: string[] }) => [
        name,
        keys,
      ]);
    const first = (await list()).items[0].id;
    expect(await keysOf()).toEqual([
      ['Default', [first, other.id]],
      ['Search', [inProject.id]],
    ]);
    await call('PATCH', `/keys/${other.id}`, { project: project.id });
    await call('PATCH', `/keys/${inProject.id}`, { project: 'default' });
    expect(await keysOf()).toEqual([
      ['Default', [first, inProject.id]],
      ['Search', [other.id]],
    ]);
  });

  it('can be renamed, also the default one', async () => {
    const { call } = asCaller(await newAccount(table));
    const { id } = (await call('POST', '/projects', { name: 'a' })).body;
    expect((await call('PATCH', `/projects/${id}`, { name: 'b' })).status).toBe(204);
    expect((await call('PATCH', '/projects/default', { name: 'Everything else' })).status).toBe(204);
    expect((await call('PATCH', '/projects/nothing', { name: 'c' })).status).toBe(404);
    expect((await call('GET', '/projects')).body.items).toMatchObject([
      { name: 'Everything else', isDefault: true },
      { name: 'b', isDefault: false },
    ]);
  });

  it('are deleted only without keys, also revoked ones', async () => {
    const { call, revoke } = asCaller(await newAccount(table, 'PRO'));
    const { id } = (await call('POST', '/projects', { name: 'a' })).body;
    const key = (await call('POST', '/keys', { name: 'k', project: id })).body;
    await revoke(key.id);
    expect((await call('DELETE', `/projects/${id}`)).body.error.code).toBe('CONFLICT');
    await call('PATCH', `/keys/${key.id}`, { project: 'default' });
    expect((await call('DELETE', `/projects/${id}`)).status).toBe(204);
    expect((await call('DELETE', `/projects/${id}`)).status).toBe(404);
    expect((await call('DELETE', '/projects/default')).status).toBe(409);
    expect((await call('POST', '/keys', { name: 'k', project: id })).body.error.code).toBe('NOT_FOUND');
    expect((await call('PATCH', `/keys/${key.id}`, { project: id })).body.error.code).toBe('NOT_FOUND');
  });

  it('are not deleted while an active rule filters by them, or somebody is limited to them', async () => {
    const account = await newAccount(table, 'PRO');
    const { call } = asCaller(account);
    const { id } = (await call('POST', '/projects', { name: 'a' })).body;
    const { id: other } = (await call('POST', '/projects', { name: 'b' })).body;
    const config = { threshold: 1, period: 'daily', filter: { project: id } };
    const rule = ruleOf(account.accountId, { name: 'Search', config, createdAt: later(0) });
    await openRules(table).create(rule);
    await newMember(table, account.accountId, 'ada', 'viewer', [other]);
    for (const [project, message] of [
      [id, '"Search" filters by the project'],
      [other, 'Limited to this project: ada@example.com.'],
    ])
      expect(await call('DELETE', `/projects/${project}`)).toMatchObject(refusedWith(409, 'CONFLICT', message!));
    await openRules(table).replace({ ...rule, isActive: false, revision: 2 }, 1);
    expect((await call('DELETE', `/projects/${id}`)).status).toBe(204);
  });
});

describe('the audit log', () => {
  it('has each change of keys and projects, and no secret', async () => {
    const account = await newAccount(table, 'PRO');
    const { call, create, revoke } = asCaller(account);
    const project = (await call('POST', '/projects', { name: 'Search' })).body;
    const key = (await create('api')).body;
    await call('PATCH', `/keys/${key.id}`, { name: 'api 2', project: project.id });
    await call('PATCH', `/keys/${key.id}`, {});
    const rotated = (await call('POST', `/keys/${key.id}/rotate`, {})).body;
    await revoke(key.id);
    // The second revocation changes nothing.
    await revoke(key.id);
    const { items } = await openAuditLog(table).page(account.accountId, { from: '2026', to: '2027', limit: 50 });
    expect(items.map(({ action }) => action).reverse()).toEqual([
      'project.created',
      'key.created',
      'key.changed',
      'key.rotated',
      'key.revoked',
    ]);
    for (const secret of [key.key, rotated.key, secretHash(key.key)])
      expect(JSON.stringify(items)).not.toContain(secret);
  });
});
