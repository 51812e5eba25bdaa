import { type Period, periodAt } from '../calendar/periods.ts';
import { DAY_MS } from '../calendar/units.ts';
import { bucketOf, type Granularity, roundUp, startOf, startOfNext } from '../calendar/utc.ts';
import { ifExact } from '../spend/counters.ts';
import { alertName, type BudgetEvent, hasFired, type Judgement } from './evaluator.ts';
import { blocksFromNanoUsd, useOf } from './limit.ts';
import { type BoundEvaluator, evaluatorOf, type RuleCondition } from './rule.ts';
import { rangeToJudge } from './spend-query.ts';
import type { JudgedValue, SpendSeries } from './spend-series.ts';

export const BACKTEST_DAYS = 30;

/** The figures of a rule by the end of an hour or day. Null where it had too little to judge by. */
export interface BacktestPoint {
  /** The hour or day: `2026-11-20T16`, `2026-11-20`. */
  readonly time: string;
  readonly figure: number | null;
  readonly limit: number | null;
  readonly usual: number | null;
  readonly fired: boolean;
}

export interface BacktestAlert extends Omit<Judgement, 'exceeded' | 'event' | 'usual' | 'forecast'> {
  readonly period: Period;
  readonly event: BudgetEvent | null;
  /** The end of the hour or day in which it would have fired; the start of the period if at once. ISO 8601. */
  readonly by: string;
  /** The value that it would have fired for, of a rule that judges values. */
  readonly of: JudgedValue | null;
  /** The spend that its pause would have stopped; null where it stops nothing. */
  readonly stoppedNanoUsd: number | null;
  /** The next hour was below the limit again: a false alarm, most likely. Null of rules that judge no values. */
  readonly isBrief: boolean | null;
}

/** The last 30 days up to now, and the range of spend to read for them. */
export const backtestRange = (condition: RuleCondition, now: Date) => {
  const evaluator = evaluatorOf(condition);
  const from = new Date(startOf('day', now).getTime() - BACKTEST_DAYS * DAY_MS);
  const first = evaluator.period === 'fixed' ? evaluator.periodsToJudge(now).at(-1) : periodAt(evaluator.period, from);
  return { from, read: rangeToJudge(evaluator, first ?? { name: 'fixed', start: from.toISOString(), end: '' }, now) };
};

/** The instants at which it is judged: the first one, the end of each hour or day, and now. */
const instantsOf = (granularity: Granularity, from: Date, now: Date): Date[] => {
  const instants = [from];
  for (let at = startOfNext(granularity, from); at < now; at = startOfNext(granularity, at)) instants.push(at);
  return [...instants, now];
};

/** The spend past what a limit allows, in nano-USD; null where the rule stops nothing. */
const stoppedOf = ({ limit }: BoundEvaluator, periods: readonly Period[], series: SpendSeries): number | null => {
  if (!limit?.block) return null;
  return periods
    .map(({ start, end }) => Math.max(0, useOf(limit, series.sum(start, end)).usedNanoUsd - blocksFromNanoUsd(limit)))
    .reduce((sum, nanoUsd) => sum + nanoUsd, 0);
};

/**
 * When a rule would have fired, had it been created 30 days ago. It is judged as the evaluator judges it, but at the end of each hour or
 * day only, and with the spend until then.
 *
 * @param series of the rule's granularity and filter, over the range that `backtestRange` returns as `read`
 */
export const backtest = (condition: RuleCondition, series: SpendSeries, now: Date) => {
  const evaluator = evaluatorOf(condition);
  const { granularity } = evaluator;
  const { from } = backtestRange(condition, now);
  const alerts: BacktestAlert[] = [];
  const fired: string[] = [];
  const periods = new Map<string, Period>();
  const judged = new Set<string>();
  const points: BacktestPoint[] = [];
  let unit: Judgement['unit'] | null = null;

  const judgeAt = (period: Period, at: Date): Judgement | null => {
    periods.set(period.start, period);
    const known = (end: string) => (end < at.toISOString() ? end : roundUp(granularity, at).toISOString());
    const judgement = evaluator.judge({
      period,
      now: at,
      series: { sum: (first, end) => series.sum(first, known(end)) },
    });
    if (judgement) judged.add(period.start);
    unit ??= judgement?.unit ?? null;
    if (!judgement?.exceeded || hasFired(fired, period, judgement)) return judgement;
    const { exceeded: _, usual: _usual, forecast: _forecast, event = null, ...rest } = judgement;
    fired.push(alertName(period, judgement));
    alerts.push({
      ...{ period, by: at.toISOString(), event, ...rest },
      ...{ of: null, stoppedNanoUsd: null, isBrief: null },
    });
    return judgement;
  };

  let requests = 0;
  let began: string | undefined;
  let firedBefore = 0;
  for (const at of instantsOf(granularity, from, now)) {
    let judgement: Judgement | null | undefined;
    for (const period of evaluator.periodsToJudge(at).toReversed()) {
      if (period.end <= from.toISOString()) continue;
      const judgedNow = ifExact(() => judgeAt(period, at));
      if (began !== undefined && period.start <= began && began < period.end) judgement = judgedNow;
    }
    const bucket = began;
    began = at.toISOString();
    if (bucket === undefined) continue;
    requests += ifExact(() => series.sum(bucket, roundUp(granularity, at).toISOString()).requests) ?? 0;
    points.push({
      time: bucketOf(bucket, granularity),
      figure: judgement?.forecast ?? judgement?.figure ?? null,
      limit: judgement?.limit ?? null,
      usual: judgement?.usual ?? null,
      fired: alerts.length > firedBefore,
    });
    firedBefore = alerts.length;
  }
  return {
    from: from.toISOString(),
    to: now.toISOString(),
    periods: periods.size,
    unjudgedPeriods: periods.size - judged.size,
    requests,
    stoppedNanoUsd: stoppedOf(evaluator, [...periods.values()], series),
    alerts,
    unit,
    points,
  };
};
