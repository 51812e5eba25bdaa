import type { Period } from '../calendar/periods.ts';
import { coveringRange, type Range } from '../calendar/range.ts';
import { DAY_MS, HOUR_MS } from '../calendar/units.ts';
import { allocationIn } from '../spend/dimensions.ts';
import type { ReadCounters, SpendQuestion } from '../spend/spend-question.ts';
import type { BoundEvaluator } from './rule.ts';
import type { spendSeries } from './spend-series.ts';

/**
 * Until when spend is read to judge rules now. Clocks differ: a request may have begun in a period's next day already. An hour, not all of
 * the period: a budget may have a year of days to come.
 */
export const readUntil = (now: Date): Date => new Date(now.getTime() + HOUR_MS);

/** The range that a rule needs to judge the periods from `first` until now: its lookback comes before them. */
export const rangeToJudge = ({ granularity, lookbackDays }: BoundEvaluator, first: Period, now: Date): Range => {
  const from = new Date(Date.parse(first.start) - lookbackDays * DAY_MS);
  return coveringRange(granularity, from, readUntil(now));
};

/** Rules with the same name are judged together: the same granularity, and the same allocation dimension, or none. */
const judgedTogether = ({ granularity, readBy }: BoundEvaluator): string => [granularity, allocationIn(readBy)].join();

interface Judged {
  readonly evaluator: BoundEvaluator;
  readonly series: Pick<ReturnType<typeof spendSeries>, 'add'>;
}

/** The query that serves some rules; undefined where none has a period to judge. */
const queryFor = (
  evaluators: readonly BoundEvaluator[],
  now: Date,
  judgedUntil: Date,
): Pick<SpendQuestion, 'range' | 'groupBy'> | undefined => {
  const needs = evaluators.flatMap((evaluator) => {
    const first = evaluator.periodsToJudge(now, judgedUntil).at(-1);
    return first === undefined ? [] : [{ evaluator, range: rangeToJudge(evaluator, first, now) }];
  });
  if (needs[0] === undefined) return undefined;
  return {
    range: coveringRange(
      needs[0].evaluator.granularity,
      new Date(Math.min(...needs.map(({ range }) => Date.parse(range.from)))),
      new Date(Math.max(...needs.map(({ range }) => Date.parse(range.to)))),
    ),
    groupBy: [...new Set(needs.flatMap(({ evaluator }) => evaluator.readBy))],
  };
};

/**
 * Reads the spend that an account's rules are judged by into their series, each part once for all of them: at most one query by hour and
 * one by day, and as many for each allocation dimension that rules filter by.
 */
export const fillSeries = async (
  readCounters: ReadCounters,
  accountId: string,
  judged: readonly Judged[],
  now: Date,
  judgedUntil = now,
): Promise<void> => {
  await Promise.all(
    [...Map.groupBy(judged, ({ evaluator }) => judgedTogether(evaluator)).values()].map(async (together) => {
      const query = queryFor(
        together.map(({ evaluator }) => evaluator),
        now,
        judgedUntil,
      );
      if (query === undefined) return;
      for await (const counter of readCounters({ accountId, ...query }))
        for (const { series } of together) series.add(counter);
    }),
  );
};
