import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { uuidv7 } from 'uuidv7';
import { interceptTable, raceTable } from '../../fixtures/intercept-table.ts';
import { settingsOf } from '../../fixtures/open-dashboard.ts';
import { readLimitValues } from '../../lambda/dashboard/limits/limit-values.ts';
import { auditEntry } from '../../lambda/data/accounts/audit-log.ts';
import { openProjects } from '../../lambda/data/accounts/projects.ts';
import { newServiceKey, openServiceKeys } from '../../lambda/data/accounts/service-keys.ts';
import { openBlocks } from '../../lambda/data/alerts/blocks.ts';
import { openEvaluationProgress } from '../../lambda/data/alerts/evaluation-progress.ts';
import { openMeasures } from '../../lambda/data/alerts/measures.ts';
import { openRules } from '../../lambda/data/alerts/rules.ts';
import { update } from '../../lambda/data/table/actions.ts';
import { limitValueKey, reservedBudgetKey, serviceKeyKey } from '../../lambda/data/table/keys.ts';
import { findItem } from '../../lambda/data/table/read.ts';
import { write } from '../../lambda/data/table/write.ts';
import { newAccountKey, secretHash } from '../../lambda/domain/accounts/issued-secret.ts';
import type { Alert } from '../../lambda/domain/alerts/alert.ts';
import { blocksOf } from '../../lambda/domain/limits/block.ts';
import { evaluateAccount } from '../../lambda/rule-evaluator/evaluate-account.ts';
import { judgeAccount } from '../../lambda/rule-evaluator/judge-rules.ts';
import { evaluationDependencies } from '../../lambda/rule-evaluator/open-judge.ts';
import { addSpend, costing } from '../data/add-spend.ts';
import { callAs, invalidAt, refusedWith, silentLogger } from '../http/invoke.ts';
import { dashboardForTests, openDashboard } from './open-dashboard.ts';

let delivered: Alert[];

const { table, clock, caller, call, audited } = dashboardForTests({
  webhookUrlProblem: async () => undefined,
  newSecret: () => 'whsec_1',
});
beforeEach(() => {
  delivered = [];
});

const TEAM = { name: 'Team', amount: 100, period: 'monthly' };
const create = async (changes: object = {}) => {
  const { status, body } = await call('POST', '/budgets', { ...TEAM, block: {}, ...changes });
  expect([status, body]).toEqual([201, expect.anything()]);
  return body;
};
const spend = (usd: number, at = clock.toISOString(), dimensions = {}) =>
  addSpend(table, caller.accountId, at, costing(usd), dimensions);
const blocks = async () => (await openBlocks(table).read(caller.accountId)).blocks;
/** The copy that the gateway reads with the key. */
const copyOnKey = async (key = caller.accountKey) =>
  (await findItem(table, serviceKeyKey(secretHash(key))))?.['withoutBlocks'];
/** What the recorder asks for after the account's spend changed. */
const judge = async (since = clock, oldest = since.toISOString()) =>
  judgeAccount({
    rules: openRules(table),
    progress: openEvaluationProgress(table),
    measures: openMeasures(table),
    evaluate: evaluateAccount(evaluationDependencies(table, 'https://dashboard.example.com')),
    deliver: async (alert) => void delivered.push(alert),
    now: () => new Date(clock),
    logger: silentLogger(),
  })({ accountId: caller.accountId, since: since.toISOString(), oldest });

it('lists every budget where the sum of one is past 2^53, which is used up', async () => {
  for (const day of ['18', '19', '20'])
    for (const hour of ['01', '02']) await spend(8_000_000, `2026-11-${day}T${hour}:00:00.000Z`, { model: 'o3' });
  await spend(5);
  const day = await create({ period: 'daily', filter: { model: 'gpt-4o' } });
  const month = await create();
  const { status, body } = await call('GET', '/budgets');
  expect(status).toBe(200);
  expect(body.items.map(({ id, state }: typeof day) => [id, state.usedNanoUsd, state.isBlocking])).toEqual([
    [day.id, 5e9, false],
    [month.id, Number.MAX_SAFE_INTEGER, true],
  ]);
  expect((await blocks()).map(({ id }) => id)).toEqual([month.id]);
});

it('lists a budget whose forecast is past 2^53', async () => {
  for (const day of ['13', '14', '15', '16', '17', '18', '19']) await spend(1_000_000, `2026-11-${day}T01:00:00.000Z`);
  await create({ amount: 9_000_000 });
  const { body } = await call('GET', '/budgets');
  expect(body.items[0].state).toMatchObject({ projectedNanoUsd: Number.MAX_SAFE_INTEGER, isBlocking: false });
});

