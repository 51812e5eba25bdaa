import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { emulatedTable } from '../../fixtures/emulated-table.ts';
import { openAccountHolds } from '../../lambda/data/accounts/account-holds.ts';
import { dueJobs } from '../../lambda/data/accounts/account-jobs.ts';
import { openAccounts } from '../../lambda/data/accounts/accounts.ts';
import { openKeyOwners } from '../../lambda/data/accounts/key-owners.ts';
import { openServiceKeys } from '../../lambda/data/accounts/service-keys.ts';
import { openUsers } from '../../lambda/data/accounts/users.ts';
import { openAlertDeliveries, outgoingKey } from '../../lambda/data/alerts/alert-deliveries.ts';
import { openAlerts } from '../../lambda/data/alerts/alerts.ts';
import { openRules } from '../../lambda/data/alerts/rules.ts';
import { openBillingAccounts } from '../../lambda/data/billing/billing-accounts.ts';
import { openBillingEvents } from '../../lambda/data/billing/billing-events.ts';
import { openCounterSlots } from '../../lambda/data/ledger/counter-slots.ts';
import { openOutbox } from '../../lambda/data/ledger/outbox.ts';
import type { RollupMark } from '../../lambda/data/ledger/rollup-marks.ts';
import { openTrackingGaps } from '../../lambda/data/ledger/tracking-gaps.ts';
import { openReports } from '../../lambda/data/reports/reports.ts';
import { openCountedResponses } from '../../lambda/data/requests/counted-responses.ts';
import { openRequests } from '../../lambda/data/requests/requests.ts';
import { openRollup } from '../../lambda/data/spend/rollup.ts';
import { openSpend } from '../../lambda/data/spend/spend.ts';
import { openSpendCounters } from '../../lambda/data/spend/spend-counters.ts';
import { chunk } from '../../lambda/data/table/batch.ts';
import { alertKey, OUTBOX_SHARDS, UNDELIVERED_SHARDS } from '../../lambda/data/table/keys.ts';
import { secretHash } from '../../lambda/domain/accounts/issued-secret.ts';
import type { Range } from '../../lambda/domain/calendar/range.ts';
import { addCounters, type Counters, type SpendCounter } from '../../lambda/domain/spend/counters.ts';
import { crossDimensionNames, OTHER, type SpendDimensionName, UNKNOWN } from '../../lambda/domain/spend/dimensions.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { sweepOutbox } from '../../lambda/usage-recorder/sweep/sweep-outbox.ts';
import { readRefused } from '../../ops/events/find-events.ts';
import { sampleAlert } from '../domain/alerts/sample-alert.ts';
import { closeEvent, priceOfTokens, requestIdAt } from '../usage-recorder/events.ts';
import { total } from '../usage-recorder/ledger-sums.ts';
import { duePeriods } from './roll-up.ts';
import samples from './stored-samples.json' with { type: 'json' };
import samples02 from './stored-samples-0.2.json' with { type: 'json' };

/*
 * stored-samples.json has one item or more of every kind that version 0.1 stored. The writers of version 0.1 (commit 8a3c4ab) wrote
 * them into an emulated table, and the migration of commit 82109d14 moved them to internal account ids. Only the two records of
 * November 18 are made by hand, in the form of still earlier versions: separate attributes instead of `details`. The samples never
 * change: a later form gets samples of its own.
 *
 * stored-samples-0.2.json has what version 0.2 added, written in the same way (commit 106ffc7): so far reports.
 */
const ACCOUNT_KEY = 'svc_7777777777777777777777772vHt8C';
const SUSPENDED_KEY = 'svc_9999999999999999999999990ZOfa9';
const REVOKED_KEY = 'svc_3333333333333333333333334RHY34';
const NOW = Date.parse('2026-11-20T13:00:00Z');
const now = () => NOW;

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Restores binary attributes and sets, which JSON cannot hold. */
const revive = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(revive);
  if (!isObject(value)) return value;
  if (typeof value['base64'] === 'string') return Buffer.from(value['base64'], 'base64');
  if (Array.isArray(value['set'])) return new Set(value['set']);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, revive(member)]));
};

/** Counters of days that are rolled up are left out, so that their spend can only come from summaries. */
const isLiveCounterOf = (day: string, { sk }: { readonly sk: string }): boolean =>
  sk.startsWith(`DAY#${day}`) || sk.startsWith(`HOUR#${day}`);

