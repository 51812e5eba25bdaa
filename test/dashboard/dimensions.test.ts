import { beforeEach, describe, expect, it } from '@jest/globals';
import { exportSpend as exportOperation } from '../../lambda/dashboard/spend/operations.ts';
import { exportSpend } from '../../lambda/dashboard/spend/read-spend.ts';
import { openDeclaredDimensions } from '../../lambda/data/accounts/declared-dimensions.ts';
import { openRollupMarks } from '../../lambda/data/ledger/rollup-marks.ts';
import { openRequests } from '../../lambda/data/requests/requests.ts';
import { openRollup } from '../../lambda/data/spend/rollup.ts';
import { openSpend } from '../../lambda/data/spend/spend.ts';
import { ROLLUP_MARK_SHARDS, rollupMarkKey } from '../../lambda/data/table/keys.ts';
import { findItem } from '../../lambda/data/table/read.ts';
import { shardOf } from '../../lambda/data/table/table.ts';
import type { RequestRecord } from '../../lambda/domain/spend/request-record.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { openRepricer } from '../../lambda/usage-recorder/reprice.ts';
import type { SpendGroup } from '../../web/src/api/responses.ts';
import { newAccount, newKey } from '../data/new-account.ts';
import { refusedWith } from '../http/invoke.ts';
import { closeEvent, openEvent, priceOfTokens } from '../usage-recorder/events.ts';
import { dashboardForTests } from './open-dashboard.ts';

const TOKEN_NANO_USD = 7;
const DECLARED_AT = Date.parse('2026-11-20T10:30:00.000Z');

const { table, clock, caller, call } = dashboardForTests({ newId: () => 'rule-1' });
const nowMs = () => clock.getTime();
const passMs = (ms: number) => clock.setTime(nowMs() + ms);
beforeEach(async () => {
  clock.setTime(DECLARED_AT);
  Object.assign(caller, await newAccount(table, 'PRO'));
});

const declare = (...names: string[]) => call('PUT', '/dimensions', { names });
const spend = async (query: Record<string, string | string[]>) => {
  const day = { from: '2026-11-20', to: '2026-11-20' };
  const { status, body } = await call('GET', '/spend', undefined, {}, { ...day, ...query });
  return { status, ...body };
};
const detailsOf = ({ error }: { error?: { details?: { path: string; message: string }[] } }) => error?.details?.[0];

/** A recorder with a cache of its own. */
const newRecorder = () => openRecorder(table, { logger: { error: () => {} }, price: priceOfTokens, now: nowMs });
let count = 0;
const request = (startedAt: string, metadata: Record<string, string> = {}, tokens = 10) =>
  closeEvent({ n: count++, accountId: caller.accountId, startedAt, metadata, tokens });
/** Values of a dimension, with requests and cost in tokens. */
const groupsBy = async (groupBy: string, query: Record<string, string[]> = {}) => {
  const { groups } = await spend({ groupBy: [groupBy], ...query });
  return Object.fromEntries(
    groups.map(({ dim, client, requests, costNanoUsd }: SpendGroup) => [
      String(dim === undefined ? client : Object.values(dim)[0]),
      [requests, (costNanoUsd ?? 0) / TOKEN_NANO_USD],
    ]),
  );
};

