import { describe, expect, it } from '@jest/globals';
import { totpCode } from '../../../fixtures/totp.ts';
import { update } from '../../../lambda/data/table/actions.ts';
import {
  accountKey,
  deletedAccountKey,
  deletionKey,
  type Key,
  outboxKey,
  serviceKeyKey,
  userKey,
} from '../../../lambda/data/table/keys.ts';
import { write } from '../../../lambda/data/table/write.ts';
import { secretHash } from '../../../lambda/domain/accounts/issued-secret.ts';
import { DAY_MS } from '../../../lambda/domain/calendar/units.ts';
import { buyPlan } from '../../../local/seed/seed.ts';
import { clearOfMidnight } from '../../clear-of-midnight.ts';
import { policiesInContainers } from '../../policies/in-containers.ts';
import { closeEvent } from '../../usage-recorder/events.ts';
import { moveClock, open, press } from '../stripe-webhook/browser.ts';
import { eventually, joinAccount, PASSWORD, type Request, registerAccount, sendChat, verifyEmail } from './stack.ts';
import { stackForTests } from './stack-for-tests.ts';

await clearOfMidnight();

const running = stackForTests({ environment: { DELETION_GRACE_SECONDS: '1', DELETION_PAUSE_SECONDS: '1' } });
const call = (method: string, path: string, request: Request = {}) =>
  running.api(method, path, { token: running.session.token, ...request });

/** The id under which the table has the account. */
const internalAccountId = async (): Promise<string> => {
  const { table } = running.stack;
  const { Item } = await table.call('GetItem', { TableName: table.name, Key: userKey(running.session.userId) });
  return Item?.['accountId'];
};

const mailTo = async (email: string, subject: RegExp) =>
  eventually(
    async () =>
      (await running.stack.inbox()).filter((mail) => mail.destination.to.includes(email) && subject.test(mail.subject)),
    (mails) => mails.length > 0,
    { scheduled: [] },
  );

/** 1000 input and 100 output tokens of gpt-4o-mini at $0.15 and $0.60 per million. */
const COST_NANO_USD = 210_000;

