import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Rule } from '../../lambda/data/alerts/rules.ts';
import type { Alert } from '../../lambda/domain/alerts/alert.ts';
import { backtest, backtestRange } from '../../lambda/domain/limits/backtest.ts';
import { type RuleCondition, ruleConditionSchema } from '../../lambda/domain/limits/rule.ts';
import type { SpendCounter } from '../../lambda/domain/spend/counters.ts';
import { evaluateAccount } from '../../lambda/rule-evaluator/evaluate-account.ts';
import { seriesOf } from '../domain/limits/series-of.ts';
import { type HourOfSpend, type ModelAlert, modelOf } from './rule-model.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const USD = 1e9;
/** The last 30 days, the longest lookback, and some days more. */
const DAYS = 100;

const counts = (max: number) => fc.nat({ max });

/** The requests of one hour, counted back from the present one: with known costs, or of unknown cost altogether. */
const spent = fc
  .record({
    // Recent days get more of it, so that limits are passed within a period.
    hoursAgo: fc.noBias(fc.oneof(counts(DAYS * 24), counts(40 * 24), counts(10 * 24), counts(30))),
    tag: fc.constantFrom('a', 'b', null),
    priced: counts(30),
    errors: counts(30),
    unpriced: fc.oneof(fc.constant(0), counts(5)),
    unfinished: fc.oneof(fc.constant(0), counts(3)),
    nanoUsd: fc.oneof(fc.constant(0), { weight: 3, arbitrary: counts(20 * USD) }),
  })
  .map(({ hoursAgo, tag, priced, errors, unpriced, unfinished, nanoUsd }) => ({
    hoursAgo,
    tag,
    requests: priced + unpriced + unfinished,
    errors: Math.min(errors, priced),
    unpriced: unpriced + unfinished,
    unfinished,
    nanoUsd: priced === 0 ? 0 : nanoUsd,
  }));

const filter = fc.constantFrom({}, { filter: { tag: 'a' } });
const usd = fc.integer({ min: 1, max: 120 });
const condition = fc
  .oneof(
    fc.tuple(fc.constantFrom('hourly', 'daily', 'weekly', 'monthly'), usd, filter).map(([period, threshold, rest]) => ({
      type: 'cost_threshold',
      config: { period, threshold, ...rest },
    })),
    fc
      .tuple(fc.constantFrom('daily', 'weekly'), fc.constantFrom(1.5, 2, 3.3), filter)
      .map(([period, factor, rest]) => ({ type: 'spend_anomaly', config: { period, factor, ...rest } })),
    {
      // The only type with two events and a forecast.
      weight: 2,
      arbitrary: fc
        .tuple(usd, filter)
        .map(([budget, rest]) => ({ type: 'budget_forecast', config: { budget: 5 * budget, ...rest } })),
    },
    fc
      .tuple(fc.constantFrom('hourly', 'daily'), fc.integer({ min: 1, max: 60 }), filter)
      .map(([period, threshold, rest]) => ({ type: 'error_rate', config: { period, threshold, ...rest } })),
    fc
      .tuple(fc.constantFrom('hourly', 'daily', 'weekly'), fc.integer({ min: 1, max: 8 }), filter)
      .map(([period, threshold, rest]) => ({ type: 'unpriced_usage', config: { period, threshold, ...rest } })),
  )
  .map((each) => ruleConditionSchema.parse(each));

/** Ends of months, of leap years among them, and times of change to and from summer time. */
const now = fc.oneof(
  fc.date({ min: new Date('2023-06-01'), max: new Date('2028-06-01'), noInvalidDate: true }),
  fc
    .constantFrom('2024-02-29T23:30:00Z', '2024-03-01T00:30:00Z', '2026-10-25T01:30:00Z', '2026-02-01T00:00:00Z')
    .map((text) => new Date(text)),
);

const history = fc.noBias(fc.array(spent, { minLength: 5, maxLength: 200, size: 'max' }));
type Spent = typeof spent extends fc.Arbitrary<infer T> ? T : never;

const hoursOf = (spends: readonly Spent[], at: Date): HourOfSpend[] =>
  spends
    .map(({ hoursAgo, ...each }) => ({ ...each, at: Math.floor(at.getTime() / HOUR - hoursAgo) * HOUR }))
    .filter((each) => each.at < at.getTime());

const counterOf = ({ at, tag, ...sums }: HourOfSpend, granularity: 'hour' | 'day' | 'month'): SpendCounter => ({
  time: new Date(at).toISOString().slice(0, granularity === 'hour' ? 13 : 10),
  dimensions: { provider: 'openai', model: 'm', tag, keyId: null, providerKey: null },
  counters: {
    requests: sums.requests,
    errors: sums.errors,
    unpricedRequests: sums.unpriced,
    unfinishedRequests: sums.unfinished,
    costComputedNanoUsd: sums.nanoUsd,
  },
});

