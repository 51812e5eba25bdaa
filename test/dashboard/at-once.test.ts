import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { raceTable } from '../../fixtures/intercept-table.ts';
import { openOwnPrices } from '../../lambda/data/accounts/own-prices.ts';
import { put } from '../../lambda/data/table/actions.ts';
import { accountKey, blocksKey, serviceKeyKey, userKey } from '../../lambda/data/table/keys.ts';
import { itemsIn, itemsUnder } from '../../lambda/data/table/read.ts';
import type { Table, TableCommand } from '../../lambda/data/table/table.ts';
import { write } from '../../lambda/data/table/write.ts';
import { secretHash } from '../../lambda/domain/accounts/issued-secret.ts';
import { MAX_DEVELOPER_KEYS } from '../../lambda/domain/accounts/permissions.ts';
import { newAccount, newMember } from '../data/new-account.ts';
import { callAs } from '../http/invoke.ts';
import { dashboardForTests, openDashboard } from './open-dashboard.ts';
import { identityApi } from './open-identity.ts';

const webhookUrlProblem = async () => undefined;
const { table, clock, caller, call } = dashboardForTests({ webhookUrlProblem });
const now = () => new Date(clock);
const membershipOf = async () => ({ ...caller, role: 'owner' as const, name: 'ada@example.com', keyIds: undefined });
type Call = typeof call;
type Request = (call: Call) => ReturnType<Call>;

const sessions = { endSessions: async () => {} };
const directory = {
  createUser: async () => 'program',
  setPassword: async () => {},
  deleteUser: async () => {},
  findByEmail: async () => undefined,
};

beforeEach(async () => {
  Object.assign(caller, await newAccount(table, 'PRO'));
});

/** The API over a table, as its owner calls it. */
const over = (opened: Table): Call => {
  const dashboard = callAs(openDashboard(opened, now, { webhookUrlProblem }), caller);
  const sendMail = async () => {};
  let identity: Call | undefined;
  return (...of) => {
    if (!/^.(members|invitations|tokens|auth|sign-on)/.test(of[1])) return dashboard(...of);
    identity ??= callAs(identityApi(opened, { directory, sessions, sendMail, now }, { membershipOf }), caller);
    return identity(...of);
  };
};

let direct: Call | undefined;
/** The API without a race. */
const send: Call = (...of) => {
  direct ??= over(table);
  return direct(...of);
};

const isWrite = ({ operation }: TableCommand) => /Write|Put|Update|Delete/.test(operation);

/** Two requests, of which the second comes after what the first has read, and before it writes. @param at before which of its writes */
const overtaken = async (first: Request, second: Request, at = 0) => {
  let other: Awaited<ReturnType<Call>> | undefined;
  let writes = 0;
  const raced = raceTable(
    table,
    async () => {
      other = await second(send);
    },
    (command) => isWrite(command) && writes++ === at,
  );
  const { status, body } = await first(over(raced));
  return [other?.status, status, body?.error?.code];
};

describe('of two requests at once', () => {
  it.each([
    ['projects', 'PROJECT#', 99, {}],
    ['views', 'VIEW#', 50, { page: 'overview', search: '' }],
    ['reports', 'REPORT#', 20, { schedule: { every: 'daily', hour: 8 }, groupBy: ['model'] }],
    ['destinations', 'DESTINATION#', 5, { type: 'manifests', url: 'https://example.com/' }],
    ['keys', 'KEY#', MAX_DEVELOPER_KEYS, {}],
  ])('one makes the last of the %s that there may be', async (items, prefix, limit, facts) => {
    await newMember(table, caller.accountId, 'dev', 'developer');
    const as = items === 'keys' ? { userId: 'dev', role: 'developer' as const } : {};
    const make: Request = (send) => send('POST', `/${items}`, { name: `${count++}`, ...facts }, as);
    let count = 0;
    expect((await make(call)).status).toBe(201);
    const stored = await Array.fromAsync(itemsUnder(table, { pk: accountKey(caller.accountId).pk, sk: prefix }));
    for (let n = 2; n < limit; n++) await write(table, put({ ...stored.at(-1), sk: `${prefix}${n}` }));
    expect(await overtaken(make, make)).toEqual([201, 409, 'LIMIT_REACHED']);
  });

  it('one ends a pause', async () => {
    const { body } = await call('POST', '/pauses', { name: 'p', minutes: null, scope: { tag: 't' } });
    const end: Request = (send) => send('DELETE', `/pauses/${body.id}`);
    expect(await overtaken(end, end)).toEqual([204, 404, 'NOT_FOUND']);
  });

  it.each<[string, (project: string) => Request, number]>([
    ['member', (project) => (send) => send('PATCH', '/members/eve', { projects: [project] }), 200],
    [
      'invitation',
      (project) => (send) =>
        send('POST', '/invitations', { email: 'a@example.com', role: 'viewer', projects: [project] }),
      201,
    ],
    ['token', (project) => (send) => send('POST', '/tokens', { name: 'CI', role: 'viewer', projects: [project] }), 201],
    [
      'rule',
      (project) => (send) =>
        send('POST', '/alert-rules', {
          name: 'a',
          type: 'cost_threshold',
          config: { threshold: 1, period: 'daily', filter: { project } },
        }),
      201,
    ],
  ])('one limits a %s to a project, or deletes it', async (_, limit, made) => {
    await newMember(table, caller.accountId, 'eve', 'viewer');
    const newProject = async () => (await call('POST', '/projects', { name: 'Search' })).body.id;
    const remove =
      (project: string): Request =>
      (send) =>
        send('DELETE', `/projects/${project}`);
    const [deleted, kept] = [await newProject(), await newProject()];
    expect(await overtaken(limit(deleted), remove(deleted))).toEqual([204, 400, 'VALIDATION_ERROR']);
    expect(await overtaken(remove(kept), limit(kept))).toEqual([made, 409, 'CONFLICT']);
  });
});

