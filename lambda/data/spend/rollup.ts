import { dayOf, isMonth, lastDayOf, type Month, monthOf } from '../../domain/calendar/utc.ts';
import type { SpendCounter } from '../../domain/spend/counters.ts';
import { declaredDuring, declaredName } from '../../domain/spend/declared-dimensions.ts';
import type { AllocationName } from '../../domain/spend/dimensions.ts';
import { bounded, boundedAllocation, summarize, summarizeAllocation } from '../../domain/spend/summary.ts';
import { withUnknownValues } from '../../domain/spend/unknown-values.ts';
import { openDeclaredDimensions } from '../accounts/declared-dimensions.ts';
import { requestExport } from '../exports/day-exports.ts';
import {
  closeDay,
  markForRollup,
  openRollupMarks,
  type RollupMark,
  removeRollupMark,
  requireRollupMark,
} from '../ledger/rollup-marks.ts';
import { put } from '../table/actions.ts';
import type { Table } from '../table/table.ts';
import { cancellationCodes, withTable } from '../table/write.ts';
import { allocationHourItems, hourItems } from './hour-pages.ts';
import { openSpendCounters } from './spend-counters.ts';
import { allocationItems, readAllocations, readCrosses, readPages, summaryItems } from './summary-pages.ts';

/**
 * `changed`: a request was recorded in the period meanwhile, so it is still marked. `waiting`: a month with days that are not rolled up
 * yet.
 */
type RollupResult = 'rolled-up' | 'changed' | 'waiting';

type Items = readonly (Record<string, unknown> & { readonly data: Buffer })[];

/** Limits of a transaction: 100 actions and 4 MB. The rest is room for the actions on marks and the export, and for keys. */
const MAX_ITEMS = 97;
const MAX_BYTES = 3_500_000;

/** Splits items into parts that each fit a transaction. */
const partsOf = (items: Items): Items[] => {
  const parts: Items[number][][] = [[]];
  let bytes = 0;
  for (const item of items) {
    if (bytes + item.data.length > MAX_BYTES || parts.at(-1)?.length === MAX_ITEMS) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)?.push(item);
    bytes += item.data.length;
  }
  return parts;
};

/** Another writer was faster. Its mark stays, and the next run reads what it wrote. */
const isOvertaken = (error: unknown): boolean =>
  cancellationCodes(error)?.every((code) => ['None', 'ConditionalCheckFailed', 'TransactionConflict'].includes(code)) ??
  false;

/**
 * Writes the summaries of closed days, of their hours, and of closed months. One transaction writes a summary, removes its mark and (for
 * a day) marks its month and requests its export, so that at any moment the summary of an unmarked period equals its counters. What does not fit is written
 * before, while the mark is still the same one: until it is removed, nobody reads the summary.
 */