/** What the evaluator fires when it runs at these instants, each time seeing what had been spent until then. */
const fired = async (rule: RuleCondition, hours: readonly HourOfSpend[], instants: readonly number[], from: number) => {
  const alerts = new Map<string, Alert>();
  let at = 0;
  const evaluate = evaluateAccount({
    async *readCounters({ range: { granularity, from: first, to } }) {
      for (const hour of hours)
        if (hour.at < at && hour.at >= Date.parse(first) && hour.at < Date.parse(to))
          yield counterOf(hour, granularity);
    },
    alerts: {
      firedFor: async () => new Set<string>(),
      fire: async (alert) => {
        const name = `${alert.period.start} ${alert.event}`;
        const isNew = !alerts.has(name);
        if (isNew) alerts.set(name, alert);
        return isNew;
      },
    },
    blocks: { change: async () => {}, changeByLimits: async () => {} },
    reservations: { compare: async () => async () => {} },
    measures: { note: async () => {} },
    keys: { list: async () => [] },
    projects: { list: async () => [] },
    readSessions: async () => {},
    users: { recipients: async () => [] },
    askUrl: '',
    newAlertId: () => 'alert',
  });
  // What the rule's item keeps.
  const firedPeriods: string[] = [];
  const active = {
    accountId: 'a',
    ruleId: 'r',
    name: 'n',
    condition: rule,
    channels: [],
    effectiveFrom: new Date(from).toISOString(),
  };
  for (const [index, instant] of instants.entries()) {
    at = instant;
    const judgedUntil = new Date(instants[index - 1] ?? instant);
    const result = await evaluate('a', [{ ...active, firedPeriods } as unknown as Rule], new Date(at), judgedUntil);
    expect(result.failures).toEqual([]);
    for (const { period, event } of result.fired)
      firedPeriods.push(event === 'used_up' ? `${period.start}#used_up` : period.start);
  }
  return [...alerts.values()];
};

const shownAlert = ({ triggeredAt, period, event, figure, limit }: Alert): ModelAlert => ({
  at: Date.parse(triggeredAt),
  start: Date.parse(period.start),
  event,
  figure,
  limit,
});

const inOrder = (alerts: readonly ModelAlert[]) => [...alerts].sort((a, b) => a.at - b.at || a.start - b.start);

describe('the rules of an account, over random histories', () => {
  it('fire what a model with arithmetic of its own fires, and a backtest finds the same', async () => {
    await fc.assert(
      fc.asyncProperty(condition, history, now, async (rule, spends, at) => {
        const hours = hoursOf(spends, at);
        const { from, read } = backtestRange(rule, at);
        const granularity = read.granularity;
        const step = granularity === 'hour' ? HOUR : DAY;
        const instants = [from.getTime()];
        for (let next = from.getTime() + step; next < at.getTime(); next += step) instants.push(next);
        instants.push(at.getTime());
        const expected = inOrder(modelOf(rule, hours, instants, from.getTime()));
        expect(inOrder((await fired(rule, hours, instants, from.getTime())).map(shownAlert))).toEqual(expected);
        const found = backtest(
          rule,
          seriesOf(
            rule,
            hours.map((hour) => counterOf(hour, granularity)),
          ),
          at,
        );
        expect(
          inOrder(
            found.alerts.map(({ by, period, event, figure, limit }) => ({
              at: Date.parse(by),
              start: Date.parse(period.start),
              event,
              figure,
              limit,
            })),
          ),
        ).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });

  it('fire what the model fires where the evaluator ran at random times only, with outages of days', async () => {
    const gaps = fc.noBias(
      fc.array(fc.oneof(counts(2 * HOUR), counts(DAY), counts(4 * DAY)), { minLength: 1, maxLength: 40, size: 'max' }),
    );
    await fc.assert(
      fc.asyncProperty(condition, history, now, gaps, counts(5 * DAY), async (rule, spends, end, pauses, effective) => {
        const hours = hoursOf(spends, end);
        const instants = [end.getTime()];
        for (const pause of pauses) instants.unshift(instants[0]! - pause - 1);
        const from = instants[0]! - effective;
        const expected = modelOf(rule, hours, instants, from);
        expect(inOrder((await fired(rule, hours, instants, from)).map(shownAlert))).toEqual(inOrder(expected));
      }),
      { numRuns: 100 },
    );
  });
});