type Step = readonly [method: string, path: string, body?: object | undefined, query?: Record<string, string>];
interface Resource {
  /** What is made before the steps, which have its id for `{name}`. */
  readonly made: Readonly<Record<string, Step>>;
  readonly steps: Readonly<Record<string, Step>>;
}

const budget = { name: 'b', amount: 1, period: 'monthly', block: { atPercent: 100 } };
const rule = { type: 'cost_threshold', name: 'r', config: { threshold: 1_000, period: 'daily' } };
const finding = { kind: 'interrupted_responses', scope: { tag: 't' }, decision: 'dismissed' };
const price = { name: 'n', from: '2099-01-01', terms: { kind: 'markup', percent: 5 } };
const currency = (code: string) => ({ currency: { code, rates: [{ from: '2026-01-01', perUsd: '0.9' }] } });

const resources: Readonly<Record<string, Resource>> = {
  keys: {
    made: { id: ['POST', '/keys', { name: 'k', member: 'zoe' }], project: ['POST', '/projects', { name: 'p' }] },
    steps: {
      rename: ['PATCH', '/keys/{id}', { name: 'l' }],
      move: ['PATCH', '/keys/{id}', { project: '{project}' }],
      end: ['PATCH', '/keys/{id}', { validUntil: '2026-12-01T00:00:00.000Z' }],
      rotate: ['POST', '/keys/{id}/rotate', { overlapHours: 24 }],
      revoke: ['DELETE', '/keys/{id}'],
      handOver: ['DELETE', '/members/zoe', undefined, { keys: 'hand-over', to: 'zed' }],
      revokeAll: ['DELETE', '/members/zoe', undefined, { keys: 'revoke' }],
      role: ['PATCH', '/members/zoe', { role: 'viewer' }],
      block: ['POST', '/budgets', budget],
      deleteProject: ['DELETE', '/projects/{project}'],
    },
  },
  members: {
    made: {
      id: ['POST', '/invitations', { email: 'new@example.com', role: 'viewer' }],
      token: ['POST', '/tokens', { name: 'ci', role: 'viewer' }],
      project: ['POST', '/projects', { name: 'p' }],
    },
    steps: {
      resend: ['POST', '/invitations/{id}/resend'],
      withdraw: ['DELETE', '/invitations/{id}'],
      revoke: ['DELETE', '/tokens/{token}'],
      role: ['PATCH', '/members/zoe', { role: 'viewer' }],
      limit: ['PATCH', '/members/zoe', { projects: ['{project}'] }],
      remove: ['DELETE', '/members/zoe'],
      transfer: ['POST', '/members/zoe/transfer-ownership'],
      transferToOther: ['POST', '/members/zed/transfer-ownership'],
      signOn: ['PATCH', '/sign-on', { defaultRole: 'viewer' }],
    },
  },
  views: {
    made: { id: ['POST', '/views', { name: 'v', page: 'overview', search: '' }] },
    steps: {
      rename: ['PATCH', '/views/{id}', { name: 'w' }],
      search: ['PATCH', '/views/{id}', { search: 'by=tag' }],
      delete: ['DELETE', '/views/{id}'],
    },
  },
  reports: {
    made: { id: ['POST', '/reports', { name: 'r', schedule: { every: 'daily', hour: 8 }, groupBy: ['model'] }] },
    steps: {
      rename: ['PATCH', '/reports/{id}', { name: 's' }],
      group: ['PATCH', '/reports/{id}', { groupBy: ['tag'] }],
      calendar: ['PUT', '/reports/calendar', { timeZone: 'Europe/Berlin', weekStartsOn: 'sunday' }],
      delete: ['DELETE', '/reports/{id}'],
    },
  },
  destinations: {
    made: { id: ['POST', '/destinations', { name: 'd', type: 'manifests', url: 'https://example.com/' }] },
    steps: {
      rename: ['PATCH', '/destinations/{id}', { name: 'e' }],
      move: ['PATCH', '/destinations/{id}', { url: 'https://example.com/b' }],
      delete: ['DELETE', '/destinations/{id}'],
    },
  },
  prices: {
    made: { id: ['POST', '/prices', price] },
    steps: {
      rename: ['PATCH', '/prices/{id}', { name: 'm' }],
      terms: ['PATCH', '/prices/{id}', { terms: { kind: 'markup', percent: 6 } }],
      delete: ['DELETE', '/prices/{id}'],
      more: ['POST', '/prices', price],
      euros: ['PUT', '/prices/currency', currency('EUR')],
      pounds: ['PUT', '/prices/currency', currency('GBP')],
    },
  },
  rules: {
    made: { id: ['POST', '/alert-rules', rule] },
    steps: {
      rename: ['PATCH', '/alert-rules/{id}', { name: 's' }],
      raise: ['PATCH', '/alert-rules/{id}', { config: { threshold: 2_000, period: 'daily' } }],
      off: ['PATCH', '/alert-rules/{id}', { isActive: false }],
      delete: ['DELETE', '/alert-rules/{id}'],
    },
  },
  limits: {
    made: {
      each: ['POST', '/budgets', { ...budget, each: 'member' }],
      pause: ['POST', '/pauses', { name: 'p', minutes: 5, scope: { tag: 't' } }],
      access: ['POST', '/access-rules', { name: 'a', denied: ['openai/*'] }],
    },
    steps: {
      value: ['PUT', '/budgets/{each}/values/zoe', { amount: 2 }],
      otherValue: ['PUT', '/budgets/{each}/values/zoe', { amount: 3 }],
      noValue: ['DELETE', '/budgets/{each}/values/zoe'],
      deleteEach: ['DELETE', '/budgets/{each}'],
      resume: ['DELETE', '/pauses/{pause}'],
      pause: ['POST', '/pauses', { name: 'q', minutes: 5, scope: { tag: 'u' } }],
      nameAccess: ['PATCH', '/access-rules/{access}', { name: 'b' }],
      deny: ['PATCH', '/access-rules/{access}', { denied: ['groq/*'] }],
      allow: ['DELETE', '/access-rules/{access}'],
    },
  },
  others: {
    made: {
      id: ['PUT', '/savings/decisions', { ...finding, reason: 'r' }],
      project: ['POST', '/projects', { name: 'p' }],
    },
    steps: {
      decide: ['PUT', '/savings/decisions', { ...finding, reason: 's' }],
      undecide: ['DELETE', '/savings/decisions/{id}'],
      declare: ['PUT', '/dimensions', { names: ['team'] }],
      declareOther: ['PUT', '/dimensions', { names: ['env'] }],
      rename: ['PATCH', '/projects/{project}', { name: 'q' }],
      renameAgain: ['PATCH', '/projects/{project}', { name: 'r' }],
      renameDefault: ['PATCH', '/projects/default', { name: 's' }],
      delete: ['DELETE', '/projects/{project}'],
      fill: ['POST', '/keys', { name: 'k', project: '{project}' }],
    },
  },
};