describe('the audit log', () => {
  it('has what a change replaced, next to what it set', async () => {
    const { id } = await create();
    await call('PATCH', `/budgets/${id}`, { amount: 200 });
    const items = await audited();
    const amountIn = (details: Readonly<Record<string, string>> | null) =>
      JSON.parse(details?.['config'] ?? '{}').amount;
    expect(items.map(({ action, before, details }) => [action, amountIn(before), amountIn(details)])).toEqual([
      ['budget.changed', 100, 200],
      ['budget.created', undefined, 100],
    ]);
    expect(items[0]?.before).not.toHaveProperty('name');
  });
});

describe('a budget', () => {
  it('has used what GET /spend shows for the same period, also from before it was made', async () => {
    await spend(30, '2026-11-02T10:00:00.000Z');
    await spend(12.5);
    await spend(7, '2026-10-31T23:59:59.000Z');
    const budget = await create();
    expect(budget.state).toMatchObject({
      period: { name: 'monthly', start: '2026-11-01T00:00:00.000Z', end: '2026-12-01T00:00:00.000Z' },
      usedNanoUsd: 42_500_000_000,
      remainingNanoUsd: 57_500_000_000,
      percentUsed: 42,
      isBlocking: false,
    });
    const month = { from: '2026-11-01T00:00:00Z', to: '2026-12-01T00:00:00Z', granularity: 'day' };
    const { body: report } = await call('GET', '/spend', undefined, {}, month);
    expect(report.totals.costNanoUsd).toBe(budget.state.knownNanoUsd);
  });

  it.each([{}, { provider: 'google' }])('counts a model of Google under both of its names: %j', async (filter) => {
    const named = { ...filter, model: 'models/gemini-2.5-pro' };
    await spend(3, undefined, { provider: 'google', model: 'models/gemini-2.5-pro' });
    await spend(2, undefined, { provider: 'google', model: 'gemini-2.5-pro' });
    await spend(9, undefined, { provider: 'google', model: 'gemini-2.5-flash' });
    const { state } = await create({ filter: named });
    expect(state.usedNanoUsd).toBe(5_000_000_000);
    const { body: report } = await call('GET', '/spend', undefined, {}, { ...named, from: '2026-11-01' });
    expect(report.totals.costNanoUsd).toBe(5_000_000_000);
  });

  it('counts only what its filter matches, and only its fixed days', async () => {
    await spend(30, '2026-11-02T10:00:00.000Z', { tag: 'night' });
    await spend(5, '2026-11-10T10:00:00.000Z', { tag: 'night' });
    await spend(9, '2026-11-10T10:00:00.000Z', { tag: 'day' });
    const period = { from: '2026-11-10', to: '2026-11-20' };
    const { state } = await create({ period, filter: { tag: 'night' } });
    expect(state).toMatchObject({
      period: { name: 'fixed', start: '2026-11-10T00:00:00.000Z', end: '2026-11-21T00:00:00.000Z' },
      usedNanoUsd: 5_000_000_000,
    });
    clock.setTime(Date.parse('2026-11-21T00:00:00.000Z'));
    expect((await call('GET', '/budgets')).body.items[0].state).toMatchObject({ period: null, usedNanoUsd: 0 });
  });

  it.each<[string, object, number, boolean]>([
    ['ignores them', { unknownCost: 'ignore' }, 0, false],
    ['counts each as an amount', { unknownCost: { countAsUsd: 60 } }, 120_000_000_000, true],
    ['takes the budget for used up', { unknownCost: 'block' }, 0, true],
  ])('of requests of unknown cost, %s', async (_case, changes, usedNanoUsd, isBlocking) => {
    await addSpend(table, caller.accountId, clock.toISOString(), { requests: 2, unpricedRequests: 2 });
    const { state } = await create({ ...changes, period: 'daily' });
    expect(state).toMatchObject({ usedNanoUsd, isBlocking, unpricedRequests: 2, projectedNanoUsd: null });
  });

  it('is no alert rule to the API of alert rules', async () => {
    const { id } = await create();
    expect((await call('GET', '/alert-rules')).body.items).toEqual([]);
    expect((await call('GET', `/alert-rules/${id}`)).status).toBe(404);
    expect(await call('GET', '/budgets/none')).toMatchObject(refusedWith(404, 'NOT_FOUND', 'There is no such budget.'));
  });

  it('says the same of what somebody who sees a part does not see, as of what is not there', async () => {
    const part = { userId: 'ada', role: 'member', projects: ['p'], keyIds: new Set(['k']) } as const;
    const { id: budget } = await create();
    const { id: each } = await create({ each: 'key' });
    const daily = { type: 'cost_threshold', name: 'Daily', config: { threshold: 1, period: 'daily' } };
    const { id: rule } = (await call('POST', '/alert-rules', daily)).body;
    const of = (filter: object) => ({ name: 'b', amount: 1, period: 'monthly', filter });
    for (const [request, hidden, body = null] of [
      ...['GET /budgets/ID', 'DELETE /budgets/ID'].map((request) => [request, budget] as const),
      ...['GET /alert-rules/ID', 'POST /alert-rules/ID/test'].map((request) => [request, rule] as const),
      ['GET /budgets/ID/values', each],
      ['POST /budgets/ID/values/x/raises', each, { amount: 50, reason: 'r' }],
      ...['POST /budgets', 'POST /budgets/preview'].flatMap((request) => [
        [request, caller.keyId, of({ project: 'p', key: 'ID' })] as const,
        [request, 'default', of({ key: 'k', project: 'ID' })] as const,
      ]),
    ] as const) {
      const ask = async (id: string) => {
        const [method = '', path = ''] = request.replace('ID', id).split(' ');
        const sent = JSON.parse(JSON.stringify(body).replace('ID', id)) ?? undefined;
        const { status, body: said } = await call(method, path, sent, part);
        return [request, status, said.error?.message];
      };
      expect(await ask(hidden)).toEqual(await ask('none'));
    }
  });

  it.each<[string, object, string]>([
    ['an amount of 0', { amount: 0 }, 'amount'],
    ['an unknown period', { period: 'yearly' }, 'period'],
    ['days in the wrong order', { period: { from: '2026-11-10', to: '2026-11-09' } }, 'period.to'],
    ['a block below 100 %', { block: { atPercent: 90 } }, 'block.atPercent'],
  ])('refuses %s', async (_case, changes, path) => {
    const body = { ...TEAM, ...changes };
    expect(await call('POST', '/budgets', body)).toMatchObject(invalidAt(path));
  });
});