/** The samples in a table of their own. */
const tableOfSamples = async () => {
  const table = await emulatedTable();
  const puts = samples
    .filter((item) => !isLiveCounterOf('2026-10-31', item))
    .map((item) => ({ PutRequest: { Item: revive(item) as Record<string, unknown> } }));
  for (const some of chunk(puts, 25)) await table.call('BatchWriteItem', { RequestItems: { [table.name]: some } });
  const owners = await openKeyOwners(table).find([ACCOUNT_KEY, SUSPENDED_KEY].map(secretHash));
  const idOf = (key: string) => owners.get(secretHash(key))?.accountId ?? '';
  return { ...table, accountId: idOf(ACCOUNT_KEY), suspendedId: idOf(SUSPENDED_KEY) };
};
type TableOfSamples = Awaited<ReturnType<typeof tableOfSamples>>;

/** For tests that only read; the others fill a table of their own. */
let table: TableOfSamples;
const tables: TableOfSamples[] = [];
const newTable = async () => {
  const filled = await tableOfSamples();
  tables.push(filled);
  return filled;
};
beforeAll(async () => {
  table = await newTable();
});
afterAll(() => Promise.all(tables.map((each) => each.stop())));

const all = <T>(values: AsyncIterable<T>): Promise<T[]> => Array.fromAsync(values);

const prefixOf = ({ pk, sk }: { readonly pk: string; readonly sk: string }): string => {
  if (!pk.startsWith('ACCOUNT#')) return (pk.split('#')[0] as string) + (sk === 'META' ? '' : '#…');
  const [, , part = ''] = pk.split('#');
  if (part === 'REQ') return 'REQ';
  const [prefix = '', view = '', granularity = ''] = sk.split('#');
  return prefix === 'SEALED' ? `SEALED#${view}#${granularity}` : prefix;
};

const requestAt = (startedAt: string, n: number, of = table) =>
  openRequests(of, now).find(of.accountId, requestIdAt(startedAt, n));

describe('items of version 0.1', () => {
  it('are here in every kind', () => {
    const views = ['TOTALS', 'CELLS'].flatMap((view) =>
      ['DAY', 'HOUR', 'MONTH'].map((each) => `SEALED#${view}#${each}`),
    );
    const hourViews = crossDimensionNames.map((name) => `SEALED#${name}#HOUR`);
    expect([...new Set(samples.map(prefixOf))].sort()).toEqual(
      [
        ...['META', 'KEY', 'USER', 'RULE', 'ALERT', 'FIRED', 'MONTH', 'CELLS', 'ANSWER', 'REQ'],
        ...['DAY', 'HOUR', 'UNSEALED', 'UNTRACKED', ...views, ...hourViews],
        ...['PARKED#…', 'REFUSED#…', 'STRIPE', 'STRIPE_CUSTOMER'],
      ].sort(),
    );
  });

  it('hold the former names that readers must know', () => {
    const text = JSON.stringify(samples.map(({ sk, ...members }) => members));
    for (const former of ['foldedRequests', 'unsettledRequests', 'foldLevel', 'extras', 'modelAnswered'])
      expect(text).toContain(former);
  });
});

