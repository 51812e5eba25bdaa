import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  type PeriodName,
  periodAt,
  periodBefore,
  periodNames,
  periodsToJudge,
} from '../../../lambda/domain/calendar/periods.ts';
import { evaluatorOf, type RuleCondition, ruleConditionSchema } from '../../../lambda/domain/limits/rule.ts';
import type { Counters, SpendCounter } from '../../../lambda/domain/spend/counters.ts';
import { seriesOf } from './series-of.ts';

const now = new Date('2026-11-20T16:30:00Z');
const USD = 1_000_000_000;

const counterAt = (
  time: string,
  counters: Counters,
  dimensions: Partial<SpendCounter['dimensions']> = {},
): SpendCounter => ({
  time,
  dimensions: { provider: 'openai', model: 'gpt-4o', tag: null, keyId: 'k', providerKey: null, ...dimensions },
  counters: { requests: 1, ...counters },
});
const spent = (time: string, usd: number, dimensions: Partial<SpendCounter['dimensions']> = {}) =>
  counterAt(time, { costComputedNanoUsd: usd * USD }, dimensions);

/** Judges the current period of a rule, with the defaults of its config. */
const judge = (condition: object, counters: readonly SpendCounter[], at = now) => {
  const rule: RuleCondition = ruleConditionSchema.parse(condition);
  const evaluator = evaluatorOf(rule);
  return evaluator.judge({
    period: periodAt(evaluator.period as PeriodName, at),
    now: at,
    series: seriesOf(rule, counters),
  });
};

describe('periods', () => {
  it.each([
    ['hourly', '2026-11-20T16:00:00.000Z', '2026-11-20T17:00:00.000Z'],
    ['daily', '2026-11-20T00:00:00.000Z', '2026-11-21T00:00:00.000Z'],
    ['weekly', '2026-11-16T00:00:00.000Z', '2026-11-23T00:00:00.000Z'],
    ['monthly', '2026-11-01T00:00:00.000Z', '2026-12-01T00:00:00.000Z'],
  ] as const)('are calendar periods in UTC: %s', (name, start, end) => {
    expect(periodAt(name, now)).toEqual({ name, start, end });
  });

  it('follow one another without gap or overlap, and contain their instant', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...periodNames),
        fc.date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true }),
        (name, at) => {
          const period = periodAt(name, at);
          expect(period.start <= at.toISOString() && at.toISOString() < period.end).toBe(true);
          expect(periodBefore(period).end).toBe(period.start);
          if (name === 'weekly') expect(new Date(period.start).getUTCDay()).toBe(1);
        },
      ),
    );
  });

  it('are judged for a while after their end', () => {
    const starts = (name: (typeof periodNames)[number], at: string) =>
      periodsToJudge(name, new Date(at)).map(({ start }) => start.slice(0, 13));
    expect(starts('daily', '2026-11-20T16:30:00Z')).toEqual(['2026-11-20T00', '2026-11-19T00', '2026-11-18T00']);
    expect(starts('hourly', '2026-11-20T16:30:00Z')).toEqual([
      '2026-11-20T16',
      '2026-11-20T15',
      '2026-11-20T14',
      '2026-11-20T13',
    ]);
    expect(starts('monthly', '2026-11-02T23:00:00Z')).toEqual(['2026-11-01T00', '2026-10-01T00']);
    expect(starts('monthly', '2026-11-03T00:00:00Z')).toEqual(['2026-11-01T00']);
  });
});

describe('cost_threshold', () => {
  const rule = (config: object) => ({ type: 'cost_threshold', config: { threshold: 10, period: 'daily', ...config } });

  it('fires once the cost reaches the threshold, exactly', () => {
    expect(judge(rule({}), [spent('2026-11-20', 9.999999999)])).toMatchObject({ exceeded: false });
    expect(judge(rule({}), [spent('2026-11-20', 4), spent('2026-11-20', 6)])).toMatchObject({
      exceeded: true,
      unit: 'nanoUsd',
      figure: 10 * USD,
      limit: 10 * USD,
      summary: 'Spend is $10: it reached the threshold of $10.',
    });
  });

  it('counts only its period and filter', () => {
    const counters = [
      spent('2026-11-19', 100),
      spent('2026-11-20', 100, { provider: 'xai' }),
      spent('2026-11-20', 100, { tag: 'b' }),
      spent('2026-11-20', 100, { tag: 'a', model: 'o3' }),
      spent('2026-11-20', 3, { tag: 'a' }),
    ];
    expect(judge(rule({ filter: { provider: 'openai', model: 'gpt-4o', tag: 'a' } }), counters)?.figure).toBe(3 * USD);
    expect(judge(rule({ period: 'weekly' }), counters)?.figure).toBe(403 * USD);
    expect(judge(rule({ period: 'monthly' }), counters)?.figure).toBe(403 * USD);
  });

  it('reports how many requests its cost leaves out', () => {
    expect(judge(rule({}), [counterAt('2026-11-20', { unpricedRequests: 1 })])).toMatchObject({
      exceeded: false,
      unpricedRequests: 1,
    });
  });
});