describe('the dashboard API over HTTP', () => {
  it('returns the current user', async () => {
    const { status, body } = await call('GET', '/auth/me');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      user: { userId: running.session.userId, email: running.session.email },
      account: { accountId: running.session.accountId, status: 'active', plan: 'FREE' },
    });
    const login = await call('POST', '/auth/login', { body: { email: running.session.email, password: PASSWORD } });
    expect(login.body).toMatchObject({ accountId: running.session.accountId, userId: running.session.userId });
    const refreshed = await call('POST', '/auth/refresh', { body: { refreshToken: login.body.refreshToken } });
    expect((await call('GET', '/auth/me', { token: refreshed.body.token })).status).toBe(200);
  });

  it('covers keys, traffic, spend, requests, export, rules, alerts and mail', async () => {
    const rule = await call('POST', '/alert-rules', {
      body: {
        type: 'cost_threshold',
        name: 'Daily <spend>',
        config: { threshold: 0.0003, period: 'daily', filter: { tag: 'batch' } },
        channels: ['email'],
        isActive: true,
      },
    });
    expect(rule.status).toBe(201);
    await verifyEmail(running, running.session);

    const key = await call('POST', '/keys', { body: { name: 'batch jobs' } });
    expect(key.status).toBe(201);
    expect((await call('POST', '/keys', { body: { name: 'third' } })).body.error.code).toBe('LIMIT_REACHED');
    await sendChat(running.url, running.session.accountId);
    await sendChat(running.url, key.body.key, 'batch');
    const requestId = await sendChat(running.url, key.body.key, 'batch');

    const spend = await eventually(
      () =>
        call('GET', '/spend', {
          query: `groupBy=tag&groupBy=key&granularity=hour&from=${new Date().toISOString().slice(0, 10)}`,
        }),
      // An open event may be recorded before its close event where the machine is slow.
      ({ body }) => body.totals.requests === 3 && body.totals.unpricedRequests === 0,
      { scheduled: [] },
    );
    expect(spend.body.totals).toMatchObject({
      costNanoUsd: 3 * COST_NANO_USD,
      costUsd: '0.00063',
      unpricedRequests: 0,
    });
    expect(spend.body.groups).toMatchObject([
      { tag: 'batch', key: key.body.id, requests: 2, costNanoUsd: 2 * COST_NANO_USD },
      { tag: null, requests: 1, costNanoUsd: COST_NANO_USD },
    ]);

    const log = await call('GET', '/requests', { query: 'tag=batch&limit=1' });
    expect(log.body.items).toMatchObject([
      { requestId, model: 'gpt-4o-mini', costNanoUsd: COST_NANO_USD, provenance: 'computed' },
    ]);
    const next = await call('GET', '/requests', { query: `tag=batch&limit=1&cursor=${log.body.nextCursor}` });
    expect(next.body.items).toHaveLength(1);
    expect(next.body.items[0].requestId).not.toBe(requestId);
    expect((await call('GET', `/requests/${requestId}`)).body).toMatchObject({ usageSource: 'reported', tag: 'batch' });

    const csv = await call('GET', '/spend/export.csv', { query: 'groupBy=tag' });
    expect(csv.headers.get('content-type')).toMatch(/^text\/csv/);
    expect(
      csv.text
        .trim()
        .split('\r\n')
        .slice(1)
        .map((line) => line.split(',').slice(1, 4)),
    ).toEqual([
      ['batch', '2', '0.00042'],
      ['', '1', '0.00021'],
    ]);

    const keys = await eventually(
      () => call('GET', '/keys'),
      ({ body }) => body.items.every(({ lastUsedAt }: { lastUsedAt: string | null }) => lastUsedAt !== null),
      { scheduled: [] },
    );
    expect(keys.body).toMatchObject({ active: 2, limit: 2, items: [{ name: 'default' }, { name: 'batch jobs' }] });

    const alerts = await eventually(
      () => call('GET', '/alerts', { query: 'status=triggered' }),
      ({ body }) => body.items[0]?.deliveries[0]?.status === 'sent',
      { scheduled: ['RuleEvaluator'] },
    );
    const [alert] = alerts.body.items;
    expect(alert).toMatchObject({
      ruleId: rule.body.id,
      ruleName: 'Daily <spend>',
      figure: 2 * COST_NANO_USD,
      figureUsd: '0.00042',
      contributors: expect.arrayContaining([{ dimension: 'key', value: key.body.id, label: 'batch jobs', share: 1 }]),
    });
    const [mail, ...more] = await mailTo(running.session.email, /^AI spend alert/);
    expect(more).toEqual([]);
    expect(mail?.body.text).toContain('Spend is $0.00042');
    expect(mail?.body.text).toContain(`/alerts/${alert.id}`);
    expect(mail?.body.html).toContain('Daily &lt;spend&gt;');

    const preview = await call('POST', '/alert-rules/preview', {
      body: { type: rule.body.type, config: rule.body.config },
    });
    expect(preview.body.alerts).toMatchObject([{ figure: 2 * COST_NANO_USD }]);

    expect((await call('PATCH', `/alerts/${alert.id}/acknowledge`)).body).toMatchObject({ status: 'acknowledged' });
    expect((await call('GET', '/alerts', { query: 'status=triggered' })).body.items).toEqual([]);
    expect((await call('PATCH', `/alert-rules/${rule.body.id}`, { body: { isActive: false } })).body.isActive).toBe(
      false,
    );
    expect((await call('DELETE', `/alert-rules/${rule.body.id}`)).status).toBe(204);
    expect((await call('GET', '/alert-rules')).body.items).toEqual([]);
    expect((await call('DELETE', `/keys/${key.body.id}`)).status).toBe(204);
    expect((await call('DELETE', `/keys/${keys.body.items[0].id}`)).body.error.code).toBe('CONFLICT');
  });

  it('sets a new password with the code from the inbox', async () => {
    const { email } = await registerAccount(running.url);
    expect((await call('POST', '/auth/forgot-password', { body: { email } })).status).toBe(202);
    const [mail] = await mailTo(email, /confirmation/i);
    const code = /\d{4,}/.exec(mail?.body.text ?? '')?.[0];
    const newPassword = 'another horse 2';
    expect((await call('POST', '/auth/reset-password', { body: { email, code, newPassword } })).status).toBe(204);
    expect((await call('POST', '/auth/login', { body: { email, password: newPassword } })).status).toBe(200);
    expect((await call('POST', '/auth/login', { body: { email, password: PASSWORD } })).body.error.code).toBe(
      'INVALID_CREDENTIALS',
    );
  });

  it('gives a program its JWT for an API token, until the token is removed', async () => {
    const created = await call('POST', '/tokens', { body: { name: 'ci', role: 'viewer' } });
    const { id, token } = created.body;
    const exchange = () =>
      call('POST', '/auth/token', {
        rawBody: 'grant_type=client_credentials',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          authorization: `Basic ${Buffer.from(`${id}:${token}`).toString('base64')}`,
        },
      });
    const jwt = (await exchange()).body.access_token;
    const [viaJwt, viaToken] = await Promise.all([
      call('GET', '/spend', { token: jwt }),
      call('GET', '/machine/spend', { token }),
    ]);
    expect(viaJwt.status).toBe(200);
    expect(viaToken.body).toEqual(viaJwt.body);
    expect((await call('GET', '/machine/spend/export.csv', { token })).headers.get('content-type')).toMatch(
      /^text\/csv/,
    );
    expect((await call('POST', '/keys', { token: jwt, body: { name: 'x' } })).body.error.code).toBe('FORBIDDEN');
    // The authorizer takes JWTs alone.
    expect((await call('GET', '/spend', { token })).status).toBe(401);
    const { items } = (await call('GET', '/tokens')).body;
    expect(items).toMatchObject([{ id, lastUsedAt: expect.any(String) }]);
    expect((await call('DELETE', `/tokens/${id}`)).status).toBe(204);
    expect((await exchange()).body).toMatchObject({ error: 'invalid_client' });
  });

  it('buys a plan, which Stripe’s event and the daily comparison bring to the account', async () => {
    await buyPlan(running.url, running.session.token);
    expect((await call('GET', '/auth/me')).body.account.plan).toBe('STARTER');
    const { table } = running.stack;
    const loss = update(accountKey(await internalAccountId()), 'SET #plan = :free', null, { free: 'FREE' });
    const isRepaired = () =>
      running.calls.some(
        ({ operation, caller }) => operation === 'TransactWriteItems' && caller.startsWith('billing-Reconcile'),
      );
    await eventually(
      async () => {
        const { body } = await call('GET', '/billing/status');
        // Further events of the payment bring the plan back, too. Only a write of the comparison shows that it does.
        if (!isRepaired()) await write(table, loss);
        return body.plan;
      },
      (plan) => plan === 'STARTER' && isRepaired(),
      { scheduled: ['Reconcile'] },
    );
  });

  it('records an event of the outbox, rolls its day up, and exports it', async () => {
    const { table } = running.stack;
    const startedAt = new Date(Date.now() - 2 * DAY_MS).toISOString();
    const event = closeEvent({ accountId: await internalAccountId(), startedAt });
    const entry = { ...outboxKey(0, event.requestId, 'close'), event: JSON.stringify(event), parkedAt: startedAt };
    await table.call('PutItem', { TableName: table.name, Item: entry });
    const { items } = await eventually(
      async () => (await call('GET', '/exports')).body,
      ({ items: exported }) => exported.length > 0,
      { scheduled: ['Sweep', 'Rollup', 'Exporter'] },
    );
    expect(items).toMatchObject([
      { day: startedAt.slice(0, 10), dataset: 'cost-and-usage', requests: 1 },
      { dataset: 'requests', rows: 1 },
      { dataset: 'names' },
    ]);
    expect((await fetch(items[1].url)).headers.get('content-disposition')).toContain('.parquet');
    expect((await call('GET', `/requests/${event.requestId}`)).body).toMatchObject({ outcome: 'completed' });
  });

  it('gives an invited person an address that somebody registered, and requires a second factor of an account', async () => {
    const other = await registerAccount(running.url);
    await joinAccount(running, running.session, 'viewer', other.email);
    expect(
      (await call('POST', '/auth/login', { body: { email: other.email, password: PASSWORD } })).body.userId,
    ).not.toBe(other.userId);

    const own = await registerAccount(running.url);
    const credentials = { email: own.email, password: PASSWORD };
    const { secret } = (await call('POST', '/auth/totp', { body: credentials })).body;
    const confirmed = { ...credentials, totp: totpCode(secret, Date.now()) };
    expect((await call('POST', '/auth/totp/confirm', { body: confirmed })).status).toBe(204);
    // A code counts once: the next one.
    const body = { requiresTotp: true, password: PASSWORD, totp: totpCode(secret, Date.now() + 30_000) };
    expect((await call('PATCH', '/auth/account', { token: own.token, body })).status).toBe(204);
  });

  it('leaves all that an account has as it is on a smaller plan', async () => {
    const made = async (path: string, body: object) => {
      const response = await call('POST', path, { body });
      expect([path, response.status]).toEqual([path, 201]);
      return response.body;
    };
    const project = (await made('/projects', { name: 'one' })).id;
    const { token } = await made('/tokens', { name: 'ci', role: 'viewer' });
    const serviceKeys = [];
    for (const name of ['second', 'third']) serviceKeys.push((await made('/keys', { name, project })).key);
    const member = await joinAccount(running, running.session, 'viewer', undefined, [project]);
    const portal = (await call('POST', '/billing/portal')).body.url;
    await press(await open(portal), 'Cancel at period end');
    await moveClock({ url: new URL(portal).origin }, 32);
    const { usage } = await eventually(
      async () => (await call('GET', '/billing/status')).body,
      ({ plan }) => plan === 'FREE',
      { scheduled: [] },
    );
    expect(usage).toMatchObject({ keys: 3, keyLimit: 2 });
    for (const key of serviceKeys) expect(await sendChat(running.url, key)).not.toBe('');
    expect((await call('GET', '/keys', { token: member.token })).body.items).toHaveLength(2);
    expect((await call('GET', '/machine/spend', { token })).status).toBe(200);
    expect((await call('POST', '/keys', { body: { name: 'fourth' } })).body.error.code).toBe('LIMIT_REACHED');
    // No plan limits these.
    await made('/projects', { name: 'two' });
    await made('/tokens', { name: 'cd', role: 'viewer' });
    await joinAccount(running, running.session, 'viewer');
  });

  it('deletes an account to the end', async () => {
    const accountId = await internalAccountId();
    const { table } = running.stack;
    const isThere = async (key: Key) =>
      (await table.call('GetItem', { TableName: table.name, Key: key })).Item !== undefined;
    expect((await call('POST', '/account/deletion', { body: { password: PASSWORD } })).status).toBe(202);
    await eventually(
      () => isThere(deletionKey(accountId)),
      (isDue) => !isDue,
      { scheduled: ['AccountJobs'] },
    );
    for (const key of [
      accountKey(accountId),
      userKey(running.session.userId),
      serviceKeyKey(secretHash(running.session.accountId)),
    ])
      expect(await isThere(key)).toBe(false);
    expect(await isThere(deletedAccountKey(accountId))).toBe(true);
    const login = await call('POST', '/auth/login', { body: { email: running.session.email, password: PASSWORD } });
    expect(login.body.error.code).toBe('INVALID_CREDENTIALS');
  });

  it('writes transactions with each function that has any, which its policy is judged by', async () => {
    await running.stack.runSchedules();
    const inTransactions = running.calls.filter(({ operation }) => operation === 'TransactWriteItems');
    const callers = new Set(inTransactions.map(({ caller }) => caller.slice(0, -8)));
    expect([...callers].sort()).toEqual([
      'account-jobs-AccountJobs',
      'alerts-RuleWorker',
      'billing-Reconcile',
      'dashboard-api-BillingHandler',
      'dashboard-api-IdentityHandler',
      'dashboard-api-SettingsHandler',
      'dashboard-api-StripeWebhookHandler',
      'usage-PriceFeed',
      'usage-Recorder',
      'usage-Rollup',
      'usage-Sweep',
    ]);
  });

  it('calls nothing from the gateway that the task of a container may not call, too', () => {
    const { judge, task } = policiesInContainers();
    const calls = running.calls.filter(({ caller }) => caller.startsWith('gateway-ProxyFunction'));
    expect(calls.length).toBeGreaterThan(0);
    expect(judge(calls.map((each) => ({ ...each, caller: task }))).refused).toEqual([]);
  });
});
