import type { Projects } from '../data/accounts/projects.ts';
import type { ListedKey, ServiceKeys } from '../data/accounts/service-keys.ts';
import type { Users } from '../data/accounts/users.ts';
import type { Alerts } from '../data/alerts/alerts.ts';
import type { BlockStore } from '../data/alerts/blocks.ts';
import type { MeasureStore } from '../data/alerts/measures.ts';
import type { Rule } from '../data/alerts/rules.ts';
import type { Reservations } from '../data/ledger/reservations.ts';
import { type Alert, type Contributor, triggeredAlert } from '../domain/alerts/alert.ts';
import { contributorDimensionsOf, contributorsOf } from '../domain/alerts/contributors.ts';
import { isOverdue, type Period } from '../domain/calendar/periods.ts';
import { coveringRange } from '../domain/calendar/range.ts';
import type { Block } from '../domain/limits/block.ts';
import { alertName, byExcess, hasFired, type Judgement } from '../domain/limits/evaluator.ts';
import { needsBelongings } from '../domain/limits/limit-blocks.ts';
import { type BoundEvaluator, type BurnRateCondition, evaluatorOf } from '../domain/limits/rule.ts';
import { fillSeries, readUntil } from '../domain/limits/spend-query.ts';
import { spendSeries, splitDimension } from '../domain/limits/spend-series.ts';
import { CounterOverflowError, type SpendCounter } from '../domain/spend/counters.ts';
import { needsKeys } from '../domain/spend/key-dimensions.ts';
import type { ReadCounters } from '../domain/spend/spend-question.ts';
import { judgeValues, openUsualHours, type ValueJudging } from './judge-values.ts';
import { pauseOf, startPauses, stopByLimits } from './start-pauses.ts';

/**
 * Finds what most of a figure came from. It is read for alerts only, which are rare. Many alerts of one rule and period come one
 * after the other: what was read last serves the next.
 */
const openCauses = (readCounters: ReadCounters, keys: Pick<ServiceKeys, 'list'>) => (accountId: string, now: Date) => {
  let last: { readonly name: string; readonly counters: readonly SpendCounter[] } | undefined;
  let names: ReadonlyMap<string, string> | undefined;

  const read = async (evaluator: BoundEvaluator, period: Period): Promise<readonly SpendCounter[]> => {
    const range = coveringRange(
      evaluator.granularity,
      new Date(period.start),
      new Date(Math.min(readUntil(now).getTime(), Date.parse(period.end))),
    );
    const dimensions = contributorDimensionsOf(evaluator);
    const name = JSON.stringify([range, dimensions]);
    if (last?.name === name) return last.counters;
    const counters: SpendCounter[] = [];
    for await (const counter of readCounters({ accountId, range, groupBy: dimensions })) counters.push(counter);
    last = { name, counters };
    return counters;
  };

  return async (evaluator: BoundEvaluator, period: Period): Promise<Contributor[]> => {
    const contributors = contributorsOf(await read(evaluator, period), evaluator);
    if (!contributors.some(({ dimension }) => dimension === 'key')) return contributors;
    names ??= new Map((await keys.list(accountId)).map(({ keyId, name }) => [keyId, name]));
    return contributors.map((contributor) =>
      contributor.dimension === 'key'
        ? { ...contributor, label: names?.get(contributor.value ?? '') ?? null }
        : contributor,
    );
  };
};

export interface EvaluationDependencies extends Pick<ValueJudging, 'readSessions'> {
  readonly readCounters: ReadCounters;
  readonly alerts: Pick<Alerts, 'fire' | 'firedFor'>;
  readonly blocks: Pick<BlockStore, 'change' | 'changeByLimits'>;
  readonly reservations: Pick<Reservations, 'compare'>;
  readonly measures: Pick<MeasureStore, 'note'>;
  readonly keys: Pick<ServiceKeys, 'list'>;
  readonly projects: Pick<Projects, 'list'>;
  readonly users: Pick<Users, 'recipients'>;
  /** The page on which a person asks for more. */
  readonly askUrl: string;
  readonly newAlertId: () => string;
}

/**
 * The result of judging an account's rules: the alerts that fired, to be delivered, and the rules with a sum that is not exact any more, or with a
 * pause that failed.
 */
