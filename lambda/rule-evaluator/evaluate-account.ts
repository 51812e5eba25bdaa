import type { ServiceKeys } from '../data/accounts/service-keys.ts';
import type { Alerts } from '../data/alerts/alerts.ts';
import type { BlockStore } from '../data/alerts/blocks.ts';
import type { Rule } from '../data/alerts/rules.ts';
import type { Reservations } from '../data/ledger/reservations.ts';
import type { Alert, Driver } from '../domain/alert-rules/alert.ts';
import { useOf } from '../domain/alert-rules/budget.ts';
import {
  type BudgetState,
  concernsGateway,
  reservedPeriods,
  usedByBudget,
  withBudgets,
} from '../domain/alert-rules/budget-blocks.ts';
import { driverDimensionsOf, driversOf } from '../domain/alert-rules/drivers.ts';
import { firingName, hasFired, type Observation } from '../domain/alert-rules/evaluator.ts';
import { type BoundEvaluator, evaluatorOf } from '../domain/alert-rules/rule.ts';
import { fillSeries } from '../domain/alert-rules/spend-query.ts';
import { spendSeries } from '../domain/alert-rules/spend-series.ts';
import { isOverdue, type Period } from '../domain/calendar/periods.ts';
import { coveringRange } from '../domain/calendar/range.ts';
import { CounterOverflowError, type SpendCounter } from '../domain/spend/counters.ts';
import type { ReadCounters } from '../domain/spend/spend-report.ts';

export interface EvaluationDependencies {
  readonly readCounters: ReadCounters;
  readonly alerts: Pick<Alerts, 'fire'>;
  readonly blocks: Pick<BlockStore, 'change'>;
  readonly reservations: Pick<Reservations, 'compare'>;
  readonly keys: Pick<ServiceKeys, 'list'>;
  readonly newAlertId: () => string;
}

const LATE = 'This alert is late: the rules could not be judged in time.';

const newAlert = (
  rule: Rule,
  period: Period,
  { exceeded: _, event, percent, summary, ...observation }: Observation,
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
  event: event ?? null,
  ...(percent !== undefined && { percent }),
  ...observation,
  summary: isOverdue(period, new Date(facts.triggeredAt)) ? `${summary} ${LATE}` : summary,
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

/** What came of an account's rules: the alerts that fired, to be delivered, and the rules with a sum that is not exact any more. */
export interface Evaluation {
  readonly fired: Alert[];
  readonly failures: { readonly ruleId: string; readonly error: unknown }[];
}

/**
 * Judges the rules of one account, whose spend is read once for all of them. The returned function takes `judgedUntil`, when they were
 * judged before: see periodsToJudge.
 */
export const evaluateAccount = ({
  readCounters,
  alerts,
  blocks,
  reservations,
  keys,
  newAlertId,
}: EvaluationDependencies) => {
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
    for await (const counter of readCounters(accountId, range, driverDimensionsOf(evaluator))) counters.push(counter);
    const drivers = driversOf(counters, evaluator);
    if (!drivers.some(({ dimension }) => dimension === 'key')) return drivers;
    const names = new Map((await keys.list(accountId)).map(({ keyId, name }) => [keyId, name]));
    return drivers.map((driver) =>
      driver.dimension === 'key' ? { ...driver, label: names.get(driver.value ?? '') ?? null } : driver,
    );
  };

  return async (accountId: string, rules: readonly Rule[], now: Date, judgedUntil = now): Promise<Evaluation> => {
    const judged = rules.map((rule) => {
      const evaluator = evaluatorOf(rule.condition);
      return { rule, evaluator, series: spendSeries({ ...evaluator, effectiveFrom: rule.effectiveFrom }) };
    });
    const gatewayBudgets = judged.flatMap(({ rule, evaluator }) => {
      const [period] = evaluator.periodsToJudge(now);
      const { ruleId, condition } = rule;
      if (condition.type !== 'budget' || !period || period.end <= now.toISOString()) return [];
      return concernsGateway(condition.config) ? [{ budgetId: ruleId, config: condition.config, period }] : [];
    });
    const adjustReservations = await reservations.compare(accountId, reservedPeriods(gatewayBudgets));
    await fillSeries(readCounters, accountId, judged, now, judgedUntil);
    const fired: Alert[] = [];
    const failures = new Map<string, unknown>();
    const budgets: BudgetState[] = [];
    for (const { rule, evaluator, series } of judged) {
      const [period] = evaluator.periodsToJudge(now);
      if (rule.condition.type !== 'budget' || period === undefined || period.end <= now.toISOString()) continue;
      const { config } = rule.condition;
      if (!concernsGateway(config)) continue;
      try {
        const use = useOf(config, series.sum(period.start, period.end));
        budgets.push({ budgetId: rule.ruleId, name: rule.name, config, period, use });
      } catch (error) {
        if (!(error instanceof CounterOverflowError)) throw error;
        failures.set(rule.ruleId, error);
      }
    }
    await adjustReservations(usedByBudget(budgets));
    // What stops requests comes before what only reports.
    if (rules.some(({ condition }) => condition.type === 'budget' && concernsGateway(condition.config)))
      await blocks.change(accountId, (current) => withBudgets(current, budgets, new Set(failures.keys())));
    for (const { rule, evaluator, series } of judged) {
      let { firedPeriods } = rule;
      for (const period of evaluator.periodsToJudge(now, judgedUntil)) {
        if (period.end <= rule.effectiveFrom) continue;
        try {
          const observation = evaluator.judge({ period, now, series });
          if (!observation?.exceeded || hasFired(firedPeriods, period, observation)) continue;
          const alert = newAlert(rule, period, observation, {
            alertId: newAlertId(),
            triggeredAt: now.toISOString(),
            mayAlsoMatch: series.mayAlsoMatch(period.start, period.end),
            drivers: await findDrivers(accountId, evaluator, period, now),
          });
          if (await alerts.fire(alert, { ...rule, firedPeriods })) fired.push(alert);
          firedPeriods = [firingName(period, observation), ...firedPeriods];
        } catch (error) {
          // A sum past 2^53 keeps its rule from being judged for the period, and nothing else.
          if (!(error instanceof CounterOverflowError)) throw error;
          failures.set(rule.ruleId, error);
        }
      }
    }
    return { fired, failures: [...failures].map(([ruleId, error]) => ({ ruleId, error })) };
  };
};
