import { describe, expect, it } from '@jest/globals';
import type { Rule } from '../../lambda/data/alerts/rules.ts';
import type { Alert } from '../../lambda/domain/alert-rules/alert.ts';
import { ruleConditionSchema } from '../../lambda/domain/alert-rules/rule.ts';
import { bucketOf } from '../../lambda/domain/calendar/utc.ts';
import type { SpendCounter } from '../../lambda/domain/spend/counters.ts';
import { OTHER } from '../../lambda/domain/spend/dimensions.ts';
import { evaluateAccount } from '../../lambda/rule-evaluator/evaluate-account.ts';

const USD = 1e9;
const threshold = { type: 'cost_threshold', config: { threshold: 10, period: 'daily' } };

const ruleOf = (facts: Partial<Rule>, condition: object): Rule => ({
  ruleId: 'rule-1',
  accountId: 'svc_1',
  name: 'Daily spend',
  condition: ruleConditionSchema.parse(condition),
  channels: ['email'],
  isActive: true,
  webhook: null,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
  effectiveFrom: '2026-01-01T00:00:00.000Z',
  revision: 1,
  firedPeriods: [],
  ...facts,
});

/** USD of a model at an instant. */
type Spent = readonly [at: string, usd: number, model?: string];

/** The alerts of one rule, with what had been fired for when each was. */
const evaluate = async (
  at: string,
  spends: readonly Spent[],
  { condition = threshold, ...facts }: Partial<Omit<Rule, 'condition'>> & { condition?: object } = {},
) => {
  const fired: { alert: Alert; firedPeriods: readonly string[] }[] = [];
  const run = evaluateAccount({
    async *readCounters(_, { granularity, from, to }) {
      for (const [instant, usd, model = 'gpt-4o'] of spends)
        if (instant >= from && instant < to)
          yield {
            time: bucketOf(instant, granularity),
            dimensions: { provider: 'openai', model, tag: null, keyId: 'key-1', providerKey: null },
            counters: { requests: 1, costComputedNanoUsd: usd * USD },
          } satisfies SpendCounter;
    },
    alerts: {
      fire: async (alert, { firedPeriods }) => {
        fired.push({ alert, firedPeriods });
        return true;
      },
    },
    keys: { list: async () => [{ keyId: 'key-1', name: 'default' }] as never },
    newAlertId: () => 'alert-1',
  });
  await run('svc_1', [ruleOf(facts, condition)], new Date(at));
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

  it('counts each period up to its end, and so do its drivers', async () => {
    const [today, yesterday] = await evaluate('2026-11-20T16:30:00Z', both);
    const models = (alert: Alert | undefined) => alert?.drivers.filter(({ dimension }) => dimension === 'model');
    expect([today?.alert.observed, yesterday?.alert.observed]).toEqual([12 * USD, 11 * USD]);
    expect(models(today?.alert)).toEqual([{ dimension: 'model', value: 'gpt-4o', label: null, share: 1 }]);
    expect(models(yesterday?.alert)).toEqual([{ dimension: 'model', value: 'o3', label: null, share: 1 }]);
  });

  it('counts spend of the current instant', async () => {
    const now = '2026-11-20T00:00:00.000Z';
    const [today] = await evaluate(now, [[now, 12]]);
    expect(today?.alert).toMatchObject({ observed: 12 * USD, drivers: expect.arrayContaining([expect.anything()]) });
  });

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
      observed: 110 * USD,
    });
  });

  it('names keys among the drivers', async () => {
    const [today] = await evaluate('2026-11-20T16:30:00Z', both);
    expect(today?.alert.drivers).toContainEqual({ dimension: 'key', value: 'key-1', label: 'default', share: 1 });
  });

  it.each([
    ['began after it', '2026-11-20T12:00:00.000Z', { requests: 1, costNanoUsd: 7 * USD }],
    ['began minutes before midnight', '2026-11-19T23:58:00.000Z', { requests: 1, costNanoUsd: 7 * USD }],
    // The recorder has kept its names separate all day.
    ['began the day before', '2026-11-19T12:00:00.000Z', undefined],
  ])('says what overflow may hide from a filter where the rule %s', async (_, effectiveFrom, mayAlsoMatch) => {
    const spends: Spent[] = [
      ['2026-11-20T10:00:00.000Z', 12],
      ['2026-11-20T11:00:00.000Z', 7, OTHER],
      ['2026-11-20T11:30:00.000Z', 90, 'o3'],
    ];
    const condition = { ...threshold, config: { ...threshold.config, filter: { model: 'gpt-4o' } } };
    const [today] = await evaluate('2026-11-20T16:30:00Z', spends, { condition, effectiveFrom });
    expect(today?.alert.observed).toBe(12 * USD);
    expect(today?.alert.mayAlsoMatch).toEqual(mayAlsoMatch);
  });
});
