import { describe, expect, it } from '@jest/globals';
import { operations } from '../../../lambda/dashboard/operations.ts';
import { permits, type Role } from '../../../lambda/domain/accounts/permissions.ts';
import type { Alert } from '../../../lambda/domain/alerts/alert.ts';
import { buyPlan } from '../../../local/seed/seed.ts';
import { clearOfMidnight } from '../../clear-of-midnight.ts';
import { eventually, joinAccount, registerAccount, type Session, sendChat, sessionOf, verifyEmail } from './stack.ts';
import { stackForTests } from './stack-for-tests.ts';

let theirs: Session;
let myApiToken: string;
/** The owner, who may do everything, and a viewer; permissions.test.ts has every operation with every role. The other account has as many. */
let people: ReadonlyMap<Role, Session>;

/** Who sees a part of the other account only: a key of their own, and what it sent. All of `ids` is outside of it. */
let parts: readonly { readonly session: Session; readonly keyId: string; readonly requestId: string }[];

/** Ids of the other account's resources, by the path that takes them. */
let ids: Record<string, string>;
/** Cursors of the other account, by the path that takes them. */
let cursors: Record<string, string>;

await clearOfMidnight();

/** Its session is of my account. */
const running = stackForTests({}, async () => {
  const { api, session: mine, url } = running;
  theirs = await registerAccount(url);
  await verifyEmail(running, theirs);
  await verifyEmail(running, mine);
  await joinAccount(running, theirs, 'viewer');
  people = new Map([
    ['owner', mine],
    ['viewer', await joinAccount(running, mine, 'viewer')],
  ]);
  const { token } = theirs;
  const post = (path: string, body: object) => api('POST', path, { token, body: { name: 'n', ...body } });
  const every = (period: string) => ({ type: 'cost_threshold', config: { threshold: 0.0001, period } });
  const rule = await post('/alert-rules', every('monthly'));
  await post('/alert-rules', every('hourly'));
  // Of a past period: a current one has a projection, which changes with time.
  const period = { from: '2026-01-01', to: '2026-01-31' };
  const budget = await post('/budgets', { amount: 1_000, period });
  const price = await post('/prices', { from: '2099-01-01', terms: { kind: 'markup', percent: 5 } });
  const report = await post('/reports', { schedule: { every: 'daily', hour: 8 }, groupBy: ['model'] });
  const destination = await post('/destinations', { type: 'manifests', url: 'https://1.1.1.1/' });
  // Nothing leaves this machine.
  await api('PATCH', `/destinations/${destination.body.id}`, { token, body: { isActive: false } });
  await buyPlan(url, token);
  const own = await api('POST', '/projects', { token, body: { name: 'own' } });
  parts = await Promise.all(
    (['member', 'developer'] as const).map(async (role) => {
      const session = await joinAccount(running, theirs, role, undefined, [own.body.id]);
      const made = await api('POST', '/keys', { token: session.token, body: { name: `of ${role}` } });
      return { session, keyId: made.body.id as string, requestId: await sendChat(url, made.body.key) };
    }),
  );
  await sendChat(url, theirs.accountId);
  const requestId = await sendChat(url, theirs.accountId);
  const key = await api('POST', '/keys', { token, body: { name: 'second' } });
  const project = await api('POST', '/projects', { token, body: { name: 'p' } });
  const view = await api('POST', '/views', {
    token,
    body: { name: 'v', page: 'overview', search: `key=${key.body.id}` },
  });
  const invitation = await api('POST', '/invitations', {
    token,
    body: { email: `invited-${theirs.email}`, role: 'viewer' },
  });
  const body = { name: 'ci', role: 'viewer' };
  const apiToken = await api('POST', '/tokens', { token, body });
  myApiToken = (await api('POST', '/tokens', { token: mine.token, body })).body.token;
  const requests = await eventually(
    () => api('GET', '/requests', { token, query: 'limit=1' }),
    ({ body }) => body.nextCursor !== null,
    { scheduled: [] },
  );
  const alerts = await eventually(
    () => api('GET', '/alerts', { token, query: 'limit=1' }),
    ({ body }) => body.nextCursor !== null,
    { scheduled: ['RuleEvaluator'] },
  );
  // Waits until no event of the other account is in flight.
  await eventually(
    async () => (await api('GET', '/spend', { token })).body.totals,
    ({ requests, unfinishedRequests }) => requests === 4 && unfinishedRequests === 0,
    { scheduled: [] },
  );
  await eventually(
    () => api('GET', '/alerts', { token }),
    ({ body }) => body.items.every(({ deliveries }: Alert) => deliveries.every(({ status }) => status === 'sent')),
    { scheduled: ['RuleEvaluator'] },
  );
  await eventually(
    () => api('GET', '/keys', { token }),
    ({ body }) => body.items.filter(({ lastUsedAt }: { lastUsedAt: string | null }) => lastUsedAt).length === 3,
    { scheduled: [] },
  );
  const archive = await api('POST', '/account/archives', { token });
  const pause = await api('POST', '/pauses', { token, body: { name: 'n', scope: { tag: 'paused' } } });
  const access = await api('POST', '/access-rules', {
    token,
    // A rule of the whole account holds for keys in a part, too, and is shown there.
    body: { name: 'n', scope: { key: key.body.id }, denied: ['openai/o1*'] },
  });
  const decision = { kind: 'interrupted_responses', scope: { tag: 'chat' }, decision: 'dismissed', reason: 'r' };
  const saving = await api('PUT', '/savings/decisions', { token, body: decision });
  const audit = await api('GET', '/audit', { token, query: 'limit=1' });
  ids = {
    '/members/{userId}': theirs.userId,
    '/members/{userId}/transfer-ownership': theirs.userId,
    '/invitations/{id}': invitation.body.id,
    '/invitations/{id}/resend': invitation.body.id,
    '/keys/{id}': key.body.id,
    '/keys/{id}/rotate': key.body.id,
    '/projects/{id}': project.body.id,
    '/views/{id}': view.body.id,
    '/tokens/{id}': apiToken.body.id,
    '/requests/{requestId}': requestId,
    '/sessions/{sessionId}': sessionOf(theirs.accountId),
    '/alert-rules/{id}': rule.body.id,
    '/alert-rules/{id}/test': rule.body.id,
    '/budgets/{id}': budget.body.id,
    '/budgets/{id}/values': budget.body.id,
    '/budgets/{id}/values/export.csv': budget.body.id,
    '/budgets/{id}/values/{value}': budget.body.id,
    '/budgets/{id}/values/{value}/raises': budget.body.id,
    '/raises/{id}': budget.body.id,
    '/prices/{id}': price.body.id,
    '/savings/decisions/{id}': saving.body.id,
    '/destinations/{id}': destination.body.id,
    '/reports/{id}': report.body.id,
    '/reports/{id}/send': report.body.id,
    '/account/archives/{id}/link': archive.body.id,
    '/pauses/{id}': pause.body.id,
    '/access-rules/{id}': access.body.id,
    '/alerts/{id}': alerts.body.items[0].id,
    '/alerts/{id}/acknowledge': alerts.body.items[0].id,
  };
  cursors = {
    '/audit': audit.body.nextCursor,
    '/requests': requests.body.nextCursor,
    '/alerts': alerts.body.nextCursor,
  };
});

