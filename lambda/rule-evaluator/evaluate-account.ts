import type { Projects } from '../data/accounts/projects.ts';
import type { ServiceKey, ServiceKeys } from '../data/accounts/service-keys.ts';
import type { Alerts } from '../data/alerts/alerts.ts';
import type { BlockStore } from '../data/alerts/blocks.ts';
import type { MeasureStore } from '../data/alerts/measures.ts';
import type { Rule } from '../data/alerts/rules.ts';
import type { Reservations } from '../data/ledger/reservations.ts';
import type { Alert } from '../domain/alert-rules/alert.ts';
import { firingName, hasFired, type Observation } from '../domain/alert-rules/evaluator.ts';
import { type BoundEvaluator, type BurnRateCondition, evaluatorOf } from '../domain/alert-rules/rule.ts';
import { readByProject } from '../domain/alert-rules/rule-counters.ts';
import { fillSeries } from '../domain/alert-rules/spend-query.ts';
import { spendSeries } from '../domain/alert-rules/spend-series.ts';
import { splitDimension } from '../domain/alert-rules/split-series.ts';
import type { Period } from '../domain/calendar/periods.ts';
import { CounterOverflowError } from '../domain/spend/counters.ts';
import type { ReadCounters } from '../domain/spend/spend-report.ts';
import { openDrivers } from './drivers.ts';
import { judgeValues, type ValueJudging } from './judge-values.ts';
import { newAlert } from './new-alert.ts';
import { pauseValue } from './pause-value.ts';
import { stopByBudgets } from './stop-by-budgets.ts';
import { openUsualHours } from './usual-hours.ts';

export interface EvaluationDependencies extends Pick<ValueJudging, 'readSessions'> {
  readonly readCounters: ReadCounters;
  readonly alerts: Pick<Alerts, 'fire'>;
  readonly blocks: Pick<BlockStore, 'change'>;
  readonly reservations: Pick<Reservations, 'compare'>;
  readonly measures: Pick<MeasureStore, 'note'>;
  readonly keys: Pick<ServiceKeys, 'list'>;
  readonly projects: Pick<Projects, 'list'>;
  readonly newAlertId: () => string;
}

/** What came of an account's rules: the alerts that fired, to be delivered, and the rules with a sum that is not exact any more. */
export interface Evaluation {
  readonly fired: Alert[];
  readonly failures: { readonly ruleId: string; readonly error: unknown }[];
}

/** What a rule may fire for. */
interface Candidate {
  readonly observation: Observation;
  /** For drivers: of a value, its filter has the value. Undefined where spend cannot be read by it. */
  readonly evaluator: BoundEvaluator | undefined;
  readonly mayAlsoMatch: Alert['mayAlsoMatch'];
  readonly of?: NonNullable<Alert['of']>;
}

/** Labels are names of keys, and what a project's budget or pause stops is its keys. */
const needsKeys = ({ condition: { type, config } }: Rule): boolean =>
  config.filter?.project !== undefined || (type === 'burn_rate' && ['key', 'project'].includes(config.each));

const isBurnRate = (rule: Rule): rule is Rule<BurnRateCondition> => rule.condition.type === 'burn_rate';

/**
 * Judges the rules of one account, whose spend is read once for all of them. The returned function takes `judgedUntil`, when they were
 * judged before: see periodsToJudge.
 */