describe('dimensions', () => {
  it('are declared, listed with their times, removed and declared again', async () => {
    const at = (ms: number) => new Date(DECLARED_AT + ms).toISOString();
    expect((await call('GET', '/dimensions')).body).toEqual({
      items: [],
      limit: 5,
    });
    expect((await declare('team', 'env')).body.items).toEqual([
      { name: 'env', isDeclared: true, periods: [{ from: at(0), until: null }] },
      { name: 'team', isDeclared: true, periods: [{ from: at(0), until: null }] },
    ]);
    passMs(1_000);
    await declare('team');
    passMs(1_000);
    expect((await declare('customer', 'team')).body.items.map(({ name }: { name: string }) => name)).toEqual([
      'customer',
      'team',
      'env',
    ]);
    await declare('env');
    expect((await call('GET', '/dimensions')).body.items[0]).toEqual({
      name: 'env',
      isDeclared: true,
      periods: [
        { from: at(0), until: at(1_000) },
        { from: at(2_000), until: null },
      ],
    });
  });

  it('have names that can be part of a key and a parameter', async () => {
    expect((await declare('cost-center.v2', 'x'.repeat(64))).status).toBe(200);
  });

  it.each(
    [
      ...[
        ['a', 'b', 'c', 'd', 'e', 'f'],
        ['team', 'team'],
      ],
      ...['a b', 'a#b', 'a:b', 'a,b', '', '.team', 'x'.repeat(65)].map((name) => [name]),
    ].map((names) => [names]),
  )('refuses the names %j', async (names) => {
    expect(await declare(...names)).toMatchObject(refusedWith(400, 'VALIDATION_ERROR'));
  });

  const filter = { dim: { team: 'search' }, model: 'gpt-4o' };
  const config = { threshold: 5, period: 'daily', filter };
  it.each([
    ['alert rule', '/alert-rules', { type: 'cost_threshold', config }, 'config.filter.dim'],
    ['budget', '/budgets', { amount: 5, period: 'daily', filter }, 'filter.dim'],
  ])('are not removed while an active %s filters by them', async (kind, at, members, path) => {
    const create = () => call('POST', at, { name: 'Search', channels: ['email'], ...members });
    expect(detailsOf((await create()).body)?.path).toBe(path);
    await declare('team');
    const created = await create();
    expect(created.status).toBe(201);
    expect(await declare('env')).toMatchObject(refusedWith(409, 'CONFLICT', `The ${kind} "Search" filters by team`));
    const switchTo = (isActive: boolean) => call('PATCH', `${at}/${created.body.id}`, { isActive });
    await switchTo(false);
    expect((await declare('env')).status).toBe(200);
    expect((await call('PATCH', `${at}/${created.body.id}`, { name: 'Off' })).status).toBe(200);
    expect((await switchTo(true)).status).toBe(400);
  });
});