it('is for each value of no days that began before the requests on record, by which values are counted', async () => {
  const make = (from: string, changes: object) =>
    call('POST', '/budgets', { name: 'Launch', amount: 100, period: { from, to: '2026-12-31' }, ...changes });
  // FREE keeps requests for 30 days.
  expect(await make('2026-10-20', { each: 'key' })).toMatchObject(invalidAt('period.from'));
  expect((await make('2026-10-22', { each: 'key' })).status).toBe(201);
  expect((await make('2026-10-20', {})).status).toBe(201);
});

it('tests no budget for each of a dimension, whose values nobody counted before', async () => {
  await spend(40, '2026-11-02T10:00:00.000Z');
  await spend(75, '2026-11-10T10:00:00.000Z');
  const body = { amount: 100, period: 'monthly', each: 'key', block: {} };
  expect(await call('POST', '/budgets/preview', body)).toMatchObject(invalidAt('each'));
});

it('shows what a budget would have done in the last 30 days, and stores nothing', async () => {
  await spend(40, '2026-11-02T10:00:00.000Z');
  await spend(75, '2026-11-10T10:00:00.000Z');
  await spend(20, '2026-11-12T10:00:00.000Z', { tag: 'other' });
  const preview = async (changes: object) => {
    const { status, body } = await call('POST', '/budgets/preview', { amount: 100, period: 'monthly', ...changes });
    expect([status, body]).toEqual([200, expect.anything()]);
    return body;
  };
  const { alerts, stoppedNanoUsd } = await preview({ block: {}, notifyAt: [100] });
  expect(alerts).toMatchObject([{ event: 'reached', by: '2026-11-11T00:00:00.000Z', figure: 115_000_000_000 }]);
  expect(stoppedNanoUsd).toBe(35_000_000_000);
  expect(await preview({ block: null, filter: { tag: 'other' } })).toMatchObject({ alerts: [], stoppedNanoUsd: null });
  expect((await call('GET', '/budgets')).body.items).toEqual([]);
});