export interface Evaluation {
  readonly fired: Alert[];
  readonly failures: { readonly ruleId: string; readonly error: unknown }[];
}

/** A rule fires for it, if it has not yet. */
interface Candidate {
  readonly judgement: Judgement;
  /** For contributors: of a value, its filter has the value. Undefined where spend cannot be read by it. */
  readonly evaluator: BoundEvaluator | undefined;
  readonly mayAlsoMatch: Alert['mayAlsoMatch'];
  readonly of?: NonNullable<Alert['of']>;
  /** Undefined where nothing is to be paused. */
  readonly pause?: Block | undefined;
}

/** Labels are names of keys, and what a project's budget or pause stops is its keys. */
const needsKeysFor = ({ condition: { type, config } }: Rule): boolean =>
  needsKeys(config.filter) || (type === 'burn_rate' && ['key', 'project'].includes(config.each));

const needsMembers = ({ condition }: Rule): boolean => needsBelongings(evaluatorOf(condition).limit ?? {});

const isBurnRate = (rule: Rule): rule is Rule<BurnRateCondition> => rule.condition.type === 'burn_rate';

const LATE = ' This alert is late: the rules could not be judged in time.';

const alertOf = (
  { accountId, ruleId, name, condition, channels }: Rule,
  period: Period,
  { exceeded: _, usual: _usual, forecast: _forecast, event, percent, summary, ...figures }: Judgement,
  { of, ...facts }: Pick<Alert, 'alertId' | 'triggeredAt' | 'mayAlsoMatch' | 'contributors' | 'of'>,
): Alert =>
  triggeredAlert(
    {
      ...facts,
      ...{ accountId, ruleId, ruleName: name, type: condition.type, period, event: event ?? null },
      ...(percent !== undefined && { percent }),
      ...(of && { of }),
      ...figures,
      summary: `${summary}${isOverdue(period, new Date(facts.triggeredAt)) ? LATE : ''}`,
    },
    channels,
  );

/**
 * Judges the rules of one account, whose spend is read once for all of them. The returned function takes `judgedUntil`, when they were
 * judged before: see periodsToJudge.
 */