describe('request records of version 0.1', () => {
  it('read as a whole log', async () => {
    const range = { from: '2026-10-01T00:00:00.000Z', to: '2026-12-01T00:00:00.000Z' };
    const records = await all(openRequests(table, now).all(table.accountId, range));
    expect(records).toHaveLength(samples.filter((item) => prefixOf(item) === 'REQ').length);
    for (const record of records)
      expect(record).toMatchObject({ accountId: table.accountId, provider: 'openai', revision: 1 });
  });

  it.each([
    ['with a deflated `details`', '2026-11-20T11:55:00.000Z', 26, { overflowLevel: 1, usage: { inputTokens: 300 } }],
    ['with deflated details next to attributes', '2026-11-18T12:00:00.000Z', 30, { overflowLevel: 2, requestBytes: 0 }],
    ['with attributes only', '2026-11-18T12:00:00.000Z', 31, { overflowLevel: 2, usage: { inputTokens: 60 } }],
    [
      'with an overflow level and a price',
      '2026-11-18T12:00:00.000Z',
      30,
      {
        costNanoUsd: 420,
        provenance: 'computed',
        lines: [{ kind: 'input', quantity: 60, rateNanoUsdPerUnit: 7 }],
        reading: { modelServed: 'gpt-4o-2024-08-06', billableItems: {} },
      },
    ],
    [
      'with billable items',
      '2026-11-20T11:00:00.000Z',
      21,
      { reading: { billableItems: { 'response.id': 'resp_1', web_search_call: 2 }, usage: { tokens: 40 } } },
    ],
    ['without a served model', '2026-11-19T13:00:00.000Z', 11, { reading: { modelServed: null } }],
    ['without a close event', '2026-11-20T11:30:00.000Z', 24, { outcome: 'unknown', reading: null, totalMs: null }],
    [
      'of a repeated response',
      '2026-11-20T11:40:00.000Z',
      25,
      { provenance: 'free', costNanoUsd: 0, repeatOf: requestIdAt('2026-11-20T11:00:00.000Z', 21) },
    ],
    ['that bypassed', '2026-11-20T11:10:00.000Z', 22, { route: 'bypassed', outcome: 'client_aborted', tag: null }],
    ['without usage', '2026-11-20T11:20:00.000Z', 23, { usage: null, costNanoUsd: null, provenance: 'unknown' }],
  ])('read %s', async (_, startedAt, n, facts) => {
    expect(await requestAt(startedAt, n)).toMatchObject({ startedAt, ...facts });
  });

  it('have no metadata, no client and no session', async () => {
    const none = { metadata: {}, metadataTruncated: false, client: null, session: null };
    expect(await requestAt('2026-11-20T11:55:00.000Z', 26)).toMatchObject(none);
    expect(await requestAt('2026-11-18T12:00:00.000Z', 31)).toMatchObject(none);
  });

  it('have no member under a former name', async () => {
    const range = { from: '2026-10-01T00:00:00.000Z', to: '2026-12-01T00:00:00.000Z' };
    for (const record of await all(openRequests(table, now).all(table.accountId, range))) {
      expect(record).not.toHaveProperty('foldLevel');
      expect(record.reading ?? {}).not.toHaveProperty('extras');
      expect(record.reading ?? {}).not.toHaveProperty('modelAnswered');
    }
  });

  it('name the request that a response is counted with', async () => {
    const name = { accountId: table.accountId, provider: 'openai', responseId: 'resp_1' };
    expect([...(await openCountedResponses(table).find([name])).countedWith.values()]).toEqual([
      requestIdAt('2026-11-20T11:00:00.000Z', 21),
    ]);
  });
});

const sumsOf = (spendCounters: readonly SpendCounter[]): Counters =>
  total(Object.fromEntries(spendCounters.map(({ counters }, index) => [index, counters])));

const november20: Counters = {
  requests: 6,
  costComputedNanoUsd: 7 * (40 + 50 + 300),
  inputTokens: 390,
  'milliUnits.audioSeconds': 390 * 125,
  unpricedRequests: 2,
  unfinishedRequests: 1,
  freeRequests: 1,
  partialRequests: 1,
  bypassedRequests: 1,
  overflowRequests: 1,
};

describe('counters of version 0.1', () => {
  it('read by day and by hour, overflow and unfinished requests included', async () => {
    const live = openSpendCounters(table);
    const days = await all(live.days(table.accountId, '2026-11-20', '2026-11-20'));
    expect(sumsOf(days)).toEqual(november20);
    expect(days.find(({ dimensions }) => dimensions.tag === OTHER)?.counters.overflowRequests).toBe(1);
    expect(sumsOf(await all(live.hours(table.accountId, '2026-11-20T00', '2026-11-20T23')))).toEqual(november20);
    expect(await live.trackedRequests(table.accountId, '2026-11')).toBe(8);
  });

  it('go on under their stored names', async () => {
    const table = await newTable();
    const record = openRecorder(table, { logger: { error: () => {} }, price: priceOfTokens, now });
    const startedAt = '2026-11-20T11:30:00.000Z';
    const results = await record([closeEvent({ accountId: table.accountId, n: 24, startedAt, tokens: 5 })]);
    expect(results).toMatchObject([{ kind: 'recorded', record: { revision: 2 } }]);
    const { unfinishedRequests, ...others } = november20;
    expect(sumsOf(await all(openSpendCounters(table).days(table.accountId, '2026-11-20', '2026-11-20')))).toEqual(
      addCounters(others, {
        costComputedNanoUsd: 35,
        inputTokens: 5,
        'milliUnits.audioSeconds': 625,
        unpricedRequests: -1,
        'ms.15': 1,
      }),
    );
    const { Items = [] } = await table.call('Scan', { TableName: table.name });
    expect(JSON.stringify(Items)).not.toMatch(/"(unfinishedRequests|overflowRequests)":/);
  });

  it('keep the slots that they have', async () => {
    const table = await newTable();
    const dimensions = { provider: 'openai', model: null, tag: null, keyId: 'key-1', providerKey: 'fingerprint' };
    const wanted = [{ dimensions, mayCost: true }];
    expect(await openCounterSlots(table, now).reserve(table.accountId, '2026-11-20', wanted)).toEqual([
      { level: 0, kept: [] },
    ]);
    const { Items = [] } = await table.call('Scan', { TableName: table.name });
    expect(Items.find(({ sk }) => sk === 'CELLS#2026-11-20')?.['cells'].size).toBe(3);
  });
});