describe('a budget of a project', () => {
  const audit = () => auditEntry(caller.accountId, {}, { action: 'project.created' }, clock);
  const newProject = async (name: string) => {
    const projectId = uuidv7();
    await openProjects(table).create({ projectId, name, createdAt: clock.toISOString() }, audit());
    return projectId;
  };
  const newKey = async (projectId: string, withoutBlocks?: 'pass') => {
    const key = newServiceKey(
      { keyId: uuidv7(), name: 'k', createdAt: clock.toISOString(), projectId },
      newAccountKey(randomBytes),
    );
    await openServiceKeys(table).create(
      { accountId: caller.accountId, status: 'active', withoutBlocks },
      key,
      10,
      audit(),
    );
    return key;
  };
  /** Ids of the budgets that refuse a request of a key, as the gateway finds them. */
  const refusedBy = async (keyId: string | null) =>
    blocksOf(await openBlocks(table).read(caller.accountId), { provider: 'openai', keyId, tag: null }, clock).map(
      ({ id }) => id,
    );
  const judgeLater = async () => {
    clock.setTime(clock.getTime() + 60_000);
    await judge();
  };

  it('refuses the requests of its keys, of those that come later from the next judging on, and of no other', async () => {
    const [project, other] = [await newProject('Search'), await newProject('Other')];
    const [first, second, outside] = [await newKey(project), await newKey(project), await newKey(other)];
    const { id } = await create({ filter: { project }, notifyAt: [100] });
    await spend(60, clock.toISOString(), { keyId: first.keyId });
    await spend(500, clock.toISOString(), { keyId: outside.keyId });
    await spend(500);
    await judgeLater();
    expect((await call('GET', `/budgets/${id}`)).body.state).toMatchObject({ usedNanoUsd: 60e9, isBlocking: false });
    expect(await blocks()).toEqual([]);

    await spend(40, clock.toISOString(), { keyId: second.keyId });
    await judgeLater();
    for (const [keyId, refused] of [
      [first.keyId, [id]],
      [second.keyId, [id]],
      [outside.keyId, []],
      [null, []],
    ] as const)
      expect(await refusedBy(keyId)).toEqual(refused);
    expect(delivered).toMatchObject([{ event: 'reached', percent: 100, figure: 100e9 }]);
    expect(delivered[0]?.contributors).toContainEqual({ dimension: 'key', value: first.keyId, label: 'k', share: 0.6 });

    const third = await newKey(project, 'pass');
    await openServiceKeys(table).change(outside, { projectId: project }, audit());
    expect(await refusedBy(third.keyId)).toEqual([]);
    await judgeLater();
    expect([await refusedBy(third.keyId), await refusedBy(outside.keyId)]).toEqual([[id], [id]]);
    // A key takes its past along, so it counts where it is now.
    expect((await call('GET', '/budgets')).body.items[0].state.usedNanoUsd).toBe(600e9);
  });

  it('refuses nothing where the project has no key', async () => {
    await spend(500);
    const { id } = await create({ filter: { project: await newProject('Empty') }, block: { enforcement: 'reserved' } });
    const { reserved } = await openBlocks(table).read(caller.accountId);
    expect(reserved).toMatchObject([{ id, scope: { keyIds: [] } }]);
    expect([await blocks(), await refusedBy(caller.keyId)]).toEqual([[], []]);
  });

  it('may be a member: the requests of that member’s keys', async () => {
    const { id } = await create({ filter: { member: caller.userId }, block: { enforcement: 'reserved' } });
    expect((await call('GET', `/budgets/${id}`)).body.filter).toEqual({ member: caller.userId });
    await judge();
    const { reserved } = await openBlocks(table).read(caller.accountId);
    expect(reserved).toMatchObject([{ id, scope: { keyIds: [caller.keyId] } }]);
  });

  it('has to be one of the account', async () => {
    const body = { ...TEAM, filter: { project: 'nowhere' } };
    for (const path of ['/budgets', '/budgets/preview'])
      expect(await call('POST', path, body)).toMatchObject(
        invalidAt('filter.project', 'nowhere is not a project of the account'),
      );
    const { id } = await create();
    for (const filter of [{ project: 'nowhere' }, { key: 'nowhere' }, { member: 'nobody' }])
      expect((await call('PATCH', `/budgets/${id}`, { filter })).status).toBe(400);
    const project = await newProject('Former');
    const off = (await create({ filter: { project }, isActive: false })).id;
    await openProjects(table).remove(project, audit());
    expect((await call('PATCH', `/budgets/${off}`, { name: 'Former' })).status).toBe(200);
    expect((await call('PATCH', `/budgets/${off}`, { isActive: true })).status).toBe(400);
  });
});