/** Operations that take an id of something. A provider's name is no id. */
const takingIds = operations.filter(
  ({ path, access }) => access !== 'machine' && path.includes('{') && !path.includes('{provider}'),
);

/** Everything that the API shows the other account. */
const theirWorld = async () => {
  const paths = [
    '/auth/me',
    '/members',
    '/invitations',
    '/keys',
    '/tokens',
    '/spend?groupBy=key',
    '/requests',
    '/sessions',
    '/alerts',
    '/alert-rules',
    '/access-rules',
    '/budgets',
    '/prices',
    '/reports',
    '/destinations',
    '/pauses',
    '/views',
  ];
  const responses = await Promise.all(paths.map((path) => running.api('GET', path, { token: theirs.token })));
  return responses.map(({ status, text }) => [status, text]);
};

const bodies: Record<string, unknown> = {
  updateAccessRule: { name: 'mine now' },
  updateAlertRule: { name: 'mine now' },
  updateBudget: { name: 'mine now' },
  setLimitOverride: { amount: 1 },
  askForRaise: { amount: 1, reason: 'mine now' },
  decideRaise: { isApproved: true },
  updatePrice: { name: 'mine now' },
  updateDestination: { name: 'mine now' },
  updateReport: { name: 'mine now' },
  sendReport: { to: 'me' },
  changeMember: { role: 'viewer' },
  changeKey: { name: 'mine now' },
  rotateKey: { overlapHours: 0 },
  renameProject: { name: 'mine now' },
  changeView: { name: 'mine now' },
};