/** All that an account has in the table but its audit log, with ids and secrets by the order in which they come. */
const stateOf = async (people: Readonly<Record<string, string>>): Promise<string> => {
  const read = (pk: string) => Array.fromAsync(itemsIn(table, pk, { ConsistentRead: true }));
  const own = await read(accountKey(caller.accountId).pk);
  const secrets = own.flatMap(({ keyHash, former = [] }) =>
    keyHash === undefined ? [] : [{ keyHash }, ...(former as { keyHash: string }[])],
  );
  const others = [
    blocksKey(caller.accountId),
    ...secrets.map(({ keyHash }) => serviceKeyKey(String(keyHash))),
    ...[caller.userId, ...Object.values(people)].map(userKey),
  ];
  const state = [own, ...(await Promise.all(others.map(({ pk }) => read(pk))))];
  // A rule is in a shard of the index by its id. What stops requests has a version for each write.
  const sorted = (_: string, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(
          Object.entries(value)
            .filter(([name]) => name !== 'gsi1pk' && name !== 'version')
            .sort(),
        )
      : value;
  const named = Object.entries(people).reduce(
    (text, [name, id]) => text.replaceAll(id, name),
    JSON.stringify(state, sorted),
  );
  const seen = new Map<string, number>();
  return named.replaceAll(/[\da-f]{8}-[\da-f-]{27}|(svc|sat|whsec)_[\w-]+(…\w*)?|[\w-]{43}|[\da-f]{64}/g, (id) => {
    seen.set(id, seen.get(id) ?? seen.size);
    return `<${seen.get(id)}>`;
  });
};

/** What is there after some requests for a resource of a new account. */
const afterwards = async (
  { made, steps }: Resource,
  run: (request: (step: string) => Request) => Promise<unknown>,
): Promise<string> => {
  Object.assign(caller, await newAccount(table, 'PRO'));
  const people = { zoe: `zoe-${caller.userId.slice(0, 8)}`, zed: `zed-${caller.userId.slice(0, 8)}` };
  await newMember(table, caller.accountId, people.zoe, 'developer');
  await newMember(table, caller.accountId, people.zed, 'admin');
  const ids: Record<string, string> = {};
  const filled = <T>(value: T): T =>
    value &&
    JSON.parse(
      JSON.stringify(value).replaceAll(/\{(\w+)\}|\b(zoe|zed)\b/g, (_, id, name: 'zoe') => ids[id] ?? people[name]),
    );
  const request =
    ([method, path, body, query]: Step): Request =>
    (send) =>
      send(method, filled(path), filled(body), {}, filled(query));
  for (const [name, step] of Object.entries(made)) ids[name] = (await request(step)(send)).body.id;
  await run((step) => request(steps[step] as Step));
  return stateOf(people);
};

/** Of two requests at once, what the table has is what it has after one and then the other; a refused one changed nothing. */
const expectNothingLost = async (resource: Resource, first: string, second: string) => {
  const inOrder = (...steps: string[]) =>
    afterwards(resource, async (request) => {
      for (const step of steps) await request(step)(send);
    });
  const orders = [await inOrder(first, second), await inOrder(second, first)];
  const without = await inOrder(second);
  for (let at = 0, isRaced = true; isRaced && at < 5; at++) {
    let result: Awaited<ReturnType<typeof overtaken>> = [];
    const state = await afterwards(resource, async (request) => {
      result = await overtaken(request(first), request(second), at);
    });
    isRaced = result[0] !== undefined;
    if (!isRaced) break;
    const expected = result[1] < 300 ? orders : [without];
    if (!expected.includes(state)) expect({ first, second, at, result, state }).toEqual(expected);
  }
};

describe('of two people who change the same item', () => {
  const schedule = { every: 'daily', hour: 8 };
  const report = { name: 'r', schedule, groupBy: ['model'] };
  const [until, later] = ['2100-01-01T00:00:00.000Z', '2101-01-01T00:00:00.000Z'];
  it.each([
    ['/alert-rules', 'config.threshold', rule, { config: { threshold: 2 } }, { config: { threshold: 3 } }, '2'],
    ['/budgets', 'amount', { ...budget, each: 'member' }, { amount: 2 }, { amount: 3 }, '2'],
    ['/budgets', 'block', budget, { block: null }, { block: { atPercent: 110 } }, 'empty'],
    [
      '/access-rules',
      'denied',
      { name: 'a', denied: ['groq/*'] },
      { denied: ['xai/*'] },
      { denied: ['openai/*'] },
      'xai/*',
    ],
    ['/prices', 'until', price, { until }, { until: later }, until],
    ['/reports', 'groupBy', report, { groupBy: ['tag', 'key'] }, { groupBy: ['tag'] }, 'tag, key'],
    ['/views', 'search', { name: 'v', page: 'overview', search: '' }, { search: 'by=tag' }, { search: '' }, 'by=tag'],
  ])('the second learns what the first made of %s, %s', async (path, member, made, first, second, now) => {
    const item = (await call('POST', path, made)).body;
    const change = (body: object) => call('PATCH', `${path}/${item.id}`, body);
    const was = { [member]: member.split('.').reduce((part, name) => part[name], item) ?? null };
    for (const _ of ['sent', 'sent again']) expect(await change({ ...first, was })).toMatchObject({ status: 200 });
    expect(await change({ name: 'n2', was: { name: made.name } })).toMatchObject({ status: 200 });
    const details = [{ path: member, message: `is ${now} now: somebody else changed it after you read it` }];
    expect(await change({ ...second, name: 'n3', was: { ...was, name: 'n2' } })).toMatchObject({
      status: 409,
      body: { error: { code: 'CONFLICT', details } },
    });
    expect(await change({ ...second, was: { name: 'n2' } })).toMatchObject({ status: 200, body: { name: 'n2' } });
  });
});

describe('of two requests at once, none is lost', () => {
  it.each([
    ['keys', 'rename', 'end'],
    ['keys', 'rotate', 'end'],
    ['keys', 'handOver', 'rotate'],
    ['keys', 'role', 'rotate'],
    ['keys', 'role', 'handOver'],
    ['keys', 'block', 'rotate'],
    ['members', 'limit', 'role'],
    ['views', 'rename', 'search'],
    ['limits', 'value', 'otherValue'],
    ['limits', 'noValue', 'value'],
  ])('of %s: %s, %s', (name, first, second) => expectNothingLost(resources[name] as Resource, first, second));

  it('whatever they change', async () => {
    const pairs = Object.entries(resources).flatMap(([name, { steps }]) =>
      Object.keys(steps).flatMap((first) => Object.keys(steps).map((second) => [name, first, second] as const)),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...pairs), ([name, first, second]) =>
        expectNothingLost(resources[name] as Resource, first, second),
      ),
      { numRuns: 24 },
    );
  });
});