describe('a budget that stops requests', () => {
  describe('that reserves', () => {
    const budgetWith = async (item: Readonly<Record<string, number>>) => {
      const { id } = await create({ block: { enforcement: 'reserved' } });
      const key = reservedBudgetKey(caller.accountId, id, 'monthly#2026-11-01T00:00:00.000Z');
      await table.call('PutItem', { TableName: table.name, Item: { ...key, unreserved: 0, finished: USD, ...item } });
      return (await call('GET', `/budgets/${id}`)).body;
    };
    const USD = 1e9;

    it('has a bound of 0 while it is active, and says what may come on top, and from when on it holds', async () => {
      const { id, updatedAt, state } = await budgetWith({ unreserved: 2 * USD, initial: 2 * USD });
      expect(state.bound.nanoUsd).toBe(0);
      expect(state.bound.because).toMatch(/tools.*batches.*tier.*not asked for/);
      expect(Date.parse(state.enforcedFrom) - Date.parse(updatedAt)).toBe(65_000);
      await call('PATCH', `/budgets/${id}`, { isActive: false });
      expect((await call('GET', `/budgets/${id}`)).body.state).toMatchObject({ bound: null, enforcedFrom: null });
    });

    it('has what requests of unknown cost had reserved in its bound', async () => {
      const { state } = await budgetWith({ uncertain: 0.25 * USD, excess: 0.5 * USD });
      const { nanoUsd, because } = state.bound;
      expect(nanoUsd).toBe(0.75 * USD);
      expect(because).toMatch(/\$0\.25.*not known/);
    });
  });

  it('blocks its scope once it is used up, until the period ends', async () => {
    const { id } = await create({ filter: { provider: 'openai', tag: 'night' } });
    expect(await blocks()).toEqual([]);
    await spend(100, clock.toISOString(), { tag: 'night' });
    await judge();
    expect(await blocks()).toEqual([
      {
        id,
        kind: 'budget',
        name: 'Team',
        scope: { provider: 'openai', tag: 'night' },
        until: '2026-12-01T00:00:00.000Z',
        amountNanoUsd: 100e9,
        spentNanoUsd: 100e9,
      },
    ]);
  });

  it('blocks at once where it is used up already, and lets requests pass again when it is raised, switched off, or deleted', async () => {
    await spend(101);
    const { id, state } = await create();
    expect([state.isBlocking, (await blocks()).length]).toEqual([true, 1]);
    await call('PATCH', `/budgets/${id}`, { amount: 200 });
    expect(await blocks()).toEqual([]);
    await call('PATCH', `/budgets/${id}`, { amount: 50 });
    expect(await blocks()).toHaveLength(1);
    await call('PATCH', `/budgets/${id}`, { isActive: false });
    expect(await blocks()).toEqual([]);
    await call('PATCH', `/budgets/${id}`, { isActive: true });
    await call('DELETE', `/budgets/${id}`);
    expect(await blocks()).toEqual([]);
  });

  it('tells the gateway through each key whether there is anything to look up', async () => {
    expect(await copyOnKey()).toBeUndefined();
    const { id } = await create({ block: { onUnavailable: 'stop' } });
    expect(await copyOnKey()).toBe('stop');
    await call('PATCH', `/budgets/${id}`, { block: { onUnavailable: 'pass' } });
    expect(await copyOnKey()).toBe('pass');
    await call('PATCH', `/budgets/${id}`, { block: null });
    expect(await copyOnKey()).toBeUndefined();
  });

  it('leaves pauses alone, and they leave it alone', async () => {
    const pause = {
      id: 'pause-1',
      kind: 'pause' as const,
      name: 'Night shift',
      scope: { sessionId: 's' },
      until: null,
      amountNanoUsd: null,
      spentNanoUsd: null,
    };
    await openBlocks(table).change(caller.accountId, (current) => ({ ...current, blocks: [pause] }));
    await spend(101);
    const { id } = await create();
    expect(await blocks()).toEqual([pause, expect.objectContaining({ id })]);
    const ids = async () => (await blocks()).map((each) => each.id);
    const { body: another } = await call('POST', '/pauses', { name: 'Day shift', scope: { session: 't' } });
    expect(await ids()).toEqual([id, pause.id, another.id]);
    await call('DELETE', `/pauses/${another.id}`);
    expect(await ids()).toEqual([id, pause.id]);
    await call('DELETE', `/budgets/${id}`);
    expect([await blocks(), await copyOnKey()]).toEqual([[pause], 'pass']);
  });

  it('shows what is left, if asked', async () => {
    await spend(40);
    const { id } = await create({ block: null, showRemaining: true });
    expect((await openBlocks(table).read(caller.accountId)).remaining).toEqual([
      { id, scope: {}, until: '2026-12-01T00:00:00.000Z', nanoUsd: 60_000_000_000 },
    ]);
  });
});