describe('spend by a declared dimension', () => {
  it('is counted from the declaration on; what came before is unknown, never $0', async () => {
    const record = newRecorder();
    await record([request('2026-11-20T09:00:00.000Z', { team: 'search' }, 10)]);
    await declare('team');
    passMs(120_000);
    await record([
      request('2026-11-20T11:00:00.000Z', { team: 'search' }, 20),
      request('2026-11-20T11:00:00.000Z', { team: 'ads' }, 30),
      request('2026-11-20T11:00:00.000Z', {}, 40),
      // It began before the declaration, and comes late.
      request('2026-11-20T10:29:59.999Z', { team: 'search' }, 50),
    ]);
    expect(await groupsBy('dim:team')).toEqual({ search: [1, 20], ads: [1, 30], null: [1, 40], '(unknown)': [2, 60] });
    const report = await spend({ groupBy: ['dim:team'] });
    expect(report).toMatchObject({ isComplete: false, mayAlsoMatch: null, totals: { requests: 5 } });

    const filtered = await spend({ dim: ['team:search'], granularity: ['hour'] });
    expect(filtered).toMatchObject({
      totals: { requests: 1, costNanoUsd: 20 * TOKEN_NANO_USD },
      mayAlsoMatch: { requests: 2, costNanoUsd: 60 * TOKEN_NANO_USD },
      isComplete: false,
    });
    const hours = Object.fromEntries(
      filtered.series.map(({ time, ...point }: { time: string }) => [time.slice(11), point]),
    );
    expect(hours['09']).toMatchObject({ requests: 0, costNanoUsd: null, mayAlsoMatch: { requests: 1 } });
    expect(hours['11']).toMatchObject({ requests: 1, costNanoUsd: 140, mayAlsoMatch: null });
    expect(hours['12']).toMatchObject({ requests: 0, costNanoUsd: 0, mayAlsoMatch: null });
    // The day before nothing was sent at all.
    expect(filtered.previous).toMatchObject({ totals: { costNanoUsd: 0 }, mayAlsoMatch: null });
    expect(
      await spend({
        dim: ['team:search'],
        from: ['2026-11-20T08:00:00Z'],
        to: ['2026-11-20T10:00:00Z'],
        granularity: ['hour'],
      }),
    ).toMatchObject({
      totals: { requests: 0, costNanoUsd: null, costUsd: null },
      mayAlsoMatch: { requests: 1 },
    });
  });

  it('says the same once its day is rolled up', async () => {
    await declare('team');
    passMs(120_000);
    const record = newRecorder();
    await record([
      request('2026-11-20T10:00:00.000Z', { team: 'search' }, 10),
      request('2026-11-20T11:00:00.000Z', { team: 'search' }, 20),
      request('2026-11-20T12:00:00.000Z', {}, 30),
    ]);
    const questions = [
      { groupBy: ['dim:team,model'], granularity: ['hour'] },
      { groupBy: ['dim:team', 'key'], granularity: ['day'] },
      { groupBy: ['dim:team'], granularity: ['month'] },
      { dim: ['team:search'], groupBy: ['provider'], granularity: ['day'] },
      { groupBy: ['client'], granularity: ['day'] },
    ];
    const ask = () => Promise.all(questions.map(spend));
    const live = await ask();
    expect(live[0].groups).toHaveLength(3);
    expect(live[0].groupBy).toEqual(['dim:team', 'model']);
    expect(live[0].groups[0]).toMatchObject({ dim: { team: null }, model: 'gpt-4o-2024-08-06' });
    clock.setTime(Date.parse('2026-11-21T02:00:00Z'));
    const rollup = openRollup(table, nowMs);
    for (const period of ['2026-11-20', '2026-11']) {
      for await (const mark of openRollupMarks(table, () => Date.parse('2027-01-01T00:00:00Z')).due(
        shardOf(caller.accountId, ROLLUP_MARK_SHARDS),
      ))
        if (mark.accountId === caller.accountId && mark.period === period)
          expect(await rollup.rollUp(mark)).toBe('rolled-up');
    }
    expect(await findItem(table, rollupMarkKey(caller.accountId, '2026-11-20'))).toBeUndefined();
    clock.setTime(DECLARED_AT);
    expect(await ask()).toEqual(live);
  });

  it('follows repricing and late closes exactly, whatever is declared by then', async () => {
    await declare('team');
    passMs(60_000);
    const record = newRecorder();
    const close = request('2026-11-20T10:30:30.000Z', { team: 'search' }, 20);
    const open = openEvent({ ...close, metadata: { team: 'search' } } as never);
    await record([{ ...open, kind: 'open' }, request('2026-11-20T10:30:30.000Z', { team: 'ads' }, 5)]);
    expect(await groupsBy('dim:team')).toMatchObject({ search: [1, 0], ads: [1, 5] });
    await declare();
    passMs(120_000);
    await newRecorder()([close]);
    expect(await groupsBy('dim:team')).toEqual({ search: [1, 20], ads: [1, 5] });

    const records: RequestRecord[] = [];
    const range = { from: '2026-11-20T00:00:00.000Z', to: '2026-11-21T00:00:00.000Z' };
    for await (const each of openRequests(table, nowMs).all(caller.accountId, range)) records.push(each);
    const doubled = (event: Parameters<typeof priceOfTokens>[0]) => {
      const priced = priceOfTokens(event);
      return { ...priced, costNanoUsd: priced.costNanoUsd === null ? null : 2 * priced.costNanoUsd };
    };
    const reprice = openRepricer(table, doubled);
    expect((await reprice(records, { dryRun: false })).changes).toHaveLength(2);
    expect(await groupsBy('dim:team')).toEqual({ search: [1, 40], ads: [1, 10] });
    expect(await groupsBy('client')).toEqual({ null: [2, 50] });
  });

  it('is exact whichever recorder knows of the declaration', async () => {
    const stale = newRecorder();
    await stale([request('2026-11-20T09:00:00.000Z', { team: 'search' }, 1)]);
    await declare('team');
    passMs(30_000);
    const events = [
      request('2026-11-20T10:30:10.000Z', { team: 'search' }, 10),
      request('2026-11-20T10:30:20.000Z', { team: 'search' }, 100),
    ] as const;
    await Promise.all([stale([events[0]]), newRecorder()([events[1]])]);
    // Each event comes again, to the other one.
    await Promise.all([stale([events[1]]), newRecorder()([events[0]])]);
    expect(await groupsBy('dim:team')).toEqual({ search: [1, 100], '(unknown)': [2, 11] });
    expect((await spend({})).totals).toMatchObject({ requests: 3, costNanoUsd: 111 * TOKEN_NANO_USD });
  });

  it('counts values past the limit of a day as (other), and models before values', async () => {
    await declare('customer');
    passMs(60_000);
    const record = newRecorder();
    const send = (from: number, to: number) =>
      record(
        Array.from({ length: to - from }, (_, n) =>
          request('2026-11-20T11:00:00.000Z', { customer: `customer-${from + n}` }, 1),
        ),
      );
    for (let n = 0; n < 1_100; n += 100) await send(n, n + 100);
    const { groups, totals, isComplete } = await spend({ groupBy: ['dim:customer'], limit: ['1000'] });
    expect(groups).toHaveLength(1_000);
    expect(groups[0]).toMatchObject({ dim: { customer: '(other)' }, requests: 100 });
    expect(totals).toMatchObject({ requests: 1_100, costNanoUsd: 1_100 * TOKEN_NANO_USD });
    expect(isComplete).toBe(false);
    expect(await spend({ dim: ['customer:customer-7'], groupBy: ['model'] })).toMatchObject({
      groups: [{ model: 'gpt-4o-2024-08-06', requests: 1 }],
      mayAlsoMatch: { requests: 100 },
    });
    const byModel = await spend({ groupBy: ['dim:customer', 'model'], dim: ['customer:customer-700'] });
    expect(byModel.groups).toMatchObject([{ dim: { customer: 'customer-700' }, model: '(other)', requests: 1 }]);
    // The crosses have the models all the same.
    expect((await spend({ groupBy: ['model'] })).groups).toMatchObject([
      { model: 'gpt-4o-2024-08-06', requests: 1_100 },
    ]);
  });

  it.each([
    [{ groupBy: ['dim:team', 'tag'] }, 'groupBy', 'cannot be combined'],
    [{ groupBy: ['dim:team', 'client'] }, 'groupBy', 'cannot be combined'],
    [{ groupBy: ['dim:team'], providerKey: ['x'] }, 'groupBy', 'cannot be combined'],
    [{ dim: ['team:a', 'env:b'] }, 'groupBy', 'cannot be combined'],
    [{ groupBy: ['dim:taem'] }, 'groupBy', 'declare it first'],
    [{ dim: ['taem:search'] }, 'dim', 'declare it first'],
    [{ dim: ['search'] }, 'dim.0', ''],
    [{ groupBy: ['team'] }, 'groupBy.0', ''],
  ])('refuses %j', async (query, path, message) => {
    await declare('team', 'env');
    const refused = await spend(query as Record<string, string[]>);
    expect(refused.status).toBe(400);
    expect(detailsOf(refused)?.path).toBe(path);
    expect(detailsOf(refused)?.message).toContain(message);
  });

  it('keeps values apart that read like those of the service', async () => {
    await declare('team');
    passMs(60_000);
    const values = ['(unknown)', '\\(unknown)', '(other)', '', 'a#b', '%', '\u{1f984}'];
    await newRecorder()(values.map((team) => request('2026-11-20T11:00:00.000Z', { team }, 1)));
    expect(Object.keys(await groupsBy('dim:team')).sort()).toEqual(
      ['\\(unknown)', '\\\\(unknown)', '\\(other)', 'null', 'a#b', '%', '\u{1f984}'].sort(),
    );
    expect((await spend({ groupBy: ['dim:team'] })).isComplete).toBe(true);
    expect((await spend({ dim: ['team:a#b'] })).totals.requests).toBe(1);
    expect((await spend({ dim: ['team:'] })).totals.requests).toBe(1);
  });

  it('is in the export, with an empty field for a cost that is not known', async () => {
    await newRecorder()([request('2026-11-20T09:00:00.000Z', { team: 'search' }, 10)]);
    await declare('team');
    passMs(60_000);
    await newRecorder()([request('2026-11-20T11:00:00.000Z', { team: 'search' }, 20)]);
    const exported = async (query: object) => {
      let text = '';
      const pieces = await exportSpend({
        readCounters: openSpend(table).read,
        findDeclared: openDeclaredDimensions(table).find,
        now: () => new Date(clock),
      })({
        caller: { ...caller, role: 'owner', name: '' },
        query: exportOperation.query.parse({ from: '2026-11-20', to: '2026-11-20', ...query }),
        params: undefined,
        body: undefined,
        authorization: undefined,
        requestId: '',
      });
      for await (const piece of pieces) text += piece;
      return text.trimEnd().split('\r\n');
    };
    const byTeam = await exported({ groupBy: ['dim:team'] });
    expect(byTeam.map((line) => line.split(',').slice(0, 4).join())).toEqual([
      'time,dim:team,requests,cost_usd',
      '2026-11-20,search,1,0.00000014',
      '2026-11-20,(unknown),1,0.00000007',
    ]);
    const filtered = await exported({ dim: ['team:search'], groupBy: ['client'].slice(1), granularity: 'hour' });
    expect(filtered.map((line) => [...line.split(',').slice(0, 3), ...line.split(',').slice(-4)].join())).toEqual([
      'time,requests,cost_usd,may_also_match_requests,may_also_match_cost_usd,list_cost_usd,list_unpriced_requests',
      '2026-11-20T09,0,,1,0.00000007,,0',
      '2026-11-20T11,1,0.00000014,0,0,0.00000014,0',
    ]);
  });
});

