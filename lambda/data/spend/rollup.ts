import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { isMonth, lastDayOf, type Month, monthOf } from '../../domain/calendar/utc.ts';
import { type SummaryCell, summarize } from '../../domain/spend/summary.ts';
import { markUnsealed, removeMark, type UnsealedMark, unsealedPeriods } from '../ledger/rollup-marks.ts';
import { sealedPrefix, spendPartition, timeRange } from '../table/keys.ts';
import { itemsBetween } from '../table/query-items.ts';
import type { Table } from '../table/table.ts';
import { hourItems } from './hour-pages.ts';
import { spendCellRepository } from './spend-counters.ts';
import { openPages, readCells, summaryItems } from './summary-pages.ts';

/**
 * `changed`: something was recorded in the period meanwhile; it is still marked. `waiting`: a month with days that are not
 * sealed; its turn comes when they are.
 */
export type SealResult = 'sealed' | 'changed' | 'waiting';

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
export const openSeals = (table: Table, now: () => number = Date.now) => {
  const cells = spendCellRepository(table);

  const put = async (mark: UnsealedMark, summed: readonly SummaryCell[], hours: Items = []): Promise<SealResult> => {
    const { accountId, period } = mark;
    const items = [...summaryItems(accountId, isMonth(period) ? 'MONTH' : 'DAY', period, summarize(summed)), ...hours];
    try {
      await table.client.send(
        new TransactWriteCommand({
          TransactItems: [
            removeMark(table.name, mark),
            ...items.map((Item) => ({ Put: { TableName: table.name, Item } })),
            ...(isMonth(period) ? [] : [markUnsealed(table.name, accountId, monthOf(period), now())]),
          ],
        }),
      );
      return 'sealed';
    } catch (error) {
      if (isOvertaken(error)) return 'changed';
      throw error;
    }
  };

  const sealDay = async (mark: UnsealedMark): Promise<SealResult> => {
    const { accountId, period: day } = mark;
    const consistent = { consistent: true };
    const [ofDay, ofHours] = await Promise.all([
      all(cells.days(accountId, day, day, consistent)),
      all(cells.hours(accountId, `${day}T00`, `${day}T23`, consistent)),
    ]);
    return put(mark, ofDay, hourItems(accountId, day, ofHours));
  };

  const sealMonth = async (mark: UnsealedMark): Promise<SealResult> => {
    const month: Month = mark.period;
    const marked = await unsealedPeriods(table, mark.accountId, month, lastDayOf(month));
    if (marked.some((period) => !isMonth(period))) return 'waiting';
    const range = timeRange(sealedPrefix('CELLS', 'DAY'), month, lastDayOf(month));
    const days: SummaryCell[] = [];
    const items = itemsBetween(table, spendPartition(mark.accountId), range, { ConsistentRead: true });
    for await (const page of openPages(items)) days.push(...readCells(page));
    return put(mark, days);
  };

  /** Seals what a mark stands for; the mark must have been read before. */
  return (mark: UnsealedMark): Promise<SealResult> => (isMonth(mark.period) ? sealMonth(mark) : sealDay(mark));
};
