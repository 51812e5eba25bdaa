import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Rule } from '../../lambda/data/alerts/rules.ts';
import type { Alert } from '../../lambda/domain/alert-rules/alert.ts';
import { backtest, backtestRange } from '../../lambda/domain/alert-rules/backtest.ts';
import { type RuleCondition, ruleConditionSchema } from '../../lambda/domain/alert-rules/rule.ts';
import { periodAt } from '../../lambda/domain/calendar/periods.ts';
import { DAY_MS, HOUR_MS } from '../../lambda/domain/calendar/units.ts';
import type { Counters, SpendCounter } from '../../lambda/domain/spend/counters.ts';
import { evaluateAccount } from '../../lambda/rule-evaluator/evaluate-account.ts';
import { seriesOf } from '../domain/alert-rules/series-of.ts';

const USD = 1_000_000_000;
const DAYS = 75;

/** What was spent in one hour, counted back from the present one. */
interface Spent {
  readonly hoursAgo: number;
  readonly tag: string | null;
  readonly counters: Counters;
}

const spent: fc.Arbitrary<Spent> = fc.record({
  hoursAgo: fc.integer({ min: 0, max: DAYS * 24 }),
  tag: fc.constantFrom('a', 'b', null),
  counters: fc.record({
    requests: fc.integer({ min: 30, max: 60 }),
    errors: fc.integer({ min: 0, max: 30 }),
    unpricedRequests: fc.integer({ min: 0, max: 5 }),
    costComputedNanoUsd: fc.integer({ min: 0, max: 20 * USD }),
  }),
});

const filter = fc.constantFrom({}, { filter: { tag: 'a' } });
const usd = fc.integer({ min: 1, max: 120 });
const condition = fc
  .oneof(
    fc.tuple(fc.constantFrom('hourly', 'daily', 'weekly', 'monthly'), usd, filter).map(([period, threshold, rest]) => ({
      type: 'cost_threshold',
      config: { period, threshold, ...rest },
    })),
    fc.tuple(fc.constantFrom('daily', 'weekly'), filter).map(([period, rest]) => ({
      type: 'spend_anomaly',
      config: { period, factor: 1.5, ...rest },
    })),
    fc
      .tuple(usd, filter)
      .map(([budget, rest]) => ({ type: 'budget_forecast', config: { budget: 3 * budget, ...rest } })),
    fc
      .tuple(fc.constantFrom('hourly', 'daily'), fc.integer({ min: 1, max: 60 }), filter)
      .map(([period, threshold, rest]) => ({
        type: 'error_rate',
        config: { period, threshold, ...rest },
      })),
    fc.tuple(fc.constantFrom('hourly', 'daily', 'weekly'), filter).map(([period, rest]) => ({
      type: 'unpriced_usage',
      config: { period, threshold: 4, ...rest },
    })),
  )
  .map((each) => ruleConditionSchema.parse(each));

const countersOfRange = (spends: readonly Spent[], now: Date, characters: number): SpendCounter[] =>
  spends.map(({ hoursAgo, tag, counters }) => ({
    time: new Date(now.getTime() - hoursAgo * HOUR_MS).toISOString().slice(0, characters),
    dimensions: { provider: 'openai', model: 'm', tag, keyId: null, providerKey: null },
    counters,
  }));

/** What the evaluator fires when it runs at these instants, each time seeing what had been spent until then. */
const firedAt = async (rule: RuleCondition, spends: readonly Spent[], now: Date, instants: readonly number[]) => {
  const alerts = new Map<string, Alert>();
  let at = now;
  const evaluate = evaluateAccount({
    async *readCounters(_, range) {
      const hours = countersOfRange(spends, now, 13).filter(({ time }) => `${time}:00:00.000Z` < at.toISOString());
      for (const counter of hours) {
        const time = range.granularity === 'hour' ? counter.time : counter.time.slice(0, 10);
        const start = range.granularity === 'hour' ? `${time}:00:00.000Z` : `${time}T00:00:00.000Z`;
        if (start >= range.from && start < range.to) yield { ...counter, time };
      }
    },
    alerts: {
      fire: async (alert) => {
        const isNew = !alerts.has(alert.period.start);
        if (isNew) alerts.set(alert.period.start, alert);
        return isNew;
      },
    },
    keys: { list: async () => [] },
    newAlertId: () => 'alert',
  });
  const active = { accountId: 'svc_a', ruleId: 'rule', name: 'n', condition: rule, channels: [], firedPeriods: [] };
  for (const instant of instants) {
    at = new Date(instant);
    await evaluate('svc_a', [{ ...active, effectiveFrom: '2000-01-01T00:00:00.000Z' } as unknown as Rule], at);
  }
  return [...alerts.values()];
};

/** Ends of months, of leap years among them, and times of change to and from summer time. */
const instants = fc.oneof(
  fc.date({ min: new Date('2023-06-01'), max: new Date('2028-06-01'), noInvalidDate: true }),
  fc
    .constantFrom('2024-02-29T23:30:00Z', '2024-03-01T00:30:00Z', '2026-10-25T01:30:00Z', '2026-01-01T00:10:00Z')
    .map((text) => new Date(text)),
);

describe('a backtest', () => {
  it('finds the same alerts as the evaluator at the same instants', async () => {
    await fc.assert(
      fc.asyncProperty(
        condition,
        fc.array(spent, { minLength: 5, maxLength: 90 }),
        instants,
        async (rule, spends, now) => {
          const { from, read } = backtestRange(rule, now);
          const isHourly = read.granularity === 'hour';
          const stepMs = isHourly ? HOUR_MS : DAY_MS;
          const ends = Array.from(
            { length: Math.ceil((now.getTime() - from.getTime()) / stepMs) },
            (_, index) => from.getTime() + (index + 1) * stepMs,
          );
          const runs = [from.getTime(), ...ends.map((end) => Math.min(end, now.getTime()))];
          const { firings } = backtest(rule, seriesOf(rule, countersOfRange(spends, now, isHourly ? 13 : 10)), now);
          const first = periodAt(firings[0]?.period.name ?? 'daily', from).start;
          // A period that begins at this very instant has no time in it yet: a backtest leaves it out.
          const alerts = (await firedAt(rule, spends, now, runs)).filter(
            ({ period }) => period.start >= first && period.start < now.toISOString(),
          );
          const shown = ({
            period,
            unit,
            observed,
            limit,
            unpricedRequests,
            summary,
          }: Omit<Alert, 'alertId'> | (typeof firings)[number]) => ({
            period,
            unit,
            observed,
            limit,
            unpricedRequests,
            summary,
          });
          expect(firings.map((firing) => ({ at: firing.by, ...shown(firing) }))).toEqual(
            alerts
              .map((alert) => ({ at: alert.triggeredAt, ...shown(alert) }))
              .sort((a, b) => (a.period.start < b.period.start ? -1 : 1)),
          );
        },
      ),
      { numRuns: 60 },
    );
  });
});
