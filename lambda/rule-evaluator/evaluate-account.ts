import type { ServiceKeys } from '../data/accounts/service-keys.ts';
import type { Alerts } from '../data/alerts/alerts.ts';
import type { Rule } from '../data/alerts/rules.ts';
import type { Alert, Driver } from '../domain/alert-rules/alert.ts';
import { driverDimensions, driversOf } from '../domain/alert-rules/drivers.ts';
import type { Observation } from '../domain/alert-rules/evaluator.ts';
import { type BoundEvaluator, evaluatorOf } from '../domain/alert-rules/rule.ts';
import { spendQueriesFor } from '../domain/alert-rules/spend-query.ts';
import { spendSeries } from '../domain/alert-rules/spend-series.ts';
import { type Period, periodsToJudge } from '../domain/calendar/periods.ts';
import { coveringRange } from '../domain/calendar/range.ts';
import type { SpendCounter } from '../domain/spend/counters.ts';
import type { ReadCounters } from '../domain/spend/spend-report.ts';

export interface EvaluationDependencies {
  readonly readCounters: ReadCounters;
  readonly alerts: Pick<Alerts, 'fire'>;
  readonly keys: Pick<ServiceKeys, 'list'>;
  readonly newAlertId: () => string;
}

const newAlert = (
  rule: Rule,
  period: Period,
  { exceeded: _, ...observation }: Observation,
  facts: Pick<Alert, 'alertId' | 'triggeredAt' | 'mayAlsoMatch' | 'drivers'>,
): Alert => ({
  ...facts,
  accountId: rule.accountId,
  ruleId: rule.ruleId,
  ruleName: rule.name,
  type: rule.condition.type,
  status: 'triggered',
  acknowledgedAt: null,
  acknowledgedBy: null,
  period,
  ...observation,
  deliveries: rule.channels.map((channel) => ({
    channel,
    status: 'pending',
    attempts: 0,
    lastAttemptAt: null,
    sentAt: null,
    error: null,
  })),
});

/** The earlier of now and a period's end. */
const untilNow = (period: Period, now: Date): Date => new Date(Math.min(now.getTime(), Date.parse(period.end)));

/** Judges the rules of one account, whose spend is read once for all of them. Returns the alerts that fired, to be delivered. */
export const evaluateAccount = ({ readCounters, alerts, keys, newAlertId }: EvaluationDependencies) => {
  /** Drivers are read for alerts only, which are rare. */
  const findDrivers = async (
    accountId: string,
    evaluator: BoundEvaluator,
    period: Period,
    now: Date,
  ): Promise<Driver[]> => {
    const range = coveringRange(
      evaluator.granularity,
      new Date(period.start),
      untilNow(period, new Date(now.getTime() + 1)),
    );
    const counters: SpendCounter[] = [];
    for await (const counter of readCounters(accountId, range, driverDimensions)) counters.push(counter);
    const drivers = driversOf(counters, evaluator);
    if (!drivers.some(({ dimension }) => dimension === 'key')) return drivers;
    const names = new Map((await keys.list(accountId)).map(({ keyId, name }) => [keyId, name]));
    return drivers.map((driver) =>
      driver.dimension === 'key' ? { ...driver, label: names.get(driver.value ?? '') ?? null } : driver,
    );
  };

  return async (accountId: string, rules: readonly Rule[], now: Date): Promise<Alert[]> => {
    const judged = rules.map((rule) => {
      const evaluator = evaluatorOf(rule.condition);
      return { rule, evaluator, series: spendSeries({ ...evaluator, effectiveFrom: rule.effectiveFrom }) };
    });
    const queries = spendQueriesFor(
      rules.map(({ condition }) => condition),
      now,
    );
    await Promise.all(
      queries.map(async ({ range, dimensions }) => {
        const fed = judged.filter(({ evaluator }) => evaluator.granularity === range.granularity);
        for await (const counter of readCounters(accountId, range, dimensions))
          for (const { series } of fed) series.add(counter);
      }),
    );
    const fired: Alert[] = [];
    for (const { rule, evaluator, series } of judged) {
      let firedPeriods = rule.firedPeriods;
      for (const period of periodsToJudge(evaluator.period, now)) {
        if (period.end <= rule.effectiveFrom || firedPeriods.includes(period.start)) continue;
        const observation = evaluator.judge({ period, now: untilNow(period, now), series });
        if (!observation?.exceeded) continue;
        const alert = newAlert(rule, period, observation, {
          alertId: newAlertId(),
          triggeredAt: now.toISOString(),
          mayAlsoMatch: series.mayAlsoMatch(period.start, period.end),
          drivers: await findDrivers(accountId, evaluator, period, now),
        });
        if (await alerts.fire(alert, { ...rule, firedPeriods })) fired.push(alert);
        firedPeriods = [period.start, ...firedPeriods];
      }
    }
    return fired;
  };
};