export const openRollup = (table: Table, now: () => number = Date.now) => {
  const spendCounters = openSpendCounters(table);
  const marks = openRollupMarks(table);
  const declaredDimensions = openDeclaredDimensions(table);

  const store = async (mark: RollupMark, items: Items): Promise<RollupResult> => {
    const { accountId, period } = mark;
    const parts = partsOf(items);
    try {
      for (const [index, part] of parts.entries()) {
        const isLast = index === parts.length - 1;
        await table.call('TransactWriteItems', {
          TransactItems: [
            isLast ? removeRollupMark(mark) : requireRollupMark(mark),
            ...part.map((item) => put(item)),
            ...(isMonth(period) || !isLast
              ? []
              : [markForRollup(accountId, monthOf(period), now()), requestExport(accountId, period, now())]),
          ].map((action) => withTable(table.name, action)),
        });
      }
      return 'rolled-up';
    } catch (error) {
      if (isOvertaken(error)) return 'changed';
      throw error;
    }
  };

  /** A day and its hours by an allocation dimension. */
  const allocationOfDay = async (
    { accountId, period: day, nonce }: RollupMark,
    allocation: AllocationName,
    { ofDay, ofHours, isDeclared }: { ofDay: SpendCounter[]; ofHours: SpendCounter[]; isDeclared: boolean },
  ): Promise<Items> => {
    const counted = await Array.fromAsync(
      spendCounters.allocationHours(accountId, allocation, `${day}T00`, `${day}T23`),
    );
    // Where it is declared, an earlier summary of the day must not stay, even if nothing is counted any more.
    if (counted.length === 0 && !isDeclared) return [];
    const rows = (crosses: SpendCounter[], bucketOf: (time: string) => string) =>
      withUnknownValues({ crosses, counted }, allocation, bucketOf);
    const crosses = summarizeAllocation(rows(ofDay, dayOf), allocation);
    const hours = rows(ofHours, (hour) => hour);
    return [
      ...allocationItems({ accountId, granularity: 'DAY', period: day, version: nonce }, allocation, crosses),
      ...allocationHourItems(accountId, day, allocation, hours, nonce),
    ];
  };

  const rollUpDay = async (mark: RollupMark): Promise<RollupResult> => {
    const { accountId, period: day } = mark;
    await closeDay(table, accountId, day);
    const consistent = { consistent: true };
    const [ofDay, ofHours] = await Promise.all([
      Array.fromAsync(spendCounters.days(accountId, day, day, consistent)),
      Array.fromAsync(spendCounters.hours(accountId, `${day}T00`, `${day}T23`, consistent)),
    ]);
    const client = await allocationOfDay(mark, 'client', { ofDay, ofHours, isDeclared: true });
    const declared: Items[] = [];
    for (const dimension of await declaredDimensions.find(accountId)) {
      const isDeclared = declaredDuring(dimension, day);
      declared.push(await allocationOfDay(mark, declaredName(dimension.name), { ofDay, ofHours, isDeclared }));
    }
    return store(mark, [
      ...client,
      ...declared.flat(),
      ...summaryItems({ accountId, granularity: 'DAY', period: day, version: mark.nonce }, summarize(ofDay)),
      ...hourItems(accountId, day, ofHours, mark.nonce),
    ]);
  };

  /** A month by an allocation dimension, from its days. Those without a summary are from before it was counted. */
  const allocationOfMonth = async (
    { accountId, period: month, nonce }: RollupMark,
    allocation: AllocationName,
    crossesByDay: readonly SpendCounter[],
  ): Promise<Items> => {
    const counted: SpendCounter[] = [];
    for await (const page of readPages(table, accountId, allocation, 'DAY', { from: month, to: lastDayOf(month) }))
      for (const each of readAllocations(page, allocation)) counted.push(each);
    if (counted.length === 0) return [];
    const days = new Set(counted.map(({ time }) => time));
    const crosses = crossesByDay.filter(({ time }) => !days.has(time));
    const rows = withUnknownValues({ crosses, counted }, allocation, dayOf);
    const bound = boundedAllocation(summarizeAllocation(rows, allocation), allocation);
    return allocationItems({ accountId, granularity: 'MONTH', period: month, version: nonce }, allocation, bound);
  };

  const rollUpMonth = async (mark: RollupMark): Promise<RollupResult> => {
    const month: Month = mark.period;
    const marked = await marks.markedPeriods(mark.accountId, month, lastDayOf(month));
    if (marked.some((period) => !isMonth(period))) return 'waiting';
    const days: SpendCounter[] = [];
    for await (const page of readPages(table, mark.accountId, 'CELLS', 'DAY', { from: month, to: lastDayOf(month) }))
      for (const each of readCrosses(page)) days.push(each);
    const declared = (await declaredDimensions.find(mark.accountId)).map(({ name }) => declaredName(name));
    const allocations: Items[] = [];
    for (const name of ['client', ...declared] as const) allocations.push(await allocationOfMonth(mark, name, days));
    const of = { accountId: mark.accountId, granularity: 'MONTH', period: month, version: mark.nonce } as const;
    return store(mark, [...allocations.flat(), ...summaryItems(of, bounded(summarize(days)))]);
  };

  return {
    /** Rolls up the period of a mark that was read from the table. */
    rollUp: (mark: RollupMark): Promise<RollupResult> => (isMonth(mark.period) ? rollUpMonth(mark) : rollUpDay(mark)),
  };
};

export type Rollup = ReturnType<typeof openRollup>;
