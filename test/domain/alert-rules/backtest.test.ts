import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { backtest, backtestRange } from '../../../lambda/domain/alert-rules/backtest.ts';
import { type RuleCondition, ruleConditionSchema } from '../../../lambda/domain/alert-rules/rule.ts';
import { DAY_MS } from '../../../lambda/domain/calendar/units.ts';
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
    const { firings, periods, from } = played(threshold('weekly'), [
      spent('2026-11-02', 6),
      spent('2026-11-04', 6),
      spent('2026-11-05', 50),
      spent('2026-11-09', 9),
    ]);
    expect(from).toBe('2026-10-21T00:00:00.000Z');
    expect(periods).toBe(5);
    expect(firings).toEqual([
      expect.objectContaining({
        period: { name: 'weekly', start: '2026-11-02T00:00:00.000Z', end: '2026-11-09T00:00:00.000Z' },
        by: '2026-11-05T00:00:00.000Z',
        // What had been spent until then, not what the week came to.
        observed: 12 * USD,
      }),
    ]);
  });

  it('leaves out only the periods with a sum that is no longer exact', () => {
    const counters = [spent('2026-11-02', 9_000_000), spent('2026-11-02', 9_000_000), spent('2026-11-04', 10)];
    const { firings, periods, unjudgedPeriods } = played(threshold('daily'), counters);
    expect(firings.map(({ period }) => period.start.slice(0, 10))).toEqual(['2026-11-04']);
    expect([periods, unjudgedPeriods]).toEqual([31, 0]);
  });

  it('looks at hours for rules by the hour', () => {
    const condition = threshold('hourly');
    expect(backtestRange(condition, now).read).toMatchObject({ granularity: 'hour', from: '2026-10-21T00:00:00.000Z' });
    const { firings } = played(condition, [spent('2026-11-20T16', 10), spent('2026-11-20T15', 9)]);
    expect(firings.map(({ by }) => by)).toEqual(['2026-11-20T16:30:00.000Z']);
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
        const { firings } = played(
          threshold('daily'),
          spends.map(([time, usd]) => spent(time, usd)),
        );
        expect(firings.map(({ period }) => period.start.slice(0, 10))).toEqual(expected);
      }),
    );
  });
});