describe('a backtest by a declared dimension', () => {
  it('counts what is known, and says what may be missing', async () => {
    await newRecorder()([request('2026-11-20T09:00:00.000Z', { team: 'search' }, 10)]);
    await declare('team');
    passMs(60_000);
    await newRecorder()([
      request('2026-11-20T11:00:00.000Z', { team: 'search' }, 200_000),
      request('2026-11-20T11:00:00.000Z', { team: 'ads' }, 900_000),
    ]);
    clock.setTime(Date.parse('2026-11-20T16:00:00Z'));
    for (const keyId of ['key-1', 'key-2']) await newKey(table, caller.accountId, { keyId });
    const preview = (filter: object) =>
      call('POST', '/alert-rules/preview', {
        type: 'cost_threshold',
        config: { threshold: 0.001, period: 'daily', filter },
      });
    expect((await preview({ dim: { team: 'search' } })).body).toMatchObject({
      alerts: [{ figure: 200_000 * TOKEN_NANO_USD }],
      mayAlsoMatch: { requests: 1, costNanoUsd: 70 },
    });
    expect((await preview({ dim: { team: 'search' }, key: 'key-1' })).body.alerts).toHaveLength(1);
    expect((await preview({ dim: { team: 'search' }, key: 'key-2' })).body.alerts).toHaveLength(0);
    expect((await preview({ key: 'key-1', tag: 'none' })).body.alerts).toHaveLength(0);
    for (const filter of [
      { dim: { team: 'a' }, tag: 'b' },
      { dim: { team: 'a' }, client: 'b' },
      { dim: {} },
      { dim: { taem: 'a' } },
    ])
      expect((await preview(filter)).status).toBe(400);
  });
});