describe('two accounts', () => {
  it('have an audit log each, with who changed what and from where', async () => {
    const { body } = await running.api('GET', '/audit', { token: theirs.token });
    const actions = body.items.map(({ action }: { action: string }) => action).reverse();
    expect(actions).toEqual(expect.arrayContaining(['account.registered', 'alert_rule.created', 'invitation.sent']));
    // The payment processor reports a plan.
    for (const entry of body.items.filter(({ action }: { action: string }) => action !== 'plan.changed'))
      expect(entry).toMatchObject({
        actor: { userId: expect.any(String), name: expect.stringMatching(/@example\.com$/) },
        clientAddress: expect.stringMatching(/127\.0\.0\.1|::1/),
      });
    const csv = await running.api('GET', '/audit/export.csv', { token: theirs.token });
    expect(csv.text.split('\r\n')).toHaveLength(body.items.length + 2);
  });

  it('have people who reach nothing of the other account, whatever their role', async () => {
    const before = await theirWorld();
    expect(takingIds.length).toBeGreaterThan(3);
    for (const [role, { token }] of people) {
      for (const { id: name, method, path, permission } of takingIds) {
        const theirId = ids[path];
        // A new operation with an id needs an entry here.
        expect([name, theirId]).toEqual([name, expect.any(String)]);
        const response = await running.api(method, path.replace(/\{\w+\}/, theirId as string), {
          token,
          body: bodies[name],
          query: method === 'DELETE' && path.startsWith('/keys') ? 'force=true' : '',
        });
        const isPermitted = permission === undefined || permits(role, permission);
        const expected = isPermitted ? [404, 'NOT_FOUND'] : [403, 'FORBIDDEN'];
        expect([role, name, response.status, response.body.error.code]).toEqual([role, name, ...expected]);
      }
    }
    expect(await theirWorld()).toEqual(before);
  });

  it('have people who see a part and reach nothing of the rest', async () => {
    const before = await theirWorld();
    for (const {
      session: { token },
    } of parts) {
      const { permissions } = (await running.api('GET', '/auth/me', { token })).body.user;
      for (const { id: name, method, path, permission } of takingIds) {
        const { status } = await running.api(method, path.replace(/\{\w+\}/, ids[path] as string), {
          token,
          body: bodies[name],
          query: method === 'DELETE' && path.startsWith('/keys') ? 'force=true' : '',
        });
        expect([name, status]).toEqual([name, permissions.includes(permission) ? 404 : 403]);
      }
    }
    expect(await theirWorld()).toEqual(before);
  });

  it('have people who read and write in their part alone', async () => {
    const [member, developer] = parts.map(({ session }) => session) as [Session, Session];
    const outside = [theirs.accountId, theirs.email, theirs.userId, ...Object.values(ids)];
    for (const { session, keyId, requestId } of parts) {
      const { token } = session;
      const api = (method: string, path: string, body?: unknown) => running.api(method, path, { token, body });
      await eventually(
        () => api('GET', '/requests'),
        ({ body }) => body.items.some((item: { requestId: string }) => item.requestId === requestId),
        { scheduled: [] },
      );
      const { permissions } = (await api('GET', '/auth/me')).body.user;
      const lists = operations.filter(
        ({ method, access, path, permission }) =>
          method === 'GET' && access === 'authorizer' && !path.includes('{') && permissions.includes(permission),
      );
      expect(lists.length).toBeGreaterThan(10);
      for (const { path } of lists) {
        const { status, text } = await api('GET', path);
        expect([path, status]).toEqual([path, 200]);
        for (const secret of outside) expect([path, text]).toEqual([path, expect.not.stringContaining(secret)]);
      }
      // The developer sees own keys alone; the member those of the project.
      const seen = session === developer ? 1 : 2;
      const spend = await api('GET', '/spend?groupBy=member&groupBy=tag');
      expect(spend.body.totals.requests).toBe(seen);
      expect((await api('GET', '/spend?key=none')).body.totals.requests).toBe(0);
      expect((await api('GET', '/requests')).body.items).toHaveLength(seen);
      expect((await api('GET', '/sessions')).body.sessions).toBe(seen);
      expect((await api('GET', '/keys')).body.items).toHaveLength(seen);
      expect((await api('GET', '/spend/export.csv?groupBy=key')).text.trim().split('\r\n')).toHaveLength(seen + 1);
      expect((await api('GET', `/keys`)).body.items.map(({ id }: { id: string }) => id)).toContain(keyId);
      // Nobody makes a key for others, or elsewhere.
      expect((await api('POST', '/keys', { name: 'n', project: 'default' })).status).toBe(404);
      expect((await api('POST', '/keys', { name: 'n', member: theirs.userId })).status).toBe(403);
    }
    const limit = { type: 'cost_threshold', name: 'n', config: { threshold: 1, period: 'daily' } };
    const wide = await running.api('POST', '/alert-rules', { token: member.token, body: limit });
    expect([wide.status, wide.body.error.message]).toEqual([403, expect.stringContaining('a part of this account')]);
    const preview = await running.api('POST', '/alert-rules/preview', { token: developer.token, body: limit });
    expect(preview.status).toBe(403);
    const pause = { token: member.token, body: { name: 'n', scope: { tag: 'paused' } } };
    expect((await running.api('POST', '/pauses', pause)).status).toBe(403);
    const [project] = (await running.api('GET', '/projects', { token: member.token })).body.items;
    const config = { ...limit.config, filter: { project: project.id } };
    const narrow = await running.api('POST', '/alert-rules', { token: member.token, body: { ...limit, config } });
    expect(narrow.status).toBe(201);
    const widened = await running.api('PATCH', `/alert-rules/${narrow.body.id}`, {
      ...{ token: member.token, body: { config: { filter: null } } },
    });
    expect(widened.status).toBe(403);
    expect((await running.api('GET', `/alert-rules/${narrow.body.id}`, { token: developer.token })).status).toBe(404);
    await running.api('DELETE', `/alert-rules/${narrow.body.id}`, { token: member.token });
  });

  it('have people who read of their own account what their role permits', async () => {
    for (const [role, { token, userId }] of people) {
      const me = await running.api('GET', '/auth/me', { token });
      expect(me.body.user).toMatchObject({ userId, role });
      expect([role, me.body.account.accountId === running.session.accountId]).toEqual([
        role,
        permits(role, 'keys:write-all'),
      ]);
      for (const { path, permission, access } of operations.filter(
        ({ method, path: each, permission: needed }) => method === 'GET' && needed !== undefined && !each.includes('{'),
      )) {
        const { status, text } = await running.api('GET', path, { token });
        const expected = permission === undefined || permits(role, permission) ? 200 : 403;
        // A person's token is no API token.
        expect([role, path, status]).toEqual([role, path, access === 'machine' ? 401 : expected]);
        expect(text).not.toContain(theirs.email);
      }
    }
  });

  it('cannot use the cursor of the other', async () => {
    // Changes of exports are listed after a time, which names nothing of an account. What is below an id is refused by the id.
    const takingCursors = operations.filter(
      ({ id, path, query, access }) =>
        access !== 'machine' && query && 'cursor' in query.shape && id !== 'listExportChanges' && !path.includes('{'),
    );
    for (const { path } of takingCursors) {
      expect([path, cursors[path]]).toEqual([path, expect.any(String)]);
      const response = await running.api('GET', path, {
        token: running.session.token,
        query: `cursor=${cursors[path]}`,
      });
      expect([path, response.status]).toEqual([path, 404]);
    }
  });

  it('see no data of each other in any list, sum or export', async () => {
    const secrets = [theirs.accountId, theirs.email, theirs.userId, ...Object.values(ids)];
    const lists = operations.filter(
      ({ method, access, path, success }) =>
        method === 'GET' && access !== 'public' && !path.includes('{') && success.status === 200,
    );
    for (const { path, access } of lists) {
      const token = access === 'machine' ? myApiToken : running.session.token;
      const { status, text } = await running.api('GET', path, { token });
      expect([path, status]).toEqual([path, 200]);
      for (const secret of secrets) expect(text).not.toContain(secret);
    }
    const spend = await running.api('GET', '/spend', { token: running.session.token });
    expect(spend.body.totals.requests).toBe(0);
    const preview = await running.api('POST', '/alert-rules/preview', {
      token: running.session.token,
      body: { type: 'cost_threshold', config: { threshold: 0.0001, period: 'daily' } },
    });
    expect(preview.body.alerts).toEqual([]);
  });
});