describe('budget', () => {
  it('names the percentage that is reached, also where a division is not exact', () => {
    const rule = { type: 'budget', config: { amount: 100, period: 'daily', notifyAt: [29] } };
    expect(judge(rule, [spent('2026-11-20', 29)])).toMatchObject({
      percent: 29,
      summary: '29% of the budget of $100 is used: $29.',
    });
  });

  const withUnknown = [spent('2026-11-20', 29), counterAt('2026-11-20', { requests: 2, unpricedRequests: 2 })];

  it.each([
    [{}, ''],
    [{ block: {} }, ' Further requests are refused until the period ends or the cost is known.'],
  ])('that requests of unknown cost use up has reached its whole amount: %p', (config, refused) => {
    const rule = { type: 'budget', config: { amount: 100, period: 'daily', unknownCost: 'block', ...config } };
    expect(judge(rule, withUnknown)).toMatchObject({
      ...{ exceeded: true, percent: 100, figure: 29 * USD, unpricedRequests: 2 },
      summary: `The budget of $100 counts as used up, since the cost of some requests is unknown.${refused}`,
    });
    expect(judge(rule, [spent('2026-11-20', 29)])).toMatchObject({ exceeded: false });
    const further = { ...rule, config: { ...rule.config, notifyAt: [80, 150] } };
    expect(judge(further, withUnknown)).toMatchObject({ percent: 80 });
  });

  it('says of amounts that count for requests of unknown cost that they are in its figure', () => {
    const rule = { type: 'budget', config: { amount: 100, period: 'daily', unknownCost: { countAsUsd: 40 } } };
    expect(judge(rule, withUnknown)).toMatchObject({
      ...{ percent: 100, figure: 109 * USD, unpricedRequests: 0 },
      summary: '109% of the budget of $100 is used: $109. In it are $40 for each request of unknown cost (2).',
    });
  });
});