describe('the alerts of a budget', () => {
  it('fire once for each percentage, the highest first', async () => {
    await create({ block: null, notifyAt: [50, 80, 100] });
    const percents = () => delivered.map(({ percent }) => percent);
    for (const [usd, expected] of [
      [49, []],
      [2, [50]],
      [1, [50]],
      [60, [50, 100]],
      [60, [50, 100]],
    ] as const) {
      await spend(usd);
      clock.setTime(clock.getTime() + 1_000);
      await judge();
      expect(percents()).toEqual(expected);
    }
    expect(delivered[0]).toMatchObject({ type: 'budget', event: 'reached', ruleName: 'Team' });
  });

  it('fire again in the next period', async () => {
    await create({ block: null, period: 'daily', notifyAt: [100] });
    await spend(100);
    await judge();
    clock.setTime(Date.parse('2026-11-21T16:30:00.000Z'));
    await spend(100);
    await judge();
    expect(delivered.map(({ period }) => period.start)).toEqual([
      '2026-11-20T00:00:00.000Z',
      '2026-11-21T00:00:00.000Z',
    ]);
  });
});

it('judges an account once for changes of the same moment, whoever asks', async () => {
  await create({ block: null });
  const since = new Date(clock);
  clock.setTime(clock.getTime() + 1);
  const reports = [await judge(since), await judge(since, '2026-11-20T16:00:00.000Z')];
  expect(reports.map(({ accounts }) => accounts)).toEqual([1, 0]);
  // The lag of what was recorded late counts, whoever judged it.
  const { lagMs } = await openMeasures(table).read(caller.accountId);
  expect(Object.values(lagMs)).toEqual([clock.getTime() - Date.parse('2026-11-20T16:00:00.000Z')]);
  clock.setTime(clock.getTime() + 1_000);
  expect((await judge()).accounts).toBe(1);
});

it('measures all of what is judged at one moment', async () => {
  const budgetIds = ['a', 'b', 'c'];
  const sample = (budgetId: string) => [{ budgetId, periodId: 'daily', usedNanoUsd: 1 }];
  const { note, read } = openMeasures(table);
  await Promise.all(budgetIds.map((id, n) => note(caller.accountId, sample(id), clock, 9_000 - n)));
  const { budgets, lagMs } = await read(caller.accountId);
  expect([Object.keys(budgets).sort(), Object.values(lagMs)]).toEqual([budgetIds, [9_000]]);
});