export const evaluateAccount = (dependencies: EvaluationDependencies) => {
  const { readSessions, alerts, blocks, newAlertId } = dependencies;
  const readCounters = readByProject(dependencies.readCounters, dependencies.keys.list);
  const values: ValueJudging = { readSessions, readUsual: openUsualHours(readCounters) };
  const findDrivers = openDrivers(readCounters, dependencies.keys);
  const pause = pauseValue(blocks);
  const stop = stopByBudgets(blocks, dependencies.reservations, dependencies.measures);

  const labelOf = async (
    accountId: string,
    of: Omit<NonNullable<Alert['of']>, 'label'>,
    keys: readonly ServiceKey[],
  ) =>
    of.dimension === 'key'
      ? keys.find(({ keyId }) => keyId === of.value)?.name
      : of.dimension === 'project'
        ? (await dependencies.projects.list(accountId)).find(({ projectId }) => projectId === of.value)?.name
        : undefined;

  const judgeSplit = (rule: Rule<BurnRateCondition>, keys: readonly ServiceKey[]) => {
    const { each } = rule.condition.config;
    const { evaluator, series, fillSessions, observe } = judgeValues(rule, values);
    const candidates = async (period: Period, now: Date, fired: readonly string[]): Promise<Candidate[]> =>
      Promise.all(
        (await observe(period, now, fired)).map(async ({ value, observation, mayAlsoMatch }) => {
          const label = (await labelOf(rule.accountId, { dimension: each, value }, keys)) ?? null;
          const dimension = splitDimension(each);
          const paused = await pause(rule, { period, value, keys, now });
          return {
            observation: {
              ...observation,
              summary: `The ${each} ${label === null ? value : `“${label}”`} has ${observation.summary}${paused}`,
            },
            evaluator: dimension && { ...evaluator, filter: { ...evaluator.filter, [dimension]: value } },
            mayAlsoMatch,
            of: { dimension: each, value, label },
          };
        }),
      );
    return { rule, evaluator, series, fillSessions, candidates };
  };

  const judgeWhole = (rule: Rule) => {
    const evaluator = evaluatorOf(rule.condition);
    const series = spendSeries({ ...evaluator, effectiveFrom: rule.effectiveFrom });
    const candidates = async (period: Period, now: Date): Promise<Candidate[]> => {
      const observation = evaluator.judge({ period, now, series });
      return observation
        ? [{ observation, evaluator, mayAlsoMatch: series.mayAlsoMatch(period.start, period.end) }]
        : [];
    };
    return { rule, evaluator, series, candidates };
  };

  return async (accountId: string, rules: readonly Rule[], now: Date, judgedUntil = now): Promise<Evaluation> => {
    const keys = rules.some(needsKeys) ? await dependencies.keys.list(accountId) : [];
    const split = rules.filter(isBurnRate).map((rule) => judgeSplit(rule, keys));
    const whole = rules.filter((rule) => !isBurnRate(rule)).map(judgeWhole);
    const isOfSessions = ({ evaluator }: { evaluator: BoundEvaluator }) => evaluator.splitBy === 'session';
    // Before spend is read: what is reserved meanwhile stays reserved.
    const stopRequests = await stop(accountId, { judged: whole, keys, now });
    await Promise.all([
      fillSeries(readCounters, accountId, [...whole, ...split.filter((each) => !isOfSessions(each))], now, judgedUntil),
      ...split.filter(isOfSessions).map(({ fillSessions }) => fillSessions(now, judgedUntil)),
    ]);
    const fired: Alert[] = [];
    // What stops requests comes before what only reports.
    const failures = await stopRequests();
    for (const { rule, evaluator, candidates } of [...split, ...whole]) {
      let { firedPeriods } = rule;
      for (const period of evaluator.periodsToJudge(now, judgedUntil)) {
        if (period.end <= rule.effectiveFrom) continue;
        try {
          for (const { observation, of, mayAlsoMatch, ...candidate } of await candidates(period, now, firedPeriods)) {
            if (!observation.exceeded || hasFired(firedPeriods, period, { ...observation, of })) continue;
            const alert = newAlert(rule, period, observation, {
              alertId: newAlertId(),
              triggeredAt: now.toISOString(),
              mayAlsoMatch,
              of,
              drivers: candidate.evaluator ? await findDrivers(accountId, candidate.evaluator, period, now) : [],
            });
            if (await alerts.fire(alert, { ...rule, firedPeriods })) fired.push(alert);
            firedPeriods = [firingName(period, { ...observation, of }), ...firedPeriods];
          }
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