const october31: Counters = {
  requests: 4,
  costComputedNanoUsd: 7 * (100 + 200 + 300),
  inputTokens: 600,
  'milliUnits.audioSeconds': 600 * 125,
  errors: 1,
  unpricedRequests: 1,
  unfinishedRequests: 1,
  overflowRequests: 1,
};

describe('summaries of version 0.1', () => {
  const october = (granularity: Range['granularity']): Range => ({
    granularity,
    from: '2026-10-01T00:00:00.000Z',
    to: '2026-11-01T00:00:00.000Z',
  });

  it.each(
    (['month', 'day', 'hour'] as const).flatMap((granularity) => [
      { granularity, dimensions: [] as SpendDimensionName[] },
      ...crossDimensionNames.map((name) => ({ granularity, dimensions: [name] })),
      { granularity, dimensions: [...crossDimensionNames] },
    ]),
  )('read by $granularity and $dimensions', async ({ granularity, dimensions }) => {
    const found = await all(
      openSpend(table).read({ accountId: table.accountId, range: october(granularity), groupBy: dimensions }),
    );
    expect(sumsOf(found)).toEqual(october31);
    const tags = new Set(found.map(({ dimensions: { tag } }) => tag));
    if (dimensions.includes('tag')) expect(tags).toEqual(new Set([OTHER, 'search', 'a#b%', null]));
  });

  it.each(['month', 'day', 'hour'] as const)('add up by %s to what is unknown by client', async (granularity) => {
    const found = await all(
      openSpend(table).read({
        accountId: table.accountId,
        range: october(granularity),
        groupBy: ['client', 'provider'],
      }),
    );
    expect(sumsOf(found)).toEqual(october31);
    expect(new Set(found.map(({ dimensions: { client } }) => client))).toEqual(new Set([UNKNOWN]));
    expect(new Set(found.map(({ dimensions: { provider } }) => provider))).toEqual(new Set(['openai']));
  });

  it('are written again for marked periods, with the same sums', async () => {
    const table = await newTable();
    const marks = await duePeriods(table, now());
    expect(marks.map(({ accountId, period }) => [accountId, period])).toEqual([[table.accountId, '2026-11-19']]);
    const spent = async () => {
      const range = { granularity: 'day', from: '2026-11-19T00:00:00.000Z', to: '2026-11-20T00:00:00.000Z' } as const;
      const [total, byClient] = await Promise.all(
        [[], ['client'] as const].map((groupBy) =>
          all(openSpend(table).read({ accountId: table.accountId, range, groupBy })),
        ),
      );
      expect(sumsOf(byClient ?? [])).toEqual(sumsOf(total ?? []));
      return sumsOf(total ?? []);
    };
    const before = await spent();
    expect(before).toMatchObject({ requests: 2, inputTokens: 30 });
    expect(await openRollup(table, now).rollUp(marks[0] as RollupMark)).toBe('rolled-up');
    expect(await spent()).toEqual(before);
  });
});