describe('a budget for each of a dimension', () => {
  const each = { each: 'dim:user', amount: 200 };
  const use = async (id: string, value: string | null, usd: number) =>
    write(
      table,
      update(
        limitValueKey(caller.accountId, id, 'monthly#2026-11-01T00:00:00.000Z', value),
        'ADD committed :used, finished :used',
        null,
        { used: usd * 1e9 },
      ),
    );
  const values = async (id: string, query: Record<string, string> = {}) =>
    (await call('GET', `/budgets/${id}/values`, undefined, {}, query)).body;

  it('reads all values for the first page, and once more a minute later', async () => {
    const { id } = await create(each);
    for (const value of ['ada', 'bob', 'cy']) await use(id, value, 150);
    let reads = 0;
    const counting = interceptTable(table, async ({ operation, input }, send) => {
      if (operation === 'Query') reads += Number(JSON.stringify(input).includes(`EACH#${id}#`));
      return send();
    });
    const { listLimitValues: list } = readLimitValues(settingsOf(counting, () => clock));
    const page = async (cursor?: string) => {
      const asked = { caller: { ...caller, role: 'owner' }, params: { id }, query: { sort: 'used', limit: 1, cursor } };
      const { items, nextCursor } = await list(asked as never);
      return { value: items[0]?.value, cursor: nextCursor as string, reads };
    };
    const first = await page();
    await use(id, 'cy', 10);
    const second = await page(first.cursor);
    expect([first, second]).toMatchObject([
      { value: 'ada', reads: 1 },
      { value: 'bob', reads: 1 },
    ]);
    expect(await page()).toMatchObject({ value: 'cy', reads: 2 });
    clock.setTime(clock.getTime() + 60_000);
    expect(await page(second.cursor)).toMatchObject({ reads: 3 });
  });

  it('lists its values by the share that they used, with what holds and why', async () => {
    const { id } = await create(each);
    await use(id, 'ada', 150);
    await use(id, 'bob', 250);
    await use(id, null, 999);
    await call('PUT', `/budgets/${id}/values/cy%2Fd`, { amount: null, until: '2026-12-01T00:00:00.000Z' });
    const none = { role: 'developer', userId: 'dev' } as const;
    expect((await call('GET', `/budgets/${id}/values/(none)`, undefined, none)).status).toBe(404);
    const { items, ...all } = await values(id);
    expect(items).toMatchObject([
      { value: 'bob', limitNanoUsd: 200e9, limitSource: 'budget', remainingNanoUsd: -50e9, isBlocked: true },
      { value: 'ada', percentUsed: 75, isBlocked: false },
      { value: '(none)', limitNanoUsd: null, limitSource: 'none', usedNanoUsd: 999e9, isBlocked: false },
      { value: 'cy/d', limitNanoUsd: null, limitSource: 'override', overrideUntil: '2026-12-01T00:00:00.000Z' },
    ]);
    expect(all).toMatchObject({ values: 4, blockedValues: 1, usedNanoUsd: 1_399e9, isCounted: false });
    expect((await values(id, { search: 'AD' })).items).toHaveLength(1);
    const { exportLimitValues: exported } = readLimitValues(settingsOf(table, () => clock));
    const asked = { caller: { ...caller, role: 'owner' }, params: { id }, query: { sort: 'used' } } as never;
    expect((await Array.fromAsync(await exported(asked))).slice(0, 2)).toEqual([
      'value,name,limit_usd,limit_source,used_usd,reserved_usd,remaining_usd,percent_used,is_blocked,unpriced_requests\r\n',
      'bob,,200,budget,250,0,-50,125,true,0\r\n',
    ]);
    await call('PATCH', `/budgets/${id}`, { isActive: false });
    expect(await values(id)).toMatchObject({
      blockedValues: 0,
      items: [{ value: 'bob', isBlocked: false }, {}, {}, {}],
    });
    const first = await values(id, { limit: '2', sort: 'value' });
    const second = await values(id, { limit: '2', sort: 'value', cursor: first.nextCursor });
    expect(second.nextCursor).toBeNull();
    expect([...first.items, ...second.items].map(({ value }: { value: string }) => value)).toEqual([
      ...['(none)', 'ada', 'bob', 'cy/d'],
    ]);
  });

  it('has overrides, which are audited and end with their time', async () => {
    const { id } = await create(each);
    await use(id, 'ada', 250);
    const set = await call('PUT', `/budgets/${id}/values/ada`, { amount: 300, until: 'period_end' });
    expect(set).toMatchObject({ status: 200, body: { amount: 300, until: '2026-12-01T00:00:00.000Z' } });
    expect((await values(id)).items).toMatchObject([{ limitNanoUsd: 300e9, isBlocked: false }]);
    const over = { amount: 400, until: clock.toISOString() };
    expect(await call('PUT', `/budgets/${id}/values/ada`, over)).toMatchObject(
      invalidAt('until', 'must be in the future'),
    );
    const format = 'must be an instant (2026-11-20T16:00:00Z)';
    expect(await call('PUT', `/budgets/${id}/values/ada`, { amount: 400, until: '2026-12-31' })).toMatchObject(
      invalidAt('until', format),
    );
    const offset = await call('PUT', `/budgets/${id}/values/ada`, { amount: 300, until: '2026-12-01T01:00:00+01:00' });
    expect(offset).toMatchObject({ status: 200, body: { until: '2026-12-01T00:00:00.000Z' } });
    await call('DELETE', `/budgets/${id}/values/ada`);
    expect((await values(id)).items).toMatchObject([{ limitNanoUsd: 200e9, isBlocked: true }]);
    expect((await audited()).slice(0, 2)).toMatchObject([
      { action: 'budget.override_removed', subject: id, before: { amount: '$300' } },
      { action: 'budget.override_set', details: { value: 'ada', each: 'dim:user' } },
    ]);
  });

  it.each(['member', 'key', 'project'])(
    'has no override for a %s that the account does not have',
    async (dimension) => {
      const { id } = await create({ each: dimension });
      const own = { member: caller.userId, key: caller.keyId, project: 'default' }[dimension];
      const give = (value: unknown) => call('PUT', `/budgets/${id}/values/${value}`, { amount: 300 });
      expect(await give('ada@example.com')).toMatchObject(
        invalidAt('value', `ada@example.com is not the id of a ${dimension} of the account`),
      );
      expect([(await give(own)).status, (await give('(none)')).status]).toEqual([200, 200]);
      expect((await values(id)).items).toHaveLength(2);
    },
  );

  it('gives the gateway its amounts by role and project, and the keys of members', async () => {
    const { id } = await create({ each: 'member', amount: 200, amountByRole: { owner: 500 } });
    const known = await openBlocks(table).read(caller.accountId);
    expect(known.each).toMatchObject([
      { id, groups: [{ source: 'role', amountNanoUsd: 500e9, values: [caller.userId] }] },
    ]);
    expect(known.keys).toEqual({ [caller.keyId]: { project: 'default', member: caller.userId } });
    await judge();
    expect((await openBlocks(table).read(caller.accountId)).each).toEqual(known.each);
    expect((await values(id)).items).toMatchObject([
      { value: caller.userId, limitSource: 'role', label: caller.email },
    ]);
  });

  it('lists revoked keys only where they have a count, with the amounts of their projects', async () => {
    const { id } = await create({ each: 'key', amountByProject: { default: 300 } });
    const revoke = async (name: string) => {
      const { body } = await call('POST', '/keys', { name });
      expect((await call('DELETE', `/keys/${body.id}`)).status).toBe(204);
      return body.id;
    };
    const [used] = [await revoke('a'), await revoke('b')];
    await use(id, used, 5);
    expect((await values(id)).items).toMatchObject([
      { value: used, label: 'a', limitNanoUsd: 300e9, usedNanoUsd: 5e9 },
      { value: caller.keyId, limitNanoUsd: 300e9 },
    ]);
  });

  it('stops nothing as a whole, and cannot become another limit', async () => {
    const { id } = await create(each);
    await spend(1_000);
    await judge();
    expect(await blocks()).toEqual([]);
    expect((await call('GET', `/budgets/${id}`)).body.state).toMatchObject({ isBlocking: false, percentUsed: null });
    expect(delivered).toEqual([]);
    for (const change of [{ each: 'key' }, { period: 'daily' }, { each: null }, { unknownCost: 'block' }])
      expect((await call('PATCH', `/budgets/${id}`, change)).status).toBe(400);
    expect((await call('PATCH', `/budgets/${id}`, { amount: 300 })).status).toBe(200);
    expect(
      (await call('POST', '/budgets', { ...each, name: 'x', period: 'daily', amountByRole: { owner: 1 } })).status,
    ).toBe(400);
    const whole = (await create()).id;
    expect((await call('GET', `/budgets/${whole}/values`)).status).toBe(404);
    expect((await call('PATCH', `/budgets/${whole}`, { period: 'daily' })).status).toBe(200);
  });
});