describe('spend_anomaly', () => {
  const days = (count: number, usd: number) =>
    Array.from({ length: count }, (_, i) =>
      spent(new Date(Date.UTC(2026, 10, 19 - i)).toISOString().slice(0, 10), usd),
    );

  it('fires at a multiple of the median of the recent active days', () => {
    const rule = { type: 'spend_anomaly', config: { period: 'daily' } };
    expect(judge(rule, [...days(14, 10), spent('2026-11-20', 29)])).toMatchObject({ exceeded: false, limit: 30 * USD });
    expect(judge(rule, [...days(14, 10), spent('2026-11-20', 30)])).toMatchObject({ exceeded: true });
    // One wild day does not move the median.
    expect(judge(rule, [...days(13, 10), spent('2026-11-06', 9_000), spent('2026-11-20', 30)])).toMatchObject({
      exceeded: true,
    });
  });

  const costs = (...usd: number[]) =>
    usd.map((each, i) => spent(new Date(Date.UTC(2026, 10, 19 - i)).toISOString().slice(0, 10), each));

  it.each([
    ['the middle one of an odd number', [30, 1, 9, 2, 10], 9],
    ['between the middle two of an even number', [30, 1, 20, 3, 2, 10], 6.5],
    // As text, 10 sorts before 9.
    ['of amounts in numeric order', [9, 100, 10, 2, 11], 10],
  ])('takes the median: %s', (_, usd, median) => {
    const rule = { type: 'spend_anomaly', config: { period: 'daily', factor: 2 } };
    expect(judge(rule, [...costs(...usd), spent('2026-11-20', 1)])).toMatchObject({
      limit: 2 * median * USD,
      summary: expect.stringContaining(`the median of the last ${usd.length} active days is $${median},`),
    });
  });

  it('compares with 14 days or 8 weeks, of which 5 or 3 have requests', () => {
    const daily = { type: 'spend_anomaly', config: { period: 'daily' } };
    const weekly = { type: 'spend_anomaly', config: { period: 'weekly' } };
    const today = [spent('2026-11-20', 1)];
    expect(judge(daily, [...days(5, 10), ...today])).toMatchObject({ limit: 30 * USD });
    // 4 days of requests, and the 15th day back.
    expect(judge(daily, [...days(4, 10), spent('2026-11-05', 10), ...today])).toBeNull();
    expect(judge(daily, [...days(4, 10), spent('2026-11-06', 10), ...today])).not.toBeNull();
    const weeks = ['2026-11-09', '2026-11-02'].map((day) => spent(day, 10));
    expect(judge(weekly, [...weeks, ...today])).toBeNull();
    // The week from 14 September is the 9th back, that from 21 September the 8th.
    expect(judge(weekly, [...weeks, spent('2026-09-20', 10), ...today])).toBeNull();
    expect(judge(weekly, [...weeks, spent('2026-09-21', 10), ...today])).toMatchObject({
      limit: 30 * USD,
      summary: expect.stringContaining('the last 3 active weeks'),
    });
  });

  it('counts a day with free requests only as active', () => {
    const rule = { type: 'spend_anomaly', config: { period: 'daily' } };
    const free = [15, 16, 17].map((day) => counterAt(`2026-11-${day}`, { freeRequests: 1 }));
    expect(judge(rule, [...days(4, 10), ...free.slice(0, 1), spent('2026-11-20', 1)])).toMatchObject({
      limit: 30 * USD,
    });
  });

  it('leaves out days of unknown cost: they are no days of $0', () => {
    const rule = { type: 'spend_anomaly', config: { period: 'daily' } };
    const unknown = [15, 16, 17, 18, 19].map((day) => counterAt(`2026-11-${day}`, { unpricedRequests: 1 }));
    const partly = unknown.map((counter) => ({
      ...counter,
      counters: { requests: 100, unpricedRequests: 99, freeRequests: 1 },
    }));
    const known = [8, 9, 10, 11].map((day) => spent(`2026-11-${String(day).padStart(2, '0')}`, 10));
    const today = spent('2026-11-20', 20);
    for (const some of [unknown, partly]) {
      expect(judge(rule, [...known, ...some, today])).toBeNull();
      expect(judge(rule, [...known, spent('2026-11-12', 10), ...some, today])).toMatchObject({
        exceeded: false,
        limit: 30 * USD,
        summary: expect.stringContaining('the median of the last 5 active days'),
      });
    }
  });

  it('ignores small sums', () => {
    const rule = { type: 'spend_anomaly', config: { period: 'daily' } };
    expect(judge(rule, [...days(14, 0.01), spent('2026-11-20', 0.9)])).toMatchObject({ exceeded: false, limit: USD });
  });
});

describe('a limit', () => {
  it.each([
    { type: 'cost_threshold', config: { threshold: 0.000001005, period: 'daily' } },
    { type: 'budget', config: { amount: 0.000001005, period: 'daily', notifyAt: [100] } },
    { type: 'budget_forecast', config: { budget: 0.000001005 } },
  ])('of an amount that has no exact hundredth is reached at exactly that amount: $type', (condition) => {
    const costing = (nanoUsd: number) => [counterAt('2026-11-20', { costComputedNanoUsd: nanoUsd })];
    expect(judge(condition, costing(1_005))).toMatchObject({ exceeded: true, figure: 1_005, limit: 1_005 });
    expect(judge(condition, costing(1_004))?.exceeded).not.toBe(true);
  });
});

