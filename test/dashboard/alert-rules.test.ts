import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { MAX_RULES, openRules } from '../../lambda/data/alerts/rules.ts';
import { ACTIVE_RULE_SHARDS } from '../../lambda/data/table/keys.ts';
import type { CountRequest } from '../../lambda/http/rate-limits.ts';
import { type PostJson, WebhookError } from '../../lambda/integrations/webhook.ts';
import { addSpend, costing } from '../data/add-spend.ts';
import { newAccount } from '../data/new-account.ts';
import { invalidAt } from '../http/invoke.ts';
import { dashboardForTests } from './open-dashboard.ts';

let policies: string[];
let secrets = 0;
const postWebhook = jest.fn<PostJson>();
const countRequest = jest.fn<CountRequest>();

const { table, clock, caller, ...dashboard } = dashboardForTests(
  {
    blockCopies: { write: async (accountId: string) => void policies.push(accountId), expect: async () => {} },
    webhookUrlProblem: async (url) => (url.includes('inside') ? 'its host must have public addresses only' : undefined),
    newSecret: () => `whsec_${++secrets}`,
    postWebhook,
  },
  { countRequest },
);
beforeEach(() => {
  policies = [];
  postWebhook.mockReset();
  countRequest.mockReset().mockResolvedValue({ requests: 1, endsInSeconds: 60 });
});

const call = (method: string, path: string, body?: unknown, as?: object) =>
  dashboard.call(method, `/alert-rules${path}`, body, as);
const daily = {
  type: 'cost_threshold',
  name: 'Daily spend',
  config: { threshold: 50, period: 'daily' },
  channels: ['email'],
  isActive: true,
};
const hooked = { ...daily, channels: ['webhook'], webhookUrl: 'https://hooks.example.com/1' };
const watched = async () => {
  const ids: string[] = [];
  for (let shard = 0; shard < ACTIVE_RULE_SHARDS; shard++) {
    for await (const { ruleId } of openRules(table).activeInShard(shard)) ids.push(ruleId);
  }
  return ids;
};