/** A change of the account by another dashboard reads the account's budgets, and then `meanwhile` happens before it writes blocks. */
const changeLate = (id: string, body: object, meanwhile: () => Promise<unknown>) => {
  const raced = raceTable(
    table,
    meanwhile,
    ({ operation, input }) =>
      operation === 'TransactWriteItems' && JSON.stringify(input).includes(`"BLOCKS#${caller.accountId}"`),
  );
  const other = openDashboard(raced, () => new Date(clock));
  return callAs(other, caller)('PATCH', `/budgets/${id}`, body);
};

it.each<[string, number, (id: string) => Promise<unknown>, string[]]>([
  ['made', 5, () => create({ name: 'Made', amount: 1 }), ['Late', 'Made', 'Other']],
  ['raised', 5, (id) => call('PATCH', `/budgets/${id}`, { amount: 100 }), ['Late']],
  ['deleted', 5, (id) => call('DELETE', `/budgets/${id}`), ['Late']],
  ['deleted that was not used up', 50, (id) => call('DELETE', `/budgets/${id}`), ['Late']],
])(
  'stops what budgets say that were changed at one moment, where one was %s',
  async (_, amount, meanwhile, expected) => {
    await spend(7);
    const { id } = await create({ name: 'Other', amount, showRemaining: true });
    const late = await create({ name: 'Late' });
    expect((await changeLate(late.id, { amount: 2 }, () => meanwhile(id))).status).toBe(200);
    expect((await blocks()).map(({ name }) => name).sort()).toEqual(expected);
    const { remaining } = await openBlocks(table).read(caller.accountId);
    expect(remaining.some((each) => each.id === id)).toBe((await call('GET', `/budgets/${id}`)).status === 200);
  },
);

it('is neither changed nor deleted by whom it alone stops, unless they decide about raises', async () => {
  const member = { role: 'member' } as const;
  for (const filter of [{ member: caller.userId }, { key: caller.keyId }]) {
    const { id } = await create({ filter });
    for (const [method, body] of [['PATCH', { amount: 200 }], ['DELETE']] as const)
      expect(await call(method, `/budgets/${id}`, body, member)).toMatchObject(
        refusedWith(403, 'FORBIDDEN', 'This budget stops only you.'),
      );
    expect((await call('DELETE', `/budgets/${id}`)).status).toBe(204);
  }
});
