import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DAY_MS } from '../../../lambda/domain/calendar/units.ts';
import { backtest, backtestRange } from '../../../lambda/domain/limits/backtest.ts';
import { type RuleCondition, ruleConditionSchema } from '../../../lambda/domain/limits/rule.ts';
import type { SpendCounter } from '../../../lambda/domain/spend/counters.ts';
import { seriesOf } from './series-of.ts';

const now = new Date('2026-11-20T16:30:00Z');
const USD = 1_000_000_000;
const spent = (time: string, usd: number): SpendCounter => ({
  time,
  dimensions: { provider: 'openai', model: 'gpt-4o', tag: null, keyId: 'k', providerKey: null },
  counters: { requests: 1, costComputedNanoUsd: Math.round(usd * USD) },
});
const threshold = (period: string) =>
  ruleConditionSchema.parse({ type: 'cost_threshold', config: { threshold: 10, period } });

const played = (rule: RuleCondition, counters: readonly SpendCounter[]) =>
  backtest(rule, seriesOf(rule, counters), now);

describe('backtest', () => {
  it('names the day on which each period would have fired, once', () => {
    const { alerts, periods, from } = played(threshold('weekly'), [
      spent('2026-11-02', 6),
      spent('2026-11-04', 6),
      spent('2026-11-05', 50),
      spent('2026-11-09', 9),
    ]);
    expect(from).toBe('2026-10-21T00:00:00.000Z');
    expect(periods).toBe(5);
    expect(alerts).toEqual([
      expect.objectContaining({
        period: { name: 'weekly', start: '2026-11-02T00:00:00.000Z', end: '2026-11-09T00:00:00.000Z' },
        by: '2026-11-05T00:00:00.000Z',
        // What had been spent until then, not what the week came to.
        figure: 12 * USD,
      }),
    ]);
  });

  it('shows what the rule saw by the end of each day: a month is summed from its first day', () => {
    const { points, unit, requests } = played(threshold('monthly'), [
      spent('2026-10-02', 6),
      spent('2026-10-22', 3),
      spent('2026-11-01', 1),
      spent('2026-11-20', 2),
    ]);
    expect([unit, requests, points.length]).toEqual(['nanoUsd', 3, 31]);
    const seen = Object.fromEntries(points.map(({ time, figure }) => [time, (figure ?? 0) / USD]));
    expect(seen).toMatchObject({ '2026-10-21': 6, '2026-10-22': 9, '2026-10-31': 9, '2026-11-01': 1, '2026-11-20': 3 });
    expect(points.every(({ limit }) => limit === 10 * USD)).toBe(true);
  });

  it('marks the first day where the rule would have fired at once', () => {
    const { points, alerts } = played(threshold('monthly'), [spent('2026-10-02', 16)]);
    expect(alerts.map(({ by }) => by)).toEqual(['2026-10-21T00:00:00.000Z']);
    expect(points.filter(({ fired }) => fired).map(({ time }) => time)).toEqual(['2026-10-21']);
  });

  it('shows forecasts, rates with their limit, and medians', () => {
    const days = Array.from({ length: 50 }, (_, back) =>
      spent(new Date(now.getTime() - (back + 1) * DAY_MS).toISOString().slice(0, 10), 2),
    );
    const forecast = played(ruleConditionSchema.parse({ type: 'budget_forecast', config: { budget: 40 } }), days);
    const seen = new Map(forecast.points.map(({ time, figure }) => [time, figure]));
    // The month in which 40 of 60 dollars are spent still shows its forecast; a month that is over, what it came to.
    expect([seen.get('2026-11-18'), seen.get('2026-10-30'), seen.get('2026-10-31')]).toEqual([
      60 * USD,
      62 * USD,
      62 * USD,
    ]);
    expect(forecast.alerts.map(({ event }) => event)).toContain('used_up');
    const anomaly = played(ruleConditionSchema.parse({ type: 'spend_anomaly', config: { period: 'daily' } }), days);
    expect(anomaly.points[10]).toMatchObject({ figure: 2 * USD, limit: 6 * USD, usual: 2 * USD, fired: false });
    const failing = { requests: 40, errors: 10 };
    const rate = played(ruleConditionSchema.parse({ type: 'error_rate', config: { threshold: 20, period: 'daily' } }), [
      { ...spent('2026-11-05', 0), counters: failing },
    ]);
    expect([rate.unit, rate.points.find(({ time }) => time === '2026-11-05')]).toEqual([
      'percent',
      { time: '2026-11-05', figure: 25, limit: 20, usual: null, fired: true },
    ]);
    expect(rate.points.find(({ time }) => time === '2026-11-06')).toMatchObject({ figure: null, limit: null });
  });

  it('reports that the filter matches nothing', () => {
    expect(played(threshold('daily'), []).requests).toBe(0);
  });

  it('counts a sum that is no longer exact as above the amount', () => {
    const counters = [spent('2026-11-02', 9_000_000), spent('2026-11-02', 9_000_000), spent('2026-11-04', 10)];
    const budget = ruleConditionSchema.parse({ type: 'budget', config: { amount: 10, period: 'daily' } });
    const { alerts, periods, unjudgedPeriods } = played(budget, counters);
    expect(alerts.map(({ period }) => period.start.slice(0, 10))).toEqual(['2026-11-02', '2026-11-04']);
    expect([periods, unjudgedPeriods]).toEqual([31, 0]);
  });

  it('looks at hours for rules by the hour', () => {
    const condition = threshold('hourly');
    expect(backtestRange(condition, now).read).toMatchObject({ granularity: 'hour', from: '2026-10-21T00:00:00.000Z' });
    const { alerts } = played(condition, [spent('2026-11-20T16', 10), spent('2026-11-20T15', 9)]);
    expect(alerts.map(({ by }) => by)).toEqual(['2026-11-20T16:30:00.000Z']);
  });

  it('fires for exactly the days whose sum reaches a daily threshold', () => {
    const day = fc
      .integer({ min: 0, max: 29 })
      .map((back) => new Date(now.getTime() - back * DAY_MS).toISOString().slice(0, 10));
    fc.assert(
      fc.property(fc.array(fc.tuple(day, fc.integer({ min: 0, max: 8 })), { maxLength: 60 }), (spends) => {
        const sums = new Map<string, number>();
        for (const [time, usd] of spends) sums.set(time, (sums.get(time) ?? 0) + usd);
        const expected = [...sums]
          .filter(([, usd]) => usd >= 10)
          .map(([time]) => time)
          .sort();
        const { alerts } = played(
          threshold('daily'),
          spends.map(([time, usd]) => spent(time, usd)),
        );
        expect(alerts.map(({ period }) => period.start.slice(0, 10))).toEqual(expected);
      }),
    );
  });
});
