import { describe, expect, it } from '@jest/globals';
import { ruleOf } from '../../fixtures/rule-of.ts';
import type { Rule } from '../../lambda/data/alerts/rules.ts';
import type { Alert } from '../../lambda/domain/alerts/alert.ts';
import { bucketOf } from '../../lambda/domain/calendar/utc.ts';
import { CounterOverflowError, type SpendCounter } from '../../lambda/domain/spend/counters.ts';
import { OTHER } from '../../lambda/domain/spend/dimensions.ts';
import { type EvaluationDependencies, evaluateAccount } from '../../lambda/rule-evaluator/evaluate-account.ts';

const USD = 1e9;
const threshold = { type: 'cost_threshold', config: { threshold: 10, period: 'daily' } };

const accountRule = (facts: Partial<Rule>, condition: object) =>
  ruleOf('svc_1', { ruleId: 'rule-1', createdAt: '2026-01-01T00:00:00.000Z', ...condition, ...facts });

/** USD of a model at an instant. */
type Spent = readonly [at: string, usd: number | null, model?: string];

const evaluateRules = async (
  at: string,
  spends: readonly Spent[],
  rules: readonly Rule[],
  {
    fire = async () => true,
    judgedUntil = at,
    changeByLimits = async () => {},
    compare = async () => async () => {},
  }: {
    fire?: EvaluationDependencies['alerts']['fire'];
    judgedUntil?: string | undefined;
    changeByLimits?: EvaluationDependencies['blocks']['changeByLimits'];
    compare?: EvaluationDependencies['reservations']['compare'];
  } = {},
) => {
  const run = evaluateAccount({
    async *readCounters({ range: { granularity, from, to } }) {
      for (const [instant, usd, model = 'gpt-4o'] of spends)
        if (instant >= from && instant < to)
          yield {
            time: bucketOf(instant, granularity),
            dimensions: { provider: 'openai', model, tag: 'web', keyId: 'key-1', providerKey: null, project: 'p1' },
            counters:
              usd === null ? { requests: 1, unpricedRequests: 1 } : { requests: 1, costComputedNanoUsd: usd * USD },
          } satisfies SpendCounter;
    },
    alerts: { fire, firedFor: async () => new Set<string>() },
    blocks: { change: async () => {}, changeByLimits },
    reservations: { compare },
    measures: { note: async () => {} },
    keys: { list: async () => [{ keyId: 'key-1', name: 'default' }] as never },
    projects: { list: async () => [{ projectId: 'p1', name: 'Search' }] as never },
    readSessions: async () => {},
    users: { recipients: async () => [] },
    askUrl: '',
    newAlertId: () => 'alert-1',
  });
  return run('svc_1', rules, new Date(at), new Date(judgedUntil));
};

/** The alerts of one rule, with what had been fired for when each was. */
const evaluate = async (
  at: string,
  spends: readonly Spent[],
  { condition = threshold, ...facts }: Partial<Omit<Rule, 'condition'>> & { condition?: object } = {},
  judgedUntil?: string,
) => {
  const fired: { alert: Alert; firedPeriods: readonly string[] }[] = [];
  const fire: EvaluationDependencies['alerts']['fire'] = async (alert, { firedPeriods }) => {
    fired.push({ alert, firedPeriods });
    return true;
  };
  await evaluateRules(at, spends, [accountRule(facts, condition)], { fire, judgedUntil });
  return fired;
};

const daysOf = (fired: Awaited<ReturnType<typeof evaluate>>) =>
  fired.map(({ alert }) => bucketOf(alert.period.start, 'day'));

