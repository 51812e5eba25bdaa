import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { isMonth, lastDayOf, type Month, monthOf } from '../../domain/calendar/utc.ts';
import { bounded, type SummaryCross, summarize } from '../../domain/spend/summary.ts';
import { closeDay, markForRollup, openRollupMarks, type RollupMark, removeRollupMark } from '../ledger/rollup-marks.ts';
import type { Table } from '../table/table.ts';
import { hourItems } from './hour-pages.ts';
import { openSpendCounters } from './spend-counters.ts';
import { readCrosses, readPages, summaryItems } from './summary-pages.ts';

/**
 * `changed`: a request was recorded in the period meanwhile, so it is still marked. `waiting`: a month with days that are not rolled up
 * yet.
 */
type RollupResult = 'rolled-up' | 'changed' | 'waiting';

type Items = readonly Record<string, unknown>[];

const all = async <T>(values: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = [];
  for await (const value of values) found.push(value);
  return found;
};

/** Another writer was faster. Its mark stays, and the next run reads what it wrote. */
const isOvertaken = (error: unknown): boolean =>
  error instanceof TransactionCanceledException &&
  (error.CancellationReasons ?? []).every(({ Code }) =>
    ['None', 'ConditionalCheckFailed', 'TransactionConflict'].includes(Code ?? ''),
  );

/**
 * Writes the summaries of closed days, of their hours, and of closed months. One transaction writes a summary, removes its mark and (for
 * a day) marks its month, so that at any moment the summary of an unmarked period equals its counters.
 */
export const openRollup = (table: Table, now: () => number = Date.now) => {
  const spendCounters = openSpendCounters(table);
  const marks = openRollupMarks(table);

  const put = async (mark: RollupMark, crosses: readonly SummaryCross[], hours: Items = []): Promise<RollupResult> => {
    const { accountId, period } = mark;
    const summary = summarize(crosses);
    const pages = isMonth(period)
      ? summaryItems(accountId, 'MONTH', period, bounded(summary), mark.nonce)
      : summaryItems(accountId, 'DAY', period, summary, mark.nonce);
    const items = [...pages, ...hours];
    try {
      await table.client.send(
        new TransactWriteCommand({
          TransactItems: [
            removeRollupMark(table.name, mark),
            ...items.map((Item) => ({ Put: { TableName: table.name, Item } })),
            ...(isMonth(period) ? [] : [markForRollup(table.name, accountId, monthOf(period), now())]),
          ],
        }),
      );
      return 'rolled-up';
    } catch (error) {
      if (isOvertaken(error)) return 'changed';
      throw error;
    }
  };

  const rollUpDay = async (mark: RollupMark): Promise<RollupResult> => {
    const { accountId, period: day } = mark;
    await closeDay(table, accountId, day);
    const consistent = { consistent: true };
    const [ofDay, ofHours] = await Promise.all([
      all(spendCounters.days(accountId, day, day, consistent)),
      all(spendCounters.hours(accountId, `${day}T00`, `${day}T23`, consistent)),
    ]);
    return put(mark, ofDay, hourItems(accountId, day, ofHours, mark.nonce));
  };

  const rollUpMonth = async (mark: RollupMark): Promise<RollupResult> => {
    const month: Month = mark.period;
    const marked = await marks.markedPeriods(mark.accountId, month, lastDayOf(month));
    if (marked.some((period) => !isMonth(period))) return 'waiting';
    const days: SummaryCross[] = [];
    for await (const page of readPages(table, mark.accountId, 'CELLS', 'DAY', { from: month, to: lastDayOf(month) }))
      days.push(...readCrosses(page));
    return put(mark, days);
  };

  return {
    /** Rolls up the period of a mark that was read from the table. */
    rollUp: (mark: RollupMark): Promise<RollupResult> => (isMonth(mark.period) ? rollUpMonth(mark) : rollUpDay(mark)),
  };
};

export type Rollup = ReturnType<typeof openRollup>;
