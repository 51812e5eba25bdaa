import QuickLRU from 'quick-lru';
import type { Alerts } from '../data/alerts/alerts.ts';
import type { Rule } from '../data/alerts/rules.ts';
import type { Period } from '../domain/calendar/periods.ts';
import { coveringRange } from '../domain/calendar/range.ts';
import { DAY_MS } from '../domain/calendar/units.ts';
import { type Day, dayOf } from '../domain/calendar/utc.ts';
import { HISTORY_DAYS, leastOf, usualOf } from '../domain/limits/burn-rate.ts';
import { byExcess, type Judgement } from '../domain/limits/evaluator.ts';
import { MAX_PAUSES } from '../domain/limits/pauses.ts';
import { type BoundEvaluator, type BurnRateCondition, evaluatorOf } from '../domain/limits/rule.ts';
import { splitSeries } from '../domain/limits/spend-series.ts';
import type { MayAlsoMatch } from '../domain/spend/known-cost.ts';
import type { SessionCounter } from '../domain/spend/sessions.ts';
import type { ReadCounters } from '../domain/spend/spend-question.ts';

/** By value; null where it has too little history. */
type UsualHours = ReadonlyMap<string, number | null>;

const MAX_ENTRIES = 200;

/**
 * Usual figures of a rule's values on a day, by the 14 days before. It is read once a day by each process, and only for rules that
 * may fire: 14 days by the hour are much.
 */
export const openUsualHours = (readCounters: ReadCounters) => {
  const cache = new QuickLRU<string, Promise<UsualHours>>({ maxSize: MAX_ENTRIES });

  const read = async (
    { accountId, condition }: Rule<BurnRateCondition>,
    evaluator: BoundEvaluator,
    day: Day,
  ): Promise<UsualHours> => {
    const start = Date.parse(day);
    const range = coveringRange('hour', new Date(start - HISTORY_DAYS * DAY_MS), new Date(start));
    const series = splitSeries(evaluator);
    for await (const counter of readCounters({ accountId, range, groupBy: evaluator.readBy })) series.add(counter);
    return new Map([...series.ofValues].map(([value, each]) => [value, usualOf(condition.config, each)(day)]));
  };

  return (rule: Rule<BurnRateCondition>, evaluator: BoundEvaluator, start: string): Promise<UsualHours> => {
    const day = dayOf(start);
    const name = [rule.accountId, rule.ruleId, rule.conditionRevision, day].join();
    const cached = cache.get(name) ?? read(rule, evaluator, day);
    cache.set(name, cached);
    cached.catch(() => cache.delete(name));
    return cached;
  };
};

/** Past it the others of a rule and period wait for the next judging. An account has room for as many pauses. */
const MAX_VALUES_AT_ONCE = MAX_PAUSES;

export interface ValueJudging extends Pick<Alerts, 'firedFor'> {
  readonly readSessions: (
    accountId: string,
    range: { readonly from: string; readonly to: string },
    take: (counter: SessionCounter) => void,
  ) => Promise<unknown>;
  readonly readUsual: ReturnType<typeof openUsualHours>;
}

/** A value of a rule's dimension for which the rule fires. */
export interface ValueJudgement {
  readonly value: string;
  readonly judgement: Judgement;
  readonly mayAlsoMatch: MayAlsoMatch | undefined;
}

/** Judges the values of a rule, each on its own. `series` has to be filled first, and `fillSessions` called. */
export const judgeValues = (rule: Rule<BurnRateCondition>, { firedFor, readSessions, readUsual }: ValueJudging) => {
  const { config } = rule.condition;
  const evaluator: BoundEvaluator = evaluatorOf(rule.condition);
  const series = splitSeries(evaluator);
  return {
    evaluator,
    series,

    fillSessions: async (now: Date, judgedUntil: Date): Promise<void> => {
      const periods = evaluator.periodsToJudge(now, judgedUntil);
      const [last, first] = [periods[0], periods.at(-1)];
      if (!first || !last) return;
      const range = { from: dayOf(first.start), to: dayOf(last.start) };
      await readSessions(rule.accountId, range, series.addSession);
    },

    /** The values for which it fires now and has not yet, those furthest above their limit first. */
    judge: async (period: Period, now: Date): Promise<ValueJudgement[]> => {
      const least = leastOf(config);
      const candidates = [...series.ofValues].filter(([, each]) => {
        const sum = evaluator.judge({ period, now, series: each, usual: 0 });
        return sum !== null && sum.figure >= least;
      });
      if (candidates.length === 0) return [];
      const usual = config.factor === undefined ? undefined : await readUsual(rule, evaluator, period.start);
      const exceeding = candidates.flatMap(([value, each]): ValueJudgement[] => {
        const judgement = evaluator.judge({ period, now, series: each, usual: usual?.get(value) ?? null });
        return judgement?.exceeded
          ? [{ value, judgement, mayAlsoMatch: each.mayAlsoMatch(period.start, period.end) }]
          : [];
      });
      const values = exceeding.map(({ value }) => value);
      const fired = await firedFor(rule, period, values);
      return exceeding
        .filter(({ value }) => !fired.has(value))
        .sort((a, b) => byExcess(a.judgement, b.judgement))
        .slice(0, MAX_VALUES_AT_ONCE);
    },
  };
};
