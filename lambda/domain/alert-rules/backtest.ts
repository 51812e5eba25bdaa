import { type Period, periodAt } from '../calendar/periods.ts';
import type { Observation } from './evaluator.ts';
import { evaluatorOf, type RuleCondition } from './rule.ts';
import { granularityOf, lookedAt } from './spend-needed.ts';
import type { SpendSeries } from './spend-series.ts';

const DAY_MS = 86_400_000;
const BACKTEST_DAYS = 30;
const ceiled = (ms: number, step: number): number => Math.ceil(ms / step) * step;
const stepMs = { hour: 3_600_000, day: DAY_MS } as const;

interface Firing extends Omit<Observation, 'exceeded'> {
  readonly period: Period;
  /** The end of the hour or day within which it would have fired; the start of the period if right then. ISO 8601. */
  readonly by: string;
}

/** The last 30 days up to now, and the spend that must be read to play a rule against them. */
export const backtestRange = (condition: RuleCondition, now: Date) => {
  const evaluator = evaluatorOf(condition);
  const from = new Date(Math.floor(now.getTime() / DAY_MS) * DAY_MS - BACKTEST_DAYS * DAY_MS);
  return { from, read: lookedAt(evaluator, periodAt(evaluator.period, from), now) };
};

/**
 * When a rule would have fired: at the start of each period and at the end of each hour or day of it, the rule is shown what had
 * been spent until then, and nothing that came later.
 *
 * @param series of the rule's granularity and filter, over all that `backtestRange` says must be read
 */
export const backtest = (condition: RuleCondition, series: SpendSeries, now: Date) => {
  const evaluator = evaluatorOf(condition);
  const { from } = backtestRange(condition, now);
  const step = stepMs[granularityOf(evaluator)];
  const firings: Firing[] = [];
  const periods = new Set<string>();

  const judgeAt = (period: Period, at: Date): void => {
    if (firings.at(-1)?.period.start === period.start) return;
    const seen = (end: string) => (end < at.toISOString() ? end : new Date(ceiled(at.getTime(), step)).toISOString());
    const judged = evaluator.judge({
      period,
      now: at,
      series: { sum: (first, end) => series.sum(first, seen(end)) },
    });
    if (!judged?.exceeded) return;
    const { exceeded: _, ...observation } = judged;
    firings.push({ period, by: at.toISOString(), ...observation });
  };

  for (let startMs = from.getTime(); startMs < now.getTime(); startMs += step) {
    const period = periodAt(evaluator.period, new Date(startMs));
    // A forecast may fire before anything is spent.
    if (!periods.has(period.start)) judgeAt(period, new Date(startMs));
    periods.add(period.start);
    judgeAt(period, new Date(Math.min(startMs + step, now.getTime())));
  }
  return { from: from.toISOString(), to: now.toISOString(), periods: periods.size, firings };
};
