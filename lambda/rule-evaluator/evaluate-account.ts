import type { ServiceKeys } from '../data/accounts/service-keys.ts';
import type { Alerts } from '../data/alerts/alerts.ts';
import type { Rule } from '../data/alerts/rules.ts';
import type { Alert, Driver } from '../domain/alert-rules/alert.ts';
import { driverDimensions, driversOf } from '../domain/alert-rules/drivers.ts';
import type { Observation } from '../domain/alert-rules/evaluator.ts';
import { type BoundEvaluator, evaluatorOf } from '../domain/alert-rules/rule.ts';
import { covering, granularityOf, readingsFor } from '../domain/alert-rules/spend-needed.ts';
import { spendSeries } from '../domain/alert-rules/spend-series.ts';
import { type Period, periodsToJudge } from '../domain/calendar/periods.ts';
import type { ReadCounters, ReportCounter } from '../domain/spend/spend-report.ts';

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
  facts: Pick<Alert, 'alertId' | 'triggeredAt' | 'drivers'>,
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

/** Judges the rules of one account: its spend is read once for all of them. Gives the alerts that fired, to be delivered. */
export const evaluateAccount = ({ readCounters, alerts, keys, newAlertId }: EvaluationDependencies) => {
  const collect = async (...query: Parameters<ReadCounters>): Promise<ReportCounter[]> => {
    const cells: ReportCounter[] = [];
    for await (const cell of readCounters(...query)) cells.push(cell);
    return cells;
  };

  /** What drove it is read for alerts alone, which are rare. */
  const drivers = async (
    accountId: string,
    evaluator: BoundEvaluator,
    period: Period,
    now: Date,
  ): Promise<Driver[]> => {
    const range = covering(
      granularityOf(evaluator),
      Date.parse(period.start),
      Math.min(Date.parse(period.end), now.getTime() + 1),
    );
    const found = driversOf(await collect(accountId, range, driverDimensions), evaluator);
    if (!found.some(({ dimension }) => dimension === 'key')) return found;
    const names = new Map((await keys.list(accountId)).map(({ keyId, name }) => [keyId, name]));
    return found.map((driver) =>
      driver.dimension === 'key' ? { ...driver, label: names.get(driver.value ?? '') ?? null } : driver,
    );
  };

  return async (accountId: string, rules: readonly Rule[], now: Date): Promise<Alert[]> => {
    const readings = readingsFor(
      rules.map(({ condition }) => condition),
      now,
    );
    const judged = rules.map((rule) => {
      const evaluator = evaluatorOf(rule.condition);
      return { rule, evaluator, series: spendSeries(granularityOf(evaluator), evaluator.filter) };
    });
    await Promise.all(
      readings.map(async ({ range, dimensions }) => {
        const fed = judged.filter(({ evaluator }) => granularityOf(evaluator) === range.granularity);
        for await (const cell of readCounters(accountId, range, dimensions))
          for (const { series } of fed) series.add(cell);
      }),
    );
    const fired: Alert[] = [];
    for (const { rule, evaluator, series } of judged) {
      let firedPeriods = rule.firedPeriods;
      for (const period of periodsToJudge(evaluator.period, now)) {
        if (period.end <= rule.effectiveFrom || firedPeriods.includes(period.start)) continue;
        const periodNow = new Date(Math.min(now.getTime(), Date.parse(period.end)));
        const observation = evaluator.judge({ period, now: periodNow, series });
        if (!observation?.exceeded) continue;
        const alert = newAlert(rule, period, observation, {
          alertId: newAlertId(),
          triggeredAt: now.toISOString(),
          drivers: await drivers(accountId, evaluator, period, now),
        });
        if (await alerts.fire(alert, { ...rule, firedPeriods })) fired.push(alert);
        firedPeriods = [period.start, ...firedPeriods];
      }
    }
    return fired;
  };
};