describe('budget_forecast', () => {
  const rule = { type: 'budget_forecast', config: { budget: 100 } };
  const at = new Date('2026-11-11T00:00:00Z');
  const daily = (usd: number) =>
    Array.from({ length: 10 }, (_, i) => spent(`2026-11-${String(i + 1).padStart(2, '0')}`, usd));

  it('projects the rate of the last week to the end of the month, and reports when the budget runs out', () => {
    // 10 days at $4 make $40, 20 more at $4 make $120; the remaining $60 are spent at the end of the 15th day.
    expect(judge(rule, daily(4), at)).toMatchObject({
      exceeded: true,
      event: 'forecast',
      figure: 120 * USD,
      limit: 100 * USD,
    });
    expect(judge(rule, daily(4), at)?.summary).toContain('runs out on 2026-11-25');
    expect(judge(rule, daily(3), at)).toMatchObject({ exceeded: false, figure: 90 * USD });
  });

  it('counts today once: what is spent, or a day at the rate, whichever is more', () => {
    // $10 a day, all in the first hour.
    const usual = (days: number) =>
      Array.from({ length: days }, (_, i) => spent(new Date(Date.UTC(2026, 11, 1 - i)).toISOString().slice(0, 10), 10));
    const firstHour = new Date('2026-12-01T01:00:00Z');
    const budget = (usd: number) => ({ type: 'budget_forecast', config: { budget: usd } });
    expect(judge(budget(315), usual(20), firstHour)).toMatchObject({ exceeded: false, figure: 310 * USD });
    expect(judge(budget(309), usual(20), firstHour)).toMatchObject({ exceeded: true, figure: 310 * USD });
    // Nothing is spent today yet, and $25 are.
    expect(judge(budget(315), usual(20).slice(1), firstHour)).toMatchObject({ figure: 310 * USD });
    expect(judge(budget(315), [...usual(20), spent('2026-12-01', 15)], firstHour)).toMatchObject({
      exceeded: true,
      figure: 325 * USD,
    });
  });

  it('does not fire at exactly the budget, unless it is spent', () => {
    const counters = [...daily(0).slice(1), spent('2026-11-02', 30), spent('2026-11-05', 17.5)];
    // 47.5 of which 17.5 in the last week: 2.5 a day for 20 days.
    expect(judge({ ...rule, config: { budget: 97.5 } }, counters, at)).toMatchObject({
      exceeded: false,
      unit: 'nanoUsd',
      figure: 97.5 * USD,
      unpricedRequests: 0,
    });
    expect(judge({ ...rule, config: { budget: 97.49 } }, counters, at)).toMatchObject({
      exceeded: true,
      summary:
        'Forecast for the month: $97.5, against a budget of $97.49; $47.5 is spent. At the rate of the last 7 days it runs out on 2026-11-30.',
    });
  });

  it('takes the rate of whole days before today', () => {
    const noon = new Date('2026-11-11T12:00:00Z');
    const counters = [spent('2026-11-04', 7), spent('2026-11-03', 1), spent('2026-11-11', 2)];
    // 8 before today, 2 today; 1 a day for 19 days.
    expect(judge(rule, counters, noon)).toMatchObject({ figure: 29 * USD });
    // A day before today that costs no more than the rate: it counts as one day at the rate.
    expect(judge(rule, counters.slice(0, 2), noon)).toMatchObject({ figure: 28 * USD });
  });

  it('needs a week of history for a forecast, and does not for a budget that is used up', () => {
    const young = (...days: number[]) => days.map((day) => spent(`2026-11-${String(day).padStart(2, '0')}`, 20));
    // The rate is that of 4 to 10 November. The first request must not be later than the first of these days.
    expect(judge(rule, young(5, 6, 7, 8), at)).toBeNull();
    expect(judge(rule, young(4, 5, 6, 7), at)).toMatchObject({ exceeded: true, event: 'forecast' });
    // History is looked for in the week before.
    expect(judge(rule, [...young(5, 6), spent('2026-10-28', 0)], at)).not.toBeNull();
    expect(judge(rule, [...young(5, 6), spent('2026-10-27', 0)], at)).toBeNull();
    expect(judge(rule, young(5, 6, 7, 8, 9), at)).toMatchObject({
      exceeded: true,
      event: 'used_up',
      figure: 100 * USD,
      summary: 'The budget of $100 for the month is used up: $100 is spent.',
    });
  });

  it('reports how many requests its cost leaves out', () => {
    const unknown = counterAt('2026-11-02', { requests: 2, unpricedRequests: 2 });
    expect(judge(rule, [unknown, ...daily(1)], at)).toMatchObject({ unpricedRequests: 2 });
  });

  it.each([2, 9])('is none of $0 where nothing is known of the cost: day %s', (day) => {
    const unknown = counterAt(`2026-11-0${day}`, { requests: 2, unpricedRequests: 2 });
    const first = counterAt('2026-11-01', { requests: 1, freeRequests: 1 });
    expect(judge(rule, [first, unknown], at)).toBeNull();
    expect(judge(rule, [first], at)).toMatchObject({ figure: 0 });
  });

  it('never says that $0 is spent where the cost is unknown', () => {
    const second = new Date('2026-11-02T00:00:00Z');
    const october = Array.from({ length: 14 }, (_, i) => spent(`2026-10-${18 + i}`, 10));
    const unknown = counterAt('2026-11-01', { requests: 100, unpricedRequests: 99, freeRequests: 1 });
    expect(judge(rule, [...october, unknown], second)?.summary).toContain('what is spent is not known');
    expect(judge(rule, october, second)?.summary).toContain('$0 is spent');
  });

  it('fires a second time, at any rate, when the budget is used up', () => {
    const judgement = judge(rule, [spent('2026-11-01', 100)], at);
    expect(judgement).toMatchObject({ exceeded: true, event: 'used_up', figure: 100 * USD });
    expect(judge(rule, daily(12), at)).toMatchObject({
      event: 'used_up',
      figure: 120 * USD,
      summary:
        'The budget of $100 for the month is used up: $120 is spent. At the rate of the last 7 days the month comes to $360.',
    });
  });

  it('forecasts nothing for a month that is over', () => {
    const november = { name: 'monthly', start: '2026-11-01T00:00:00.000Z', end: '2026-12-01T00:00:00.000Z' } as const;
    const evaluator = evaluatorOf(ruleConditionSchema.parse(rule));
    const judgeLate = (usd: number) => {
      const series = seriesOf(ruleConditionSchema.parse(rule), [...daily(0), spent('2026-11-28', usd)]);
      return evaluator.judge({ period: november, now: new Date('2026-12-01T08:00:00Z'), series });
    };
    expect(judgeLate(99)).toMatchObject({ exceeded: false, figure: 99 * USD });
    expect(judgeLate(100)).toMatchObject({ exceeded: true, event: 'used_up', figure: 100 * USD });
  });
});

