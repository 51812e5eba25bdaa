import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { isMonth, lastDayOf, type Month, monthOf } from '../../domain/calendar/utc.ts';
import { type SummaryCounter, summarize } from '../../domain/spend/summary.ts';
import { markForRollup, periodsToRollUp, type RollupMark, removeRollupMark } from '../ledger/rollup-marks.ts';
import { spendPartition, summaryPrefix, timeRange } from '../table/keys.ts';
import { itemsBetween } from '../table/query-items.ts';
import type { Table } from '../table/table.ts';
import { hourItems } from './hour-pages.ts';
import { openSpendCounters } from './spend-counters.ts';
import { openPages, readCounters, summaryItems } from './summary-pages.ts';

/**
 * `changed`: something was recorded in the period meanwhile; it is still marked. `waiting`: a month with days that are not
 * sealed; its turn comes when they are.
 */
export type RollupResult = 'sealed' | 'changed' | 'waiting';

type Items = readonly Record<string, unknown>[];

const all = async <T>(values: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = [];
  for await (const value of values) found.push(value);
  return found;
};

/** A writer came between: its mark stands, and the next run sees what it wrote. */
const isOvertaken = (error: unknown): boolean =>
  error instanceof TransactionCanceledException &&
  (error.CancellationReasons ?? []).every(({ Code }) =>
    ['None', 'ConditionalCheckFailed', 'TransactionConflict'].includes(Code ?? ''),
  );

/**
 * Makes the summaries of closed days, of their hours, and of closed months. A summary, the end of its mark and (of a day) the mark of its month are one
 * transaction, so that at any moment an unmarked period's summary says what its cells say.
 */
export const openRollup = (table: Table, now: () => number = Date.now) => {
  const cells = openSpendCounters(table);

  const put = async (mark: RollupMark, summed: readonly SummaryCounter[], hours: Items = []): Promise<RollupResult> => {
    const { accountId, period } = mark;
    const items = [...summaryItems(accountId, isMonth(period) ? 'MONTH' : 'DAY', period, summarize(summed)), ...hours];
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
      return 'sealed';
    } catch (error) {
      if (isOvertaken(error)) return 'changed';
      throw error;
    }
  };

  const rollUpDay = async (mark: RollupMark): Promise<RollupResult> => {
    const { accountId, period: day } = mark;
    const consistent = { consistent: true };
    const [ofDay, ofHours] = await Promise.all([
      all(cells.days(accountId, day, day, consistent)),
      all(cells.hours(accountId, `${day}T00`, `${day}T23`, consistent)),
    ]);
    return put(mark, ofDay, hourItems(accountId, day, ofHours));
  };

  const rollUpMonth = async (mark: RollupMark): Promise<RollupResult> => {
    const month: Month = mark.period;
    const marked = await periodsToRollUp(table, mark.accountId, month, lastDayOf(month));
    if (marked.some((period) => !isMonth(period))) return 'waiting';
    const range = timeRange(summaryPrefix('CELLS', 'DAY'), month, lastDayOf(month));
    const days: SummaryCounter[] = [];
    const items = itemsBetween(table, spendPartition(mark.accountId), range, { ConsistentRead: true });
    for await (const page of openPages(items)) days.push(...readCounters(page));
    return put(mark, days);
  };

  /** Seals what a mark stands for; the mark must have been read before. */
  return (mark: RollupMark): Promise<RollupResult> => (isMonth(mark.period) ? rollUpMonth(mark) : rollUpDay(mark));
};
