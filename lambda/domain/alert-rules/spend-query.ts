import { type Period, periodsToJudge } from '../calendar/periods.ts';
import { coveringRange, type Range } from '../calendar/range.ts';
import { DAY_MS } from '../calendar/units.ts';
import type { SpendDimensionName } from '../spend/dimensions.ts';
import { type BoundEvaluator, evaluatorOf, type RuleCondition } from './rule.ts';

/** A range of spend to read, and the dimensions to read it by, in order to judge rules. */
export interface SpendQuery {
  readonly range: Range;
  readonly dimensions: readonly SpendDimensionName[];
}

/** The range that a rule needs to judge the periods from `first` until now: its lookback comes before them. */
export const rangeToJudge = ({ granularity, lookbackDays }: BoundEvaluator, first: Period, now: Date): Range => {
  const startMs = Date.parse(first.start);
  return coveringRange(
    granularity,
    new Date(startMs - lookbackDays * DAY_MS),
    new Date(Math.max(now.getTime(), startMs) + 1),
  );
};

/** The queries that serve all of an account's rules: at most one by hour and one by day. */
export const spendQueriesFor = (conditions: readonly RuleCondition[], now: Date, judgedUntil = now): SpendQuery[] => {
  const needs = conditions.map(evaluatorOf).map((evaluator) => ({
    range: rangeToJudge(evaluator, periodsToJudge(evaluator.period, now, judgedUntil).at(-1) as Period, now),
    dimensions: Object.keys(evaluator.filter ?? {}) as SpendDimensionName[],
  }));
  return [...Map.groupBy(needs, ({ range }) => range.granularity)].map(([granularity, some]) => ({
    range: coveringRange(
      granularity,
      new Date(Math.min(...some.map(({ range }) => Date.parse(range.from)))),
      new Date(Math.max(...some.map(({ range }) => Date.parse(range.to)))),
    ),
    dimensions: [...new Set(some.flatMap(({ dimensions }) => dimensions))],
  }));
};
