import type { Period } from '../calendar/periods.ts';
import { coveringRange, type Range } from '../calendar/range.ts';
import { DAY_MS } from '../calendar/units.ts';
import { allocationIn, type SpendDimensionName } from '../spend/dimensions.ts';
import { type BoundEvaluator, evaluatorOf, type RuleCondition } from './rule.ts';
import { filteredBy } from './spend-series.ts';

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

/** What rules are judged by together: the same granularity, and the same allocation dimension, or none. */
export const judgedTogether = ({ granularity, filter }: Pick<BoundEvaluator, 'granularity' | 'filter'>): string =>
  [granularity, allocationIn(filteredBy(filter))].join();

/**
 * The queries that serve all of an account's rules, by judgedTogether: at most one by hour and one by day, and as many for each allocation
 * dimension that rules filter by.
 */
export const spendQueriesFor = (
  conditions: readonly RuleCondition[],
  now: Date,
  judgedUntil = now,
): ReadonlyMap<string, SpendQuery> => {
  const needs = conditions.map(evaluatorOf).flatMap((evaluator) => {
    const first = evaluator.periodsToJudge(now, judgedUntil).at(-1);
    return first === undefined ? [] : [{ evaluator, range: rangeToJudge(evaluator, first, now) }];
  });
  const queryOf = (some: typeof needs): SpendQuery => ({
    range: coveringRange(
      (some[0] as (typeof needs)[number]).evaluator.granularity,
      new Date(Math.min(...some.map(({ range }) => Date.parse(range.from)))),
      new Date(Math.max(...some.map(({ range }) => Date.parse(range.to)))),
    ),
    dimensions: [...new Set(some.flatMap(({ evaluator }) => filteredBy(evaluator.filter)))],
  });
  return new Map(
    [...Map.groupBy(needs, ({ evaluator }) => judgedTogether(evaluator))].map(([name, some]) => [name, queryOf(some)]),
  );
};
