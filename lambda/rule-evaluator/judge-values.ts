import type { Alerts } from '../data/alerts/alerts.ts';
import type { Rule } from '../data/alerts/rules.ts';
import type { Period } from '../domain/calendar/periods.ts';
import { dayOf } from '../domain/calendar/utc.ts';
import { leastOf } from '../domain/limits/burn-rate.ts';
import { byExcess, type Observation } from '../domain/limits/evaluator.ts';
import { MAX_PAUSES } from '../domain/limits/pauses.ts';
import { type BoundEvaluator, type BurnRateCondition, evaluatorOf } from '../domain/limits/rule.ts';
import type { MayAlsoMatch } from '../domain/limits/spend-series.ts';
import { splitSeries } from '../domain/limits/split-series.ts';
import { noDimensions } from '../domain/spend/dimensions.ts';
import type { SessionCounter } from '../domain/spend/sessions.ts';
import type { openUsualHours } from './usual-hours.ts';

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
export interface ValueObservation {
  readonly value: string;
  readonly observation: Observation;
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
      await readSessions(rule.accountId, range, ({ sessionId, firstHour, counters }) =>
        series.addTo(sessionId, { time: firstHour.slice(0, 10), dimensions: noDimensions, counters }),
      );
    },

    /** The values for which it fires now and has not yet, those furthest above their limit first. */
    observe: async (period: Period, now: Date): Promise<ValueObservation[]> => {
      const least = leastOf(config);
      const candidates = [...series.ofValues].filter(([, each]) => {
        const sum = evaluator.judge({ period, now, series: each, usual: 0 });
        return sum !== null && sum.observed >= least;
      });
      if (candidates.length === 0) return [];
      const usual = config.factor === undefined ? undefined : await readUsual(rule, evaluator, period.start);
      const exceeding = candidates.flatMap(([value, each]): ValueObservation[] => {
        const observation = evaluator.judge({ period, now, series: each, usual: usual?.get(value) ?? null });
        return observation?.exceeded
          ? [{ value, observation, mayAlsoMatch: each.mayAlsoMatch(period.start, period.end) }]
          : [];
      });
      const values = exceeding.map(({ value }) => value);
      const fired = await firedFor(rule, period, values);
      return exceeding
        .filter(({ value }) => !fired.has(value))
        .sort((a, b) => byExcess(a.observation, b.observation))
        .slice(0, MAX_VALUES_AT_ONCE);
    },
  };
};