describe('alert rules', () => {
  const filtered = (filter: object) => ({ ...daily, config: { ...daily.config, filter } });

  it.each([
    ['key', async () => (await newAccount(table)).keyId],
    ['project', async () => 'nowhere'],
  ])('filter by no %s of another account', async (name, another) => {
    const id = await another();
    for (const path of ['', '/preview'])
      expect(await call('POST', path, filtered({ [name]: id }))).toMatchObject(
        invalidAt(`config.filter.${name}`, `${id} is not a ${name} of the account`),
      );
  });

  it('filter by a project of the account, and by nothing that does not combine with it', async () => {
    const { body: rule } = await call('POST', '', filtered({ project: 'default' }));
    expect(rule.config.filter).toEqual({ project: 'default' });
    expect((await call('PATCH', `/${rule.id}`, { config: { filter: { project: 'nowhere' } } })).status).toBe(400);
    expect((await call('POST', '', filtered({ project: 'default', tag: 'a', client: 'b' }))).status).toBe(400);
  });

  it("creates and lists the specification's example rule", async () => {
    const created = await call('POST', '', daily);
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      id: expect.any(String),
      ...daily,
      webhookUrl: null,
      targets: {},
      createdAt: '2026-11-20T16:30:00.000Z',
      updatedAt: '2026-11-20T16:30:00.000Z',
    });
    expect((await call('GET', '')).body).toEqual({ items: [created.body] });
    expect(await watched()).toContain(created.body.id);
    const { id: _, createdAt: _from, updatedAt: _at, ...shown } = created.body;
    expect((await call('POST', '', shown)).status).toBe(201);
  });

  it.each([
    ['spend_anomaly', { period: 'daily' }, { period: 'daily', factor: 3, minimum: 1 }],
    ['budget_forecast', { budget: 1000 }, { budget: 1000 }],
    ['error_rate', { threshold: 5, period: 'hourly' }, { threshold: 5, period: 'hourly', minimumRequests: 20 }],
    ['unpriced_usage', { period: 'daily' }, { period: 'daily', threshold: 1 }],
  ])('creates a %s rule, by default active and with the e-mail channel', async (type, config, stored) => {
    const { status, body } = await call('POST', '', { type, name: 'x', config });
    expect([status, body]).toEqual([
      201,
      expect.objectContaining({ type, config: stored, channels: ['email'], isActive: true }),
    ]);
  });

  it.each([
    ['type', { type: 'cost' }],
    ['config.threshold', { config: { threshold: 0, period: 'daily' } }],
    ['config.threshold', { config: { period: 'daily' } }],
    // Smaller than any number that the table can store.
    ['config.threshold', { type: 'error_rate', config: { threshold: 5e-324, period: 'daily' } }],
    ['config.period', { config: { threshold: 1, period: 'yearly' } }],
    ['config.treshold', { config: { threshold: 1, period: 'daily', treshold: 2 } }],
    ['config.filter.provider', { config: { threshold: 1, period: 'daily', filter: { provider: 'openia' } } }],
    ['config.__proto__', { config: JSON.parse('{"threshold": 1, "period": "daily", "__proto__": {"x": 1}}') }],
    ['channels', { channels: [] }],
    ['channels', { channels: 'email' }],
    ['channels.0', { channels: ['sms'] }],
    ['name', { name: ' ' }],
    ['isActive', { isActive: 'yes' }],
    ['targets.slack', { channels: ['slack'] }],
    ['targets.slack', { targets: { slack: 'https://example.com/hook' } }],
    ['targets.pagerduty', { targets: { pagerduty: 'short' } }],
    ['webhookUrl', { channels: ['webhook'] }],
    ['webhookUrl', { channels: ['webhook'], webhookUrl: 'https://inside.example.com' }],
  ])('rejects an invalid %s', async (path, change) => {
    expect(await call('POST', '', { ...daily, ...change })).toMatchObject(invalidAt(path));
    expect((await call('GET', '')).body.items).toEqual([]);
  });

  it('shows the secret of a webhook once, and creates a new one for a new URL', async () => {
    const created = await call('POST', '', hooked);
    expect(created.body.webhookSecret).toMatch(/^whsec_/);
    const { id, webhookSecret } = created.body;
    expect(JSON.stringify((await call('GET', '')).body)).not.toContain('whsec_');
    expect((await call('PATCH', `/${id}`, { name: 'same hook' })).body).not.toHaveProperty('webhookSecret');
    const moved = await call('PATCH', `/${id}`, { webhookUrl: 'https://hooks.example.com/2' });
    expect(moved.body.webhookSecret).not.toBe(webhookSecret);
    expect(await call('PATCH', `/${id}`, { webhookUrl: null })).toMatchObject(
      invalidAt('webhookUrl', 'is required for the channel webhook'),
    );
    expect((await call('PATCH', `/${id}`, { webhookUrl: null, channels: ['email'] })).body.webhookUrl).toBeNull();
  });

  it('keeps the targets of chat services and shows them masked, in no response and no audit entry whole', async () => {
    const slack = 'https://hooks.slack.com/services/T0/B0/abcdWXYZ';
    const key = 'R0123456789ABCDEFabcdef012345678';
    const texts: string[] = [];
    const tell = async (...args: Parameters<typeof call>) => {
      const response = await call(...args);
      texts.push(response.text);
      return response.body;
    };
    const stored = async (id: string) => (await openRules(table).find(caller.accountId, id)).targets;
    const sent = { ...daily, channels: ['slack'], targets: { slack, pagerduty: key } };
    const { id, targets } = await tell('POST', '', sent);
    expect(targets).toEqual({ slack: 'https://hooks.slack.com/…WXYZ', pagerduty: '…5678' });
    expect(await stored(id)).toEqual({ slack, pagerduty: key });
    await tell('GET', '');
    await tell('PATCH', `/${id}`, { name: 'Renamed', targets });
    expect(await stored(id)).toEqual({ slack, pagerduty: key });
    const other = 'https://hooks.slack.com/services/T0/B0/otherOTHR';
    await tell('PATCH', `/${id}`, { targets: { slack: other, pagerduty: null } });
    expect(await stored(id)).toEqual({ slack: other });
    expect((await tell('PATCH', `/${id}`, { targets: { slack: null } })).error.details).toEqual([
      { path: 'targets.slack', message: 'is required for the channel slack' },
    ]);
    expect((await tell('PATCH', `/${id}`, { channels: ['email'], targets: { slack: null } })).targets).toEqual({});
    const hook = await tell('POST', '', { ...daily, channels: ['webhook'], webhookUrl: slack });
    const kept = await tell('PATCH', `/${hook.id}`, { webhookUrl: hook.webhookUrl });
    expect(kept).toMatchObject({ webhookUrl: 'https://hooks.slack.com/…WXYZ' });
    expect(kept).not.toHaveProperty('webhookSecret');
    expect((await openRules(table).find(caller.accountId, hook.id)).webhook?.url).toBe(slack);
    const items = await dashboard.audited();
    expect(items.length).toBeGreaterThan(3);
    expect(`${texts.join()}${JSON.stringify(items)}`).not.toMatch(/abcdWXYZ|otherOTHR|R0123/);
  });

  it('sends a test on each channel but email, and reports how each service took it', async () => {
    const targets = {
      slack: 'https://hooks.slack.com/services/T0/B0/x',
      pagerduty: 'R0123456789ABCDEFabcdef012345678',
    };
    const { id } = (await call('POST', '', { ...daily, channels: ['email', 'slack', 'pagerduty'], targets })).body;
    postWebhook.mockImplementation(async ({ url }) => {
      if (url.includes('slack')) throw new WebhookError('it responded with 404', { status: 404 });
    });
    const { status, body } = await call('POST', `/${id}/test`);
    expect([status, body.items]).toEqual([
      200,
      [
        { channel: 'slack', isDelivered: false, error: 'it responded with 404' },
        { channel: 'pagerduty', isDelivered: true, error: null },
      ],
    ]);
    expect(postWebhook.mock.calls[0]?.[1]).toContain('This is a test');
    expect(countRequest).toHaveBeenCalledWith('testAlertRule#perAccount', caller.accountId, 10);
    countRequest.mockResolvedValue({ requests: 11, endsInSeconds: 60 });
    expect((await call('POST', `/${id}/test`)).status).toBe(429);
    expect(postWebhook).toHaveBeenCalledTimes(2);
  });

  it('tests no rule without such a channel', async () => {
    const { id } = (await call('POST', '', daily)).body;
    expect((await call('POST', `/${id}/test`)).status).toBe(400);
    expect(postWebhook).not.toHaveBeenCalled();
  });

  it('changes any member and merges the config', async () => {
    const { id } = (await call('POST', '', { ...daily, config: { ...daily.config, filter: { tag: 'a' } } })).body;
    const patch = async (body: object) => (await call('PATCH', `/${id}`, body)).body;
    expect(await patch({ config: { threshold: 75 } })).toMatchObject({
      config: { threshold: 75, period: 'daily', filter: { tag: 'a' } },
    });
    expect((await patch({ config: { filter: null } })).config).toEqual({ threshold: 75, period: 'daily' });
    const off = { name: 'New', isActive: false };
    expect(await patch(off)).toMatchObject({ ...off, type: 'cost_threshold' });
    expect(await watched()).not.toContain(id);
    clock.setTime(clock.getTime() + 60_000);
    expect(await patch({ isActive: true })).toMatchObject({ name: 'New', isActive: true });
    // It judges no period of before.
    expect((await openRules(table).find(caller.accountId, id)).effectiveFrom).toBe(clock.toISOString());
    expect(await watched()).toContain(id);
    expect(await patch({ config: { threshold: -1 } })).toMatchObject(invalidAt('config.threshold').body);
    expect(await patch({ type: 'error_rate' })).toMatchObject({ error: { code: 'VALIDATION_ERROR' } });
  });

  it('merges the filter member by member, as RFC 7396 says', async () => {
    const filter = { provider: 'openai', tag: 'a' };
    const { id } = (await call('POST', '', { ...daily, config: { ...daily.config, filter } })).body;
    const patched = async (config: object) => (await call('PATCH', `/${id}`, { config })).body.config?.filter;
    expect(await patched({ filter: { tag: 'b' } })).toEqual({ provider: 'openai', tag: 'b' });
    expect(await patched({ filter: { provider: null, model: 'gpt-4o' } })).toEqual({ tag: 'b', model: 'gpt-4o' });
    expect(await patched({ threshold: 60 })).toEqual({ tag: 'b', model: 'gpt-4o' });
    // What is no object replaces what is there.
    expect(await call('PATCH', `/${id}`, { config: { filter: 'x' } })).toMatchObject(
      invalidAt('config.filter', 'must be an object'),
    );
    expect(await patched({ filter: null })).toBeUndefined();
    expect(await patched({ filter: { tag: 'c', model: null } })).toEqual({ tag: 'c' });
  });

  it('replaces a pause, in which null is a value', async () => {
    const rule = { name: 'Brake', type: 'burn_rate', config: { each: 'key', limit: 50, pause: { minutes: 60 } } };
    const { id } = (await call('POST', '', rule)).body;
    const patched = async (pause: unknown) => (await call('PATCH', `/${id}`, { config: { pause } })).body.config;
    expect(await patched({ minutes: null })).toMatchObject({ each: 'key', limit: 50, pause: { minutes: null } });
    expect(await patched(null)).toMatchObject({ limit: 50, pause: null });
    expect(await patched({})).toMatchObject({ limit: 50, pause: { minutes: 720 } });
    expect((await call('PATCH', `/${id}`, { config: { limit: 60 } })).body.config.pause).toEqual({ minutes: 720 });
    expect(await call('PATCH', `/${id}`, { config: { pause: 'x' } })).toMatchObject(invalidAt('config.pause'));
  });

  it('writes nothing where nothing changes', async () => {
    const { body: rule } = await call('POST', '', daily);
    const before = await openRules(table).find(caller.accountId, rule.id);
    clock.setTime(Date.parse('2026-11-20T17:00:00.000Z'));
    for (const patch of [
      {},
      { config: {} },
      { name: daily.name, config: daily.config, isActive: true, channels: ['email'] },
    ]) {
      const { status, body } = await call('PATCH', `/${rule.id}`, patch);
      expect([status, body]).toEqual([200, rule]);
    }
    expect(await openRules(table).find(caller.accountId, rule.id)).toEqual(before);
    expect((await call('PATCH', `/${rule.id}`, { name: 'New' })).body.updatedAt).toBe('2026-11-20T17:00:00.000Z');
  });

  it('shows one rule', async () => {
    const { body: rule } = await call('POST', '', hooked);
    const { webhookSecret, ...shown } = rule;
    expect(await call('GET', `/${rule.id}`)).toMatchObject({ status: 200, body: shown });
    expect((await call('GET', `/${rule.id}`)).text).not.toContain(webhookSecret);
    expect((await call('GET', '/unknown')).body.error.code).toBe('NOT_FOUND');
  });

  it('deletes a rule once', async () => {
    const { id } = (await call('POST', '', daily)).body;
    expect(await call('DELETE', `/${id}`)).toMatchObject({ status: 204, text: '' });
    expect((await call('DELETE', `/${id}`)).status).toBe(404);
    expect((await call('PATCH', `/${id}`, { name: 'x' })).status).toBe(404);
    expect(await watched()).not.toContain(id);
  });

  it('enforces the limit of rules', async () => {
    for (let i = 0; i < MAX_RULES; i++) expect((await call('POST', '', daily)).status).toBe(201);
    expect((await call('POST', '', daily)).body.error.code).toBe('LIMIT_REACHED');
    const { items } = (await call('GET', '')).body;
    await call('DELETE', `/${items[0].id}`);
    expect((await call('POST', '', daily)).status).toBe(201);
  });
});

