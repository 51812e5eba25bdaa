import { GetCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import type { Day, Hour, Month } from '../../domain/calendar/utc.ts';
import { type CounterName, CounterOverflowError, type Counters, isCounterName } from '../../domain/spend/counters.ts';
import type { SpendDimensions } from '../../domain/spend/dimensions.ts';
import { currentName } from '../../domain/spend/former-names.ts';
import { monthKey, parseSpendCounterSk, spendPartition, timeRange } from '../table/keys.ts';
import { itemsBetween } from '../table/query-items.ts';
import type { Table } from '../table/table.ts';

/** What one cross of dimensions came to in one hour or day. */
export interface SpendCounter {
  /** `2026-11-20` or `2026-11-20T16`, UTC. */
  readonly time: string;
  readonly dimensions: SpendDimensions;
  readonly counters: Counters;
}

const storedKey = z.object({ sk: z.string() });
/** The SDK hands out numbers past 2^53 as bigint. */
const storedCounter = z.union([z.int(), z.bigint()]);

const parseCounters = (item: Record<string, unknown>): Counters => {
  const counters: Partial<Record<CounterName, number>> = {};
  for (const [stored, value] of Object.entries(item)) {
    const name = currentName(stored);
    if (!isCounterName(name)) continue;
    const counter = storedCounter.parse(value);
    if (typeof counter === 'bigint') throw new CounterOverflowError(`Counter ${name} passed 2^53.`);
    if (counter !== 0) counters[name] = counter;
  }
  return counters;
};

const parseCell = (item: Record<string, unknown>): SpendCounter => ({
  ...parseSpendCounterSk(storedKey.parse(item).sk),
  counters: parseCounters(item),
});

async function* cells(
  table: Table,
  accountId: string,
  range: { readonly from: string; readonly to: string },
  consistent: boolean,
): AsyncGenerator<SpendCounter> {
  for await (const item of itemsBetween(table, spendPartition(accountId), range, { ConsistentRead: consistent })) {
    const cell = parseCell(item);
    // A cell whose requests were all moved elsewhere (a late close event named the model) is no cell any more.
    if (Object.keys(cell.counters).length > 0) yield cell;
  }
}

const storedMonth = z.object({ trackedRequests: z._default(z.int(), 0) });

/** Live counters, exact at any moment. For ranges of many days read spend.ts, which uses summaries of closed days. */
export const openSpendCounters = (table: Table) => ({
  /** Day cells of a range of days, both ends included, ascending by day. @throws CounterOverflowError */
  days: (accountId: string, from: Day, to: Day, options = { consistent: false }): AsyncIterable<SpendCounter> =>
    cells(table, accountId, timeRange('DAY', from, to), options.consistent),

  /** Hour cells of a range of hours, both ends included, ascending. They are kept for 90 days. @throws CounterOverflowError */
  hours: (accountId: string, from: Hour, to: Hour, options = { consistent: false }): AsyncIterable<SpendCounter> =>
    cells(table, accountId, timeRange('HOUR', from, to), options.consistent),

  /** Tracked requests of a calendar month (UTC). */
  trackedRequests: async (accountId: string, month: Month): Promise<number> => {
    const { Item } = await table.client.send(
      new GetCommand({ TableName: table.name, Key: monthKey(accountId, month) }),
    );
    return storedMonth.parse(Item ?? {}).trackedRequests;
  },
});