it('a price and a currency are set while a job has kept its progress, or another price is set', async () => {
  const store = openOwnPrices(table);
  expect((await call('POST', '/prices', price)).status).toBe(201);
  const progress = async () => {
    const { version, own } = await store.read(caller.accountId);
    await store.keepProgress(caller.accountId, version, { ...own, checkedAt: now().toISOString() });
    return { status: 200, body: {} };
  };
  expect(await overtaken((send) => send('PUT', '/prices/currency', currency('EUR')), progress as never)).toEqual([
    200, 200,
  ]);
  expect(await overtaken((send) => send('POST', '/prices', price), progress as never)).toEqual([200, 201]);
  const add: Request = (send) => send('POST', '/prices', price);
  expect(await overtaken(add, add)).toEqual([201, 201]);
  const { own } = await store.read(caller.accountId);
  expect([own.prices.length, own.currency?.code, own.checkedAt]).toEqual([4, 'EUR', now().toISOString()]);
});

it('no key goes to a member who leaves meanwhile', async () => {
  for (const userId of ['ann', 'bob']) await newMember(table, caller.accountId, userId, 'developer');
  await call('POST', '/keys', { name: 'laptop', member: 'ann' });
  const handOver: Request = (send) => send('DELETE', '/members/ann', undefined, {}, { keys: 'hand-over', to: 'bob' });
  expect(await overtaken(handOver, (send) => send('DELETE', '/members/bob'), 1)).toEqual([200, 200, undefined]);
  expect((await call('GET', '/keys')).body.items).toContainEqual(
    expect.objectContaining({ name: 'laptop', ownerUserId: 'ann', status: 'active' }),
  );
});

