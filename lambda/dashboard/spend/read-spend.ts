import { isKept, precedingRange, rangeOf } from '../../domain/calendar/range.ts';
import { ValidationError } from '../../domain/errors.ts';
import { CounterOverflowError } from '../../domain/spend/counters.ts';
import { describeCurrency } from '../../domain/spend/display-currency.ts';
import type { ReadCounters } from '../../domain/spend/spend-question.ts';
import { spendReport, totalOf } from '../../domain/spend/spend-report.ts';
import { type TrackingGap, trackingGaps } from '../../domain/spend/tracking-gaps.ts';
import type { Implementation } from '../../http/operation.ts';
import type { readSpend as operation } from './operations.ts';
import { type QuestionDependencies, questionOf, withApiNames } from './spend-query.ts';

export interface SpendDependencies extends QuestionDependencies {
  readonly readCounters: ReadCounters;
  /** Tracking gaps: reports of requests that could not be tracked. */
  readonly readTrackingGaps: (
    accountId: string,
    range: { readonly from: string; readonly to: string },
  ) => Promise<TrackingGap[]>;
  readonly now: () => Date;
}

/** JSON numbers are exact up to 2^53, which is 9 million USD in nano-USD. Larger sums are rejected, not rounded. */
export const ifExact = async <T, U>(sums: Promise<T>, otherwise: () => U): Promise<T | U> => {
  try {
    return await sums;
  } catch (error) {
    if (error instanceof CounterOverflowError) return otherwise();
    throw error;
  }
};

export const rejectTooLarge = (): never => {
  const message = 'the sum is too large to be exact (9 million USD): narrow the range, or filter';
  throw new ValidationError([{ path: 'from', message }]);
};

export const readSpend =
  ({ readCounters, readTrackingGaps, now, ...dependencies }: SpendDependencies): Implementation<typeof operation> =>
  async ({ caller: { accountId }, query }) => {
    const range = rangeOf(query, now());
    const asked = await questionOf(dependencies, accountId, query);
    const before = precedingRange(range);
    const question = { ...asked, range, latency: query.latency === 'true' };
    const questionBefore = { ...question, range: before, groupBy: [] };
    const reading = spendReport(readCounters(question), { ...question, limit: query.limit });
    const readingBefore = async () =>
      isKept(before, now()) ? await totalOf(readCounters(questionBefore), questionBefore) : null;
    const [report, previous, untracked] = await Promise.all([
      ifExact(reading, rejectTooLarge),
      ifExact(readingBefore(), () => null),
      readTrackingGaps(accountId, range),
    ]);
    return {
      from: range.from,
      to: range.to,
      granularity: range.granularity,
      cost: query.cost,
      displayCurrency: asked.currency && describeCurrency(asked.currency, range),
      groupBy: [...new Set(query.groupBy)],
      ...report,
      previous: previous && { from: before.from, to: before.to, ...previous },
      groups: report.groups.map(withApiNames),
      untracked: trackingGaps(untracked),
      series: report.series.map((point) => ({ ...point, groups: point.groups.map(withApiNames) })),
    };
  };
