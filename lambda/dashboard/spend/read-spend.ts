import { comparedPeriods, type Period } from '../../domain/calendar/compared-periods.ts';
import { isKept, precedingRange, rangeOf } from '../../domain/calendar/range.ts';
import { invalid } from '../../domain/errors.ts';
import { CounterOverflowError, ifExact } from '../../domain/spend/counters.ts';
import type { SpendDimensionName } from '../../domain/spend/dimensions.ts';
import { describeCurrency } from '../../domain/spend/display-currency.ts';
import { periodSums, spendChange } from '../../domain/spend/spend-change.ts';
import { spendCsv } from '../../domain/spend/spend-csv.ts';
import type { ReadCounters } from '../../domain/spend/spend-question.ts';
import { spendReport, totalOf } from '../../domain/spend/spend-report.ts';
import { type ReadTrackingGaps, trackingGaps } from '../../domain/spend/tracking-gaps.ts';
import type { Implementation } from '../../http/operation.ts';
import type * as operations from './operations.ts';
import { type QuestionDependencies, questionOf, withApiNames } from './spend-query.ts';

export interface SpendDependencies extends QuestionDependencies {
  readonly readCounters: ReadCounters;
  readonly readTrackingGaps: ReadTrackingGaps;
  readonly now: () => Date;
}

/** JSON numbers are exact up to 2^53, which is 9 million USD in nano-USD. Larger sums are rejected, not rounded. */
const ifTooLarge =
  <T>(otherwise: () => T) =>
  (error: unknown): T => {
    if (error instanceof CounterOverflowError) return otherwise();
    throw error;
  };

const rejectTooLarge = (): never => {
  throw invalid('from', 'the sum is too large to be exact (9 million USD): narrow the range, or filter');
};

export const readSpend =
  (dependencies: SpendDependencies): Implementation<typeof operations.readSpend> =>
  async ({ caller, query }) => {
    const { readCounters, readTrackingGaps, now } = dependencies;
    const range = rangeOf(query, now());
    const asked = await questionOf(dependencies, caller, query);
    const before = precedingRange(range);
    const question = { ...asked, range, latency: query.latency === 'true' };
    const questionBefore = { ...question, range: before, groupBy: [] };
    const reading = spendReport(readCounters(question), {
      ...question,
      limit: query.limit,
      seriesLimit: query.seriesLimit,
    });
    const readingBefore = async () =>
      isKept(before, now()) ? await totalOf(readCounters(questionBefore), questionBefore) : null;
    const [report, previous, untracked] = await Promise.all([
      reading.catch(ifTooLarge(rejectTooLarge)),
      readingBefore().catch(ifTooLarge(() => null)),
      readTrackingGaps(caller.accountId, range),
    ]);
    return {
      from: range.from,
      to: range.to,
      granularity: range.granularity,
      timeZone: range.timeZone ?? 'UTC',
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

/** Why spend changed between two periods. What the API, MCP tools and pages show of a change is read here. */
export const compareSpend =
  (dependencies: SpendDependencies): Implementation<typeof operations.compareSpend> =>
  async ({ caller, query }) => {
    const { readCounters, readTrackingGaps, now } = dependencies;
    const periods = comparedPeriods(query, now());
    const asked = await questionOf(dependencies, caller, query);
    const { filter, groupBy, currency } = asked;
    const question = { ...asked, groupBy: [...groupBy, 'provider', 'model'] as const };
    const read = async (period: Period) => {
      const counters = readCounters({ ...question, range: { granularity: 'day', ...period } });
      const [sums, reports] = await Promise.all([
        periodSums(counters, { groupBy, filter }).catch(ifTooLarge(rejectTooLarge)),
        readTrackingGaps(caller.accountId, period),
      ]);
      const { mayAlsoMatch } = sums;
      return { sums, shown: { ...period, mayAlsoMatch, untrackedRequests: trackingGaps(reports).requests } };
    };
    const [current, before] = await Promise.all([read(periods.now), read(periods.before)]);
    const change =
      ifExact(() => spendChange(before.sums, current.sums, groupBy, query.limit, currency)) ?? rejectTooLarge();
    return {
      ...current.shown,
      before: before.shown,
      cost: query.cost,
      displayCurrency: currency?.code ?? null,
      groupBy: [...new Set(query.groupBy)],
      ...change,
      groups: change.groups.map(withApiNames),
    };
  };

const columns: Partial<Record<SpendDimensionName, string>> = { keyId: 'key', providerKey: 'provider_key' };

/** Column name of a dimension: `model`, `client`, `dim:team`. */
const columnOf = (name: SpendDimensionName): string => columns[name] ?? name;

export const exportSpend =
  (dependencies: Omit<SpendDependencies, 'readTrackingGaps'>): Implementation<typeof operations.exportSpend> =>
  async ({ caller, query }) => {
    const { readCounters, now } = dependencies;
    const range = rangeOf(query, now());
    const asked = await questionOf(dependencies, caller, query);
    const question = { ...asked, range, latency: query.latency === 'true' };
    return spendCsv(readCounters(question), question, columnOf);
  };