export const evaluateAccount = (dependencies: EvaluationDependencies) => {
  const { readCounters, readSessions, alerts, blocks, newAlertId } = dependencies;
  const values: ValueJudging = { firedFor: alerts.firedFor, readSessions, readUsual: openUsualHours(readCounters) };
  const contributorsFor = openCauses(readCounters, dependencies.keys);
  const start = startPauses(blocks);
  const stop = stopByLimits(blocks, dependencies.reservations, dependencies.measures, dependencies.askUrl);

  const judgeSplit = (rule: Rule<BurnRateCondition>, keys: readonly ListedKey[]) => {
    const { each } = rule.condition.config;
    const { evaluator, series, fillSessions, judge } = judgeValues(rule, values);
    const dimension = splitDimension(each);
    const candidates = async (period: Period, now: Date): Promise<Candidate[]> => {
      const found = await judge(period, now);
      const isOfProjects = each === 'project' && found.length > 0;
      const projects = isOfProjects ? await dependencies.projects.list(rule.accountId) : [];
      return found.map(({ value, judgement, mayAlsoMatch }) => {
        const named =
          each === 'key'
            ? keys.find(({ keyId }) => keyId === value)
            : projects.find(({ projectId }) => projectId === value);
        const label = named?.name ?? null;
        const pause = pauseOf(rule, { period, value, keys, now });
        const isTooLate = rule.condition.config.pause !== null && pause === undefined;
        const late = isTooLate ? ` It is not paused: the ${each === 'session' ? 'day' : 'hour'} is over.` : '';
        return {
          judgement: {
            ...judgement,
            summary: `The ${each} ${label === null ? value : `“${label}”`} has ${judgement.summary}${late}`,
          },
          pause,
          evaluator: dimension && { ...evaluator, filter: { ...evaluator.filter, [dimension]: value } },
          mayAlsoMatch,
          of: { dimension: each, value, label },
        };
      });
    };
    return { rule, evaluator, series, fillSessions, candidates };
  };

  const judgeWhole = (rule: Rule) => {
    const evaluator = evaluatorOf(rule.condition);
    const series = spendSeries({ ...evaluator, effectiveFrom: rule.effectiveFrom });
    const candidates = async (period: Period, now: Date): Promise<Candidate[]> => {
      const judgement = evaluator.judge({ period, now, series });
      return judgement?.exceeded
        ? [{ judgement, evaluator, mayAlsoMatch: series.mayAlsoMatch(period.start, period.end) }]
        : [];
    };
    return { rule, evaluator, series, candidates };
  };

  return async (accountId: string, rules: readonly Rule[], now: Date, judgedUntil = now): Promise<Evaluation> => {
    const hasMembers = rules.some(needsMembers);
    const keys = hasMembers || rules.some(needsKeysFor) ? await dependencies.keys.list(accountId) : [];
    const members = hasMembers ? await dependencies.users.recipients(accountId) : [];
    const split = rules.filter(isBurnRate).map((rule) => judgeSplit(rule, keys));
    const whole = rules.filter((rule) => !isBurnRate(rule)).map(judgeWhole);
    const isOfSessions = ({ evaluator }: { evaluator: BoundEvaluator }) => evaluator.splitBy === 'session';
    // Before spend is read: what is reserved meanwhile stays reserved.
    const stopRequests = await stop(accountId, { judged: whole, keys, members, now });
    await Promise.all([
      fillSeries(readCounters, accountId, [...whole, ...split.filter((each) => !isOfSessions(each))], now, judgedUntil),
      ...split.filter(isOfSessions).map(({ fillSessions }) => fillSessions(now, judgedUntil)),
    ]);
    const failures = new Map<string, unknown>();
    // Limits that stop requests come before those that only report, which alert where that fails, too.
    await stopRequests().catch((error: unknown) => {
      for (const { rule, evaluator } of whole) if (evaluator.limit) failures.set(rule.ruleId, error);
    });
    /** A sum past 2^53 keeps its rule from being judged for a period, and nothing else. */
    const ifExact = async <T>({ ruleId }: Rule, judge: () => Promise<T[]>): Promise<T[]> => {
      try {
        return await judge();
      } catch (error) {
        if (!(error instanceof CounterOverflowError)) throw error;
        failures.set(ruleId, error);
        return [];
      }
    };

    const found: (Candidate & { readonly rule: Rule; readonly period: Period })[] = [];
    for (const { rule, evaluator, candidates } of [...split, ...whole])
      for (const period of evaluator.periodsToJudge(now, judgedUntil)) {
        if (period.end <= rule.effectiveFrom) continue;
        for (const candidate of await ifExact(rule, () => candidates(period, now)))
          found.push({ ...candidate, rule, period });
      }

    const urgent = found.toSorted((a, b) => byExcess(a.judgement, b.judgement)).flatMap(({ pause }) => pause ?? []);
    const pauseTexts = await start(accountId, urgent, now).catch((error: unknown) => {
      for (const { ruleId } of urgent) failures.set(ruleId as string, error);
      return null;
    });
    const textOf = ({ id }: Block): string =>
      pauseTexts === null ? ' It may not be paused: that failed. Look at the pauses.' : (pauseTexts.get(id) ?? '');

    const findContributors = contributorsFor(accountId, now);
    const fired: Alert[] = [];
    const firedPeriods = new Map(rules.map((rule) => [rule.ruleId, rule.firedPeriods]));
    for (const { rule, period, judgement, evaluator, mayAlsoMatch, of, pause } of found) {
      const before = firedPeriods.get(rule.ruleId) ?? [];
      if (hasFired(before, period, { ...judgement, of })) continue;
      const contributors = evaluator ? await ifExact(rule, () => findContributors(evaluator, period)) : [];
      const summary = pause ? judgement.summary + textOf(pause) : judgement.summary;
      const facts = { alertId: newAlertId(), triggeredAt: now.toISOString(), mayAlsoMatch, of, contributors };
      const alert = alertOf(rule, period, { ...judgement, summary }, facts);
      if (await alerts.fire(alert, { ...rule, firedPeriods: before })) fired.push(alert);
      firedPeriods.set(rule.ruleId, [alertName(period, { ...judgement, of }), ...before]);
    }
    return { fired, failures: [...failures].map(([ruleId, error]) => ({ ruleId, error })) };
  };
};