describe('events of version 0.1', () => {
  it('are recorded from the outbox', async () => {
    const table = await newTable();
    await sweepOutbox({
      outbox: openOutbox(table, now),
      record: openRecorder(table, { logger: { error: () => {} }, price: priceOfTokens, now }),
      logger: { error: () => {}, warn: () => {} },
      metrics: { addMetric: () => {} },
      now,
    })(() => 60_000);
    const startedAt = '2026-11-20T12:00:00.000Z';
    expect(await requestAt(startedAt, 40, table)).toMatchObject({ outcome: 'unknown', reading: null });
    expect(await requestAt(startedAt, 41, table)).toMatchObject({
      costNanoUsd: 490,
      reading: { modelServed: 'gpt-4o-2024-08-06', billableItems: { web_search_call: 1 } },
    });
    const day = { from: '2026-11-20T00:00:00.000Z', to: '2026-11-21T00:00:00.000Z' };
    expect((await openTrackingGaps(table).gaps(table.accountId, day)).map(({ requests }) => requests)).toEqual([3, 7]);
    for (let shard = 0; shard < OUTBOX_SHARDS; shard++)
      expect(await all(openOutbox(table, now).pages(shard, 10))).toEqual([]);
  });

  it('are read where they were set aside', async () => {
    expect(await readRefused(table, '2026-11-20')).toEqual({ readable: [], unreadable: 1 });
  });
});

describe('accounts of version 0.1', () => {
  const userId = '11111111-1111-4111-8111-111111111111';

  it('read with their users and keys', async () => {
    expect(await openAccounts(table).find(table.accountId)).toMatchObject({
      status: 'active',
      plan: 'PRO',
      billingStatus: 'ACTIVE',
      ownerUserId: userId,
      activeKeys: 2,
      createdAt: '2026-10-01T09:00:00.000Z',
    });
    expect(await openUsers(table).find(userId)).toMatchObject({
      email: '1111@example.com',
      companyName: 'Engines Ltd',
    });
    expect(await openUsers(table).recipients(table.accountId)).toMatchObject([{ userId, firstName: 'Ada' }]);
    expect(await openServiceKeys(table).listWhole(table.accountId)).toMatchObject([
      { keyId: 'key-1', name: 'default', status: 'active', lastUsedAt: '2026-11-20T12:00:00.000Z' },
      { keyId: 'key-2', name: 'Batch jobs', status: 'active' },
      { keyId: 'key-3', name: 'Old laptop', status: 'revoked', revokedAt: '2026-10-04T09:00:00.000Z' },
    ]);
    const owners = await openKeyOwners(table).find([secretHash(REVOKED_KEY)]);
    expect([...owners.values()]).toMatchObject([{ accountId: table.accountId, keyId: 'key-3' }]);
  });

  it('read with holds and billing', async () => {
    expect(await openAccountHolds(table).find(table.suspendedId)).toMatchObject({
      status: 'suspended',
      heldAt: '2026-11-05T10:00:00.000Z',
      heldReason: 'Card testing',
      billingRevision: 1,
    });
    const billing = openBillingAccounts(table);
    expect(await billing.find(table.accountId)).toMatchObject({ stripeCustomerId: 'cus_1', subscription: null });
    expect(await billing.ownerOf('cus_1')).toBe(table.accountId);
    expect(await openBillingEvents(table, now).isDone('evt_1')).toBe(true);
  });

  it('read with alert rules and alerts', async () => {
    const rules = await openRules(table).list(table.accountId);
    expect(rules.map(({ condition, isActive }) => [condition.type, isActive])).toEqual([
      ['cost_threshold', true],
      ['budget_forecast', false],
      ['spend_anomaly', true],
      ['error_rate', true],
      ['unpriced_usage', true],
    ]);
    expect(rules[0]).toMatchObject({
      webhook: { url: 'https://hooks.example.com/spend' },
      firedPeriods: ['2026-11-20T00:00:00.000Z'],
      effectiveFrom: '2026-11-02T00:00:00.000Z',
    });
    const { items } = await openAlerts(table).page(table.accountId, { limit: 10 });
    expect(items.map(({ type, status, deliveries }) => [type, status, deliveries[0]?.status])).toEqual([
      ['plan_usage', 'triggered', 'pending'],
      ['plan_usage', 'acknowledged', 'sent'],
      ['cost_threshold', 'triggered', 'pending'],
    ]);
    expect(items[2]).toMatchObject({ figure: 51_000_000_000, contributors: [{ share: 0.5, value: 'gpt-4o' }] });
    const undelivered = [];
    for (let shard = 0; shard < UNDELIVERED_SHARDS; shard++)
      undelivered.push(...(await all(openAlertDeliveries(table).undelivered(shard, new Date(NOW)))));
    expect(undelivered.map(({ outgoing, round }) => [outgoingKey(outgoing).sk, round])).toEqual([
      ['ALERT#alert-1', 0],
      ['ALERT#alert-3', 1],
    ]);
  });

  it('write an alert as the version before reads it, so that a deployment can be rolled back', async () => {
    const alert = { ...sampleAlert, accountId: table.accountId, alertId: 'alert-9' };
    await openAlerts(table).notify(alert, 'plan');
    const Key = alertKey(alert.accountId, alert.alertId);
    const { Item } = await table.call('GetItem', { TableName: table.name, Key });
    const { figure: observed, contributors: drivers, ...others } = alert;
    expect(Item).toMatchObject({ ...others, observed, drivers });
    expect(await openAlerts(table).find(alert.accountId, alert.alertId)).toEqual(alert);
  });
});