it('a key that went to another member is not revoked or moved under its former id', async () => {
  await newMember(table, caller.accountId, 'ann', 'developer');
  const hand = () => send('DELETE', '/members/ann', undefined, {}, { keys: 'hand-over', to: caller.userId });
  const { id, key } = (await call('POST', '/keys', { name: 'laptop', member: 'ann' })).body;
  const { id: project } = (await call('POST', '/projects', { name: 'Search' })).body;
  expect(await overtaken((send) => send('DELETE', `/keys/${id}`), hand)).toEqual([200, 409, 'CONFLICT']);
  const refused = await call('DELETE', `/keys/${id}`);
  expect(refused.body.error.message).toContain('went to another member');
  expect((await call('PATCH', `/keys/${id}`, { project, validUntil: '2026-12-01T00:00:00.000Z' })).status).toBe(200);
  const [secret] = await Array.fromAsync(itemsIn(table, serviceKeyKey(secretHash(key)).pk));
  expect(secret).toMatchObject({ keyStatus: 'active', projectId: 'default' });
  expect(secret).not.toHaveProperty('validUntil');
  expect((await call('DELETE', `/keys/${secret?.['keyId']}`)).status).toBe(204);
  expect((await call('DELETE', `/keys/${id}`)).status).toBe(204);
});
