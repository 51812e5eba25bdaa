import { isKept, precedingSpan, spanOf } from '../../domain/calendar/range.ts';
import { ValidationError } from '../../domain/errors.ts';
import { CounterOverflowError } from '../../domain/spend/counters.ts';
import type { SpendDimensionName } from '../../domain/spend/dimensions.ts';
import { type ReadCells, spendReport, sumsOf, totalOf } from '../../domain/spend/spend-report.ts';
import { type UntrackedSpan, untrackedGaps } from '../../domain/spend/tracking-gaps.ts';
import type { Implementation } from '../../http/operation.ts';
import type { readSpend as operation } from './operations.ts';
import { dimensionOf, filterOf } from './spend-query.ts';

interface SpendDependencies {
  readonly readCells: ReadCells;
  /** Reports of requests that could not be tracked. */
  readonly readUntracked: (
    accountId: string,
    span: { readonly from: string; readonly to: string },
  ) => Promise<UntrackedSpan[]>;
  readonly now: () => Date;
}

/** The API calls the id of a service key `key`. */
const renamed = <G extends { keyId?: string | null }>({ keyId, ...rest }: G) => ({
  ...rest,
  ...(keyId !== undefined && { key: keyId }),
});

/** JSON's numbers are exact up to 2^53, which is 9 million USD in nano-USD. More is refused rather than rounded. */
const unlessTooLarge = async <T, U>(sums: Promise<T>, otherwise: () => U): Promise<T | U> => {
  try {
    return await sums;
  } catch (error) {
    if (error instanceof CounterOverflowError) return otherwise();
    throw error;
  }
};

const refused = (): never => {
  const message = 'the sum is too large to be told exactly (9 million USD): narrow the span, or filter';
  throw new ValidationError([{ path: 'from', message }]);
};

export const readSpend =
  ({ readCells, readUntracked, now }: SpendDependencies): Implementation<typeof operation> =>
  async ({ caller: { accountId }, query }) => {
    const span = spanOf(query, now());
    const filter = filterOf(query);
    const groupBy = [...new Set(query.groupBy)];
    const filtered = Object.keys(filter) as SpendDimensionName[];
    const dimensions = [...new Set([...groupBy.map(dimensionOf), ...filtered])];
    const before = precedingSpan(span);
    const reading = spendReport(readCells(accountId, span, dimensions), {
      span,
      groupBy: groupBy.map(dimensionOf),
      filter,
      limit: query.limit,
    });
    const readingBefore = async () =>
      isKept(before, now()) ? sumsOf(await totalOf(readCells(accountId, before, filtered), filter)) : null;
    const [report, previous, untracked] = await Promise.all([
      unlessTooLarge(reading, refused),
      unlessTooLarge(readingBefore(), () => null),
      readUntracked(accountId, span),
    ]);
    return {
      from: span.from,
      to: span.to,
      granularity: span.granularity,
      groupBy,
      ...report,
      previous: previous && { from: before.from, to: before.to, totals: previous },
      groups: report.groups.map(renamed),
      untracked: untrackedGaps(untracked),
      series: report.series.map((point) => ({ ...point, groups: point.groups.map(renamed) })),
    };
  };
