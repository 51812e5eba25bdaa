import { type Period, periodAt } from '../calendar/periods.ts';
import { DAY_MS } from '../calendar/units.ts';
import { roundUp, startOf, startOfNext } from '../calendar/utc.ts';
import type { Observation } from './evaluator.ts';
import { evaluatorOf, type RuleCondition } from './rule.ts';
import { rangeToJudge } from './spend-query.ts';
import type { SpendSeries } from './spend-series.ts';

const BACKTEST_DAYS = 30;

interface Firing extends Omit<Observation, 'exceeded'> {
  readonly period: Period;
  /** The end of the hour or day in which it would have fired; the start of the period if at once. ISO 8601. */
  readonly by: string;
}

/** The last 30 days up to now, and the range of spend to read for them. */
export const backtestRange = (condition: RuleCondition, now: Date) => {
  const evaluator = evaluatorOf(condition);
  const from = new Date(startOf('day', now).getTime() - BACKTEST_DAYS * DAY_MS);
  return { from, read: rangeToJudge(evaluator, periodAt(evaluator.period, from), now) };
};

/**
 * When a rule would have fired. The rule is judged at the start of each period and at the end of each hour or day in it, each time
 * with only the spend until then.
 *
 * @param series of the rule's granularity and filter, over the range that `backtestRange` returns as `read`
 */
export const backtest = (condition: RuleCondition, series: SpendSeries, now: Date) => {
  const evaluator = evaluatorOf(condition);
  const { granularity } = evaluator;
  const { from } = backtestRange(condition, now);
  const firings: Firing[] = [];
  const periods = new Set<string>();

  const judgeAt = (period: Period, at: Date): void => {
    if (firings.at(-1)?.period.start === period.start) return;
    const known = (end: string) => (end < at.toISOString() ? end : roundUp(granularity, at).toISOString());
    const observation = evaluator.judge({
      period,
      now: at,
      series: { sum: (first, end) => series.sum(first, known(end)) },
    });
    if (!observation?.exceeded) return;
    const { exceeded: _, ...observed } = observation;
    firings.push({ period, by: at.toISOString(), ...observed });
  };

  for (let start = from; start < now; start = startOfNext(granularity, start)) {
    const period = periodAt(evaluator.period, start);
    // A forecast may fire before anything is spent.
    if (!periods.has(period.start)) judgeAt(period, start);
    periods.add(period.start);
    judgeAt(period, new Date(Math.min(startOfNext(granularity, start).getTime(), now.getTime())));
  }
  return { from: from.toISOString(), to: now.toISOString(), periods: periods.size, firings };
};