describe('reports of version 0.2', () => {
  const accountId = '019ab3c0-0000-7000-8000-000000000007';
  let table: Awaited<ReturnType<typeof emulatedTable>>;
  beforeAll(async () => {
    table = await emulatedTable();
    const puts = samples02.map((Item) => ({ PutRequest: { Item } }));
    await table.call('BatchWriteItem', { RequestItems: { [table.name]: puts } });
  });
  afterAll(() => table?.stop());

  it('read with the calendar of their account', async () => {
    const reports = openReports(table);
    expect(await reports.calendar(accountId)).toEqual({ timeZone: 'Europe/Berlin', weekStartsOn: 'sunday' });
    expect((await reports.list(accountId)).items).toEqual([
      {
        reportId: 'report-1',
        accountId,
        name: 'Daily spend',
        schedule: { every: 'daily', hour: 8 },
        groupBy: ['model', 'project'],
        channels: ['email', 'slack', 'webhook'],
        recipients: ['user-1'],
        isActive: true,
        webhook: { url: 'https://hooks.example.com/spend', secret: 'whsec_1' },
        targets: { slack: 'https://hooks.slack.com/services/T0/B0/sample' },
        createdAt: '2026-11-20T09:00:00.000Z',
        updatedAt: '2026-11-20T09:00:00.000Z',
        nextDay: '2026-11-22',
        nextAt: '2026-11-23T07:00:00.000Z',
        failures: 0,
        revision: 3,
      },
      expect.objectContaining({ reportId: 'report-2', isActive: false, recipients: null, webhook: null, failures: 2 }),
    ]);
  });

  it('are due, and delivered, as they were stored', async () => {
    expect(await all(dueJobs(table, new Date('2026-11-23T07:00:00.000Z')))).toMatchObject([
      { kind: 'report', sk: 'REPORT#report-1' },
    ]);
    const undelivered = [];
    for (let shard = 0; shard < UNDELIVERED_SHARDS; shard++)
      undelivered.push(...(await all(openAlertDeliveries(table).undelivered(shard, new Date('2026-11-22T08:00:00Z')))));
    expect(undelivered).toMatchObject([
      {
        round: 0,
        outgoing: {
          reportId: 'report-1',
          deliveries: ['email', 'slack', 'webhook'].map((channel) => ({ channel, status: 'pending' })),
          content: {
            every: 'daily',
            timeZone: 'Europe/Berlin',
            period: { firstDay: '2026-11-21', from: '2026-11-20T23:00:00.000Z', to: '2026-11-21T23:00:00.000Z' },
            totals: { costNanoUsd: 2_800, costBeforeNanoUsd: 0, requests: 3 },
            breakdowns: [{ by: 'model', groups: [{ value: 'gpt-4o-2024-08-06' }] }, { by: 'project' }],
            budgets: [{ id: 'budget-1', percentUsed: 28 }],
          },
        },
      },
    ]);
    const [run] = await openReports(table).runs(accountId, 'report-1');
    expect(run).toMatchObject({ firstDay: '2026-11-21', createdAt: '2026-11-22T08:00:00.000Z' });
    expect(await openReports(table).hasRun(accountId, 'report-1', '2026-11-21#daily')).toBe(true);
  });
});