describe('evaluateAccount', () => {
  const both: Spent[] = [
    ['2026-11-19T23:50:00.000Z', 11, 'o3'],
    ['2026-11-20T10:00:00.000Z', 12],
  ];

  it.each([
    ['all of a period', '2026-11-19T00:00:00.000Z', ['2026-11-20', '2026-11-19']],
    ['the last millisecond of a period', '2026-11-19T23:59:59.999Z', ['2026-11-20', '2026-11-19']],
    ['nothing of a period that ends as the rule begins', '2026-11-20T00:00:00.000Z', ['2026-11-20']],
    ['part of the current period', '2026-11-20T16:29:00.000Z', ['2026-11-20']],
  ])('judges periods in which the rule holds: %s', async (_, effectiveFrom, days) => {
    expect(daysOf(await evaluate('2026-11-20T16:30:00Z', both, { effectiveFrom }))).toEqual(days);
  });

  it('judges no period again that has fired, and passes on which have', async () => {
    const today = '2026-11-20T00:00:00.000Z';
    const yesterday = '2026-11-19T00:00:00.000Z';
    expect(daysOf(await evaluate('2026-11-20T16:30:00Z', both, { firedPeriods: [today] }))).toEqual(['2026-11-19']);
    const fired = await evaluate('2026-11-20T16:30:00Z', both);
    expect(fired.map(({ firedPeriods }) => firedPeriods)).toEqual([[], [today]]);
    expect(await evaluate('2026-11-20T16:30:00Z', both, { firedPeriods: [today, yesterday] })).toEqual([]);
  });

  it('counts each period up to its end, and so do its contributors', async () => {
    const [today, yesterday] = await evaluate('2026-11-20T16:30:00Z', both);
    const models = (alert: Alert | undefined) => alert?.contributors.filter(({ dimension }) => dimension === 'model');
    expect([today?.alert.figure, yesterday?.alert.figure]).toEqual([12 * USD, 11 * USD]);
    expect(models(today?.alert)).toEqual([{ dimension: 'model', value: 'gpt-4o', label: null, share: 1 }]);
    expect(models(yesterday?.alert)).toEqual([{ dimension: 'model', value: 'o3', label: null, share: 1 }]);
  });

  it('compares what was reserved with what was used, by which reservations of dead processes end', async () => {
    const adjusted: unknown[] = [];
    const block = { enforcement: 'reserved' };
    const budget = accountRule({}, { type: 'budget', config: { amount: 100, period: 'daily', block } });
    await evaluateRules('2026-11-20T16:30:00Z', both, [budget], {
      compare: async (accountId, periods) => async (used) => void adjusted.push([accountId, periods, [...used]]),
    });
    const periods = [{ budgetId: 'rule-1', periodId: 'daily#2026-11-20T00:00:00.000Z' }];
    expect(adjusted).toEqual([['svc_1', periods, [['rule-1', 12 * USD]]]]);
  });

  it('counts spend of the current instant', async () => {
    const now = '2026-11-20T00:00:00.000Z';
    const [today] = await evaluate(now, [[now, 12]]);
    expect(today?.alert).toMatchObject({ figure: 12 * USD, contributors: expect.arrayContaining([expect.anything()]) });
  });

  it.each(['weekly', 'monthly'])(
    'counts spend of tomorrow already where clocks differ, by a %s rule',
    async (period) => {
      const condition = { type: 'cost_threshold', config: { threshold: 10, period } };
      const spends: Spent[] = [
        ['2026-11-20T10:00:00.000Z', 9],
        ['2026-11-21T00:04:00.000Z', 3, 'o3'],
      ];
      const [fired] = await evaluate('2026-11-20T23:56:00Z', spends, { condition });
      expect(fired?.alert.figure).toBe(12 * USD);
      expect(fired?.alert.contributors).toContainEqual({ dimension: 'model', value: 'o3', label: null, share: 0.25 });
    },
  );

  it('judges a month that is over as of its end', async () => {
    const condition = { type: 'budget_forecast', config: { budget: 100 } };
    const spends: Spent[] = [
      ['2026-11-10T12:00:00.000Z', 90],
      ['2026-11-28T12:00:00.000Z', 20],
    ];
    const [november, ...others] = await evaluate('2026-12-02T10:00:00Z', spends, { condition });
    expect(others).toEqual([]);
    expect(november?.alert).toMatchObject({
      period: { name: 'monthly', start: '2026-11-01T00:00:00.000Z' },
      figure: 110 * USD,
    });
  });

  it.each([
    ['2026-11-02T23:59:00Z', 1],
    ['2026-11-03T00:00:00Z', 0],
  ])('judges a budget of chosen days for two days after their end, as that of a month: at %s', async (at, count) => {
    for (const period of ['monthly', { from: '2026-10-01', to: '2026-10-31' }]) {
      const condition = { type: 'budget', config: { amount: 100, period, notifyAt: [80] } };
      expect(await evaluate(at, [['2026-10-31T23:00:00.000Z', 90]], { condition })).toHaveLength(count);
    }
  });

  it('fires for a forecast and once more when the budget is used up, and then forecasts nothing more', async () => {
    const condition = { type: 'budget_forecast', config: { budget: 100 } };
    const month = '2026-11-01T00:00:00.000Z';
    const spends: Spent[] = [1, 2, 3, 4, 5, 6, 7, 8].map((day) => [`2026-11-0${day}T12:00:00.000Z`, 10]);
    const eventsOf = async (usd: number, firedPeriods: string[]) =>
      (
        await evaluate('2026-11-09T12:00:00Z', [...spends, ['2026-11-09T10:00:00.000Z', usd]], {
          condition,
          firedPeriods,
        })
      ).map(({ alert }) => alert.event);
    expect(await eventsOf(10, [])).toEqual(['forecast']);
    expect(await eventsOf(10, [month])).toEqual([]);
    expect(await eventsOf(20, [month])).toEqual(['used_up']);
    expect(await eventsOf(20, [`${month}#used_up`, month])).toEqual([]);
    // A request was priced again, so that less is spent than before.
    expect(await eventsOf(10, [`${month}#used_up`])).toEqual([]);
  });

  it('judges hours that were missed, and says that their alerts are late', async () => {
    const condition = { type: 'cost_threshold', config: { threshold: 10, period: 'hourly' } };
    const hours = ['2026-11-20T02:10', '2026-11-20T11:10', '2026-11-20T14:10'];
    const spends = hours.map((hour): Spent => [`${hour}:00.000Z`, 11]);
    const alertsSince = async (judgedUntil?: string) =>
      (await evaluate('2026-11-20T16:30:00Z', spends, { condition }, judgedUntil)).map(({ alert }) => [
        alert.period.start.slice(11, 13),
        alert.summary,
      ]);
    const summary = 'Spend is $11: it reached the threshold of $10.';
    const late = `${summary} This alert is late: the rules could not be judged in time.`;
    expect(await alertsSince()).toEqual([['14', summary]]);
    // Three hours before, and the hour that was under way.
    expect(await alertsSince('2026-11-20T14:59:00Z')).toEqual([
      ['14', summary],
      ['11', late],
    ]);
    expect(await alertsSince('2026-11-19T00:00:00Z')).toEqual([
      ['14', summary],
      ['11', late],
      ['02', late],
    ]);
  });

  it('catches up for a day at most', async () => {
    const condition = { type: 'cost_threshold', config: { threshold: 10, period: 'hourly' } };
    const spends = ['12', '13', '14'].map((hour): Spent => [`2026-11-19T${hour}:10:00.000Z`, 11]);
    const fired = await evaluate('2026-11-20T16:30:00Z', spends, { condition }, '2026-11-10T00:00:00Z');
    expect(fired.map(({ alert }) => alert.period.start)).toEqual([
      '2026-11-19T14:00:00.000Z',
      '2026-11-19T13:00:00.000Z',
    ]);
  });

  it('judges the other rules where one needs a sum that is no longer exact, and fires where that is enough', async () => {
    const spends: Spent[] = [
      ['2026-11-19T10:00:00.000Z', 9_000_000, 'o3'],
      ['2026-11-19T11:00:00.000Z', 9_000_000, 'o3'],
      ...both,
    ];
    for (const day of ['13', '14', '15', '16', '17', '18']) spends.push([`2026-11-${day}T10:00:00.000Z`, 1]);
    const budgets = [{ period: 'daily' }, { period: 'monthly' }, { period: 'daily', filter: { model: 'gpt-4o' } }].map(
      (config) => ({ type: 'budget', config: { amount: 10, ...config } }),
    );
    const anomaly = { type: 'spend_anomaly', config: { period: 'daily' } };
    const rules = [...budgets, anomaly].map((condition, index) => accountRule({ ruleId: `rule-${index}` }, condition));
    const { fired, failures } = await evaluateRules('2026-11-20T16:30:00Z', spends, rules);
    expect(fired.map(({ ruleId, period }) => [ruleId, period.start.slice(0, 10)])).toEqual([
      ['rule-0', '2026-11-20'],
      ['rule-0', '2026-11-19'],
      ['rule-1', '2026-11-01'],
      ['rule-2', '2026-11-20'],
    ]);
    expect(failures).toEqual([{ ruleId: 'rule-3', error: expect.any(CounterOverflowError) }]);
  });

  it.each([
    ['cost_threshold', { threshold: 10, period: 'daily', filter: { key: 'key-1' } }],
    ['budget', { amount: 10, period: 'daily' }],
    ['budget_forecast', { budget: 10 }],
    ['burn_rate', { each: 'key', limit: 10 }],
  ])('fires for a sum that is no longer exact, which is certain to be above the limit: %s', async (type, config) => {
    const spends: Spent[] = ['10:00', '10:30'].map((at) => [`2026-11-20T${at}:00.000Z`, 9_000_000]);
    const { fired, failures } = await evaluateRules('2026-11-20T10:50:00Z', spends, [
      accountRule({}, { type, config }),
    ]);
    expect(fired.map(({ figure, summary }) => [figure, summary])).toEqual([
      [Number.MAX_SAFE_INTEGER, expect.stringContaining('more than $9007199')],
    ]);
    expect(failures).toEqual([]);
  });

  it.each([
    ['key', 'key-1', 'default', '“default”'],
    ['project', 'p1', 'Search', '“Search”'],
    ['tag', 'web', null, 'web'],
  ])('names the %s that spends too fast', async (each, value, label, shown) => {
    const spends: Spent[] = [['2026-11-20T10:30:00.000Z', 20]];
    const [first] = await evaluate('2026-11-20T10:50:00Z', spends, {
      condition: { type: 'burn_rate', config: { each, limit: 10 } },
    });
    expect(first?.alert.of).toEqual({ dimension: each, value, label });
    expect(first?.alert.summary).toContain(`The ${each} ${shown} has `);
  });

  it('fires where the gateway cannot be told what limits stop, and says that this failed', async () => {
    const stopping = { type: 'budget', config: { amount: 10, period: 'daily', block: {} } };
    const error = new Error('Item size has exceeded the maximum allowed size');
    const changeByLimits = () => Promise.reject(error);
    const rules = [accountRule({ ruleId: 'stops' }, stopping), accountRule({ ruleId: 'reports' }, threshold)];
    const { fired, failures } = await evaluateRules('2026-11-20T12:00:00.000Z', both, rules, { changeByLimits });
    expect(new Set(fired.map(({ ruleId }) => ruleId))).toEqual(new Set(['stops', 'reports']));
    expect(failures).toContainEqual({ ruleId: 'stops', error });
  });

  it('names keys among the contributors', async () => {
    const [today] = await evaluate('2026-11-20T16:30:00Z', both);
    expect(today?.alert.contributors).toContainEqual({ dimension: 'key', value: 'key-1', label: 'default', share: 1 });
  });

  it.each([
    ['began after it', '2026-11-20T12:00:00.000Z', { requests: 1, costNanoUsd: 7 * USD, unpricedRequests: 0 }],
    [
      'began minutes before midnight',
      '2026-11-19T23:58:00.000Z',
      { requests: 1, costNanoUsd: 7 * USD, unpricedRequests: 0 },
    ],
    // The recorder has kept its names separate all day.
    ['began the day before', '2026-11-19T12:00:00.000Z', undefined],
    [
      'began after it, at an unknown cost',
      '2026-11-20T12:00:00.000Z',
      { requests: 1, costNanoUsd: null, unpricedRequests: 1 },
    ],
  ])('says what overflow may hide from a filter where the rule %s', async (_, effectiveFrom, mayAlsoMatch) => {
    const spends: Spent[] = [
      ['2026-11-20T10:00:00.000Z', 12],
      ['2026-11-20T11:00:00.000Z', mayAlsoMatch?.costNanoUsd === null ? null : 7, OTHER],
      ['2026-11-20T11:30:00.000Z', 90, 'o3'],
    ];
    const condition = { ...threshold, config: { ...threshold.config, filter: { model: 'gpt-4o' } } };
    const [today] = await evaluate('2026-11-20T16:30:00Z', spends, { condition, effectiveFrom });
    expect(today?.alert.figure).toBe(12 * USD);
    expect(today?.alert.mayAlsoMatch).toEqual(mayAlsoMatch);
  });
});