describe('error_rate and unpriced_usage', () => {
  it('needs enough requests for a rate', () => {
    const rule = { type: 'error_rate', config: { threshold: 10, period: 'daily' } };
    expect(judge(rule, [counterAt('2026-11-20', { requests: 19, errors: 19 })])).toBeNull();
    expect(judge(rule, [counterAt('2026-11-20', { requests: 20, errors: 2 })])).toMatchObject({ exceeded: true });
    expect(judge(rule, [counterAt('2026-11-20', { requests: 100, errors: 9 })])).toMatchObject({ exceeded: false });
    expect(judge(rule, [counterAt('2026-11-20', { requests: 10_000, errors: 1_000 })])).toMatchObject({
      exceeded: true,
      unit: 'percent',
      figure: 10,
      summary: '1,000 of 10,000 requests failed (10%): the limit is 10%.',
    });
  });

  it('counts requests of unknown cost', () => {
    const rule = { type: 'unpriced_usage', config: { period: 'daily', threshold: 2 } };
    expect(judge(rule, [counterAt('2026-11-20', { requests: 5, unpricedRequests: 1 })])).toMatchObject({
      exceeded: false,
    });
    expect(judge(rule, [counterAt('2026-11-20', { requests: 5, unpricedRequests: 2 })])).toMatchObject({
      exceeded: true,
      unit: 'requests',
      figure: 2,
      summary: 'The cost of 2 of 5 requests is unknown: spend is higher than it shows.',
    });
  });

  it.each([
    // The hour, or the day, in which a request began has been over for 2 hours, or a day.
    ['hourly', '2026-11-20T16:30', '2026-11-20T18:59:59.999Z', '2026-11-20T19:00:00Z'],
    ['daily', '2026-11-20', '2026-11-21T23:59:59.999Z', '2026-11-22T00:00:00Z'],
    ['weekly', '2026-11-16', '2026-11-17T23:59:59.999Z', '2026-11-18T00:00:00Z'],
  ])(
    'does not count requests that may still run, and counts those that never ended: %s',
    (period, began, young, old) => {
      const rule = ruleConditionSchema.parse({ type: 'unpriced_usage', config: { period } });
      const evaluator = evaluatorOf(rule);
      const time = began.slice(0, period === 'hourly' ? 13 : 10);
      const unfinished = counterAt(time, { requests: 5, unpricedRequests: 3, unfinishedRequests: 3 });
      const ended = counterAt(time, { unpricedRequests: 1 });
      const judgeAt = (at: string, ...counters: SpendCounter[]) =>
        evaluator.judge({
          period: periodAt(evaluator.period as PeriodName, new Date(period === 'hourly' ? `${began}Z` : began)),
          now: new Date(at),
          series: seriesOf(rule, counters),
        });
      expect(judgeAt(young, unfinished)).toMatchObject({ exceeded: false, figure: 0 });
      expect(judgeAt(old, unfinished)).toMatchObject({ exceeded: true, figure: 3 });
      expect(judgeAt(young, unfinished, ended)).toMatchObject({
        exceeded: true,
        figure: 1,
        unpricedRequests: 4,
        summary: 'The cost of 1 of 6 requests is unknown: spend is higher than it shows.',
      });
    },
  );
});