describe('POST /alert-rules/preview', () => {
  it('counts the keys of a project', async () => {
    await addSpend(table, caller.accountId, '2026-11-10T09:00:00Z', costing(60), { keyId: caller.keyId });
    await addSpend(table, caller.accountId, '2026-11-10T09:00:00Z', costing(70), { keyId: 'not in it' });
    const config = { threshold: 50, period: 'daily', filter: { project: 'default' } };
    const { body } = await call('POST', '/preview', { type: 'cost_threshold', config });
    expect(body.alerts).toMatchObject([{ figure: 60e9 }]);
  });

  it('judges each key on its own, with its name, and tells the gateway of the rule once it is made', async () => {
    await addSpend(table, caller.accountId, '2026-11-10T09:00:00Z', costing(60), { keyId: caller.keyId });
    const rule = { type: 'burn_rate', config: { each: 'key', limit: 50, pause: {} } };
    const { status, body } = await call('POST', '/preview', rule);
    expect([status, body]).toMatchObject([
      200,
      {
        stoppedNanoUsd: 10_000_000_000,
        alerts: [{ of: { dimension: 'key', value: caller.keyId, label: expect.any(String) }, isBrief: true }],
      },
    ]);
    expect(policies).toEqual([]);
    const { body: created } = await call('POST', '', { name: 'Brake', ...rule });
    await call('DELETE', `/${created.id}`);
    expect(policies).toEqual([caller.accountId, caller.accountId]);
  });

  it("evaluates the rule over the account's own last 30 days and stores nothing", async () => {
    await addSpend(table, caller.accountId, '2026-11-10T09:00:00Z', costing(60));
    await addSpend(table, caller.accountId, '2026-11-12T09:00:00Z', costing(40));
    const { status, body } = await call('POST', '/preview', daily);
    expect(status).toBe(200);
    expect(body).toEqual({
      from: '2026-10-21T00:00:00.000Z',
      to: '2026-11-20T16:30:00.000Z',
      periods: 31,
      unjudgedPeriods: 0,
      requests: 2,
      unit: 'nanoUsd',
      points: expect.arrayContaining([
        { time: '2026-11-09', figure: 0, limit: 50e9, usual: null, fired: false },
        { time: '2026-11-10', figure: 60e9, limit: 50e9, usual: null, fired: true },
      ]),
      stoppedNanoUsd: null,
      mayAlsoMatch: null,
      alerts: [
        {
          period: { name: 'daily', start: '2026-11-10T00:00:00.000Z', end: '2026-11-11T00:00:00.000Z' },
          by: '2026-11-11T00:00:00.000Z',
          event: null,
          of: null,
          stoppedNanoUsd: null,
          isBrief: null,
          unit: 'nanoUsd',
          figure: 60e9,
          limit: 50e9,
          unpricedRequests: 0,
          summary: 'Spend is $60: it reached the threshold of $50.',
        },
      ],
    });
    const hourly = await call('POST', '/preview', { ...daily, config: { threshold: 30, period: 'hourly' } });
    const times = ['2026-11-10T10:00:00.000Z', '2026-11-12T10:00:00.000Z'];
    expect(hourly.body.alerts.map(({ by }: { by: string }) => by)).toEqual(times);
    // The first request came on 10 November: the rate is known from 17 November on.
    const budget = await call('POST', '/preview', { type: 'budget_forecast', config: { budget: 10_000 } });
    expect(budget.body).toMatchObject({ periods: 2, unjudgedPeriods: 0, alerts: [] });
    const known = budget.body.points.filter(({ figure }: { figure: number | null }) => figure !== null);
    expect([known[0], known[1]]).toMatchObject([
      { time: '2026-10-31', figure: 0 },
      { time: '2026-11-16', figure: expect.closeTo(((100 / 7) * 14 + 100) * 1e9, -3) },
    ]);
    expect((await call('GET', '')).body.items).toEqual([]);
  });
});
