import pMap from 'p-map';
import * as z from 'zod/mini';
import type { Day } from '../../domain/calendar/utc.ts';
import type { Bill } from '../../domain/reconciliation/bill.ts';
import { put } from '../table/actions.ts';
import { type Bounds, billKey } from '../table/keys.ts';
import { itemsBetween } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { write } from '../table/write.ts';

const count = z.int().check(z.nonnegative());
const storedDay = z.object({
  day: z.iso.date(),
  readAt: z.iso.datetime(),
  lines: z.array(
    z.object({
      item: z.string(),
      model: z.nullable(z.string()),
      amountNanoUsd: z.int(),
    }),
  ),
  usage: z.array(
    z.object({
      model: z.string(),
      tokens: z.object({ input: count, cacheRead: count, cacheWrite: count, output: count }),
      requests: z.nullable(count),
    }),
  ),
});

const WRITES_AT_A_TIME = 8;

/** A bill, and when each day of it was read: providers correct a day for some days after it. */
export interface StoredBill extends Bill {
  readonly readAt: ReadonlyMap<Day, string>;
}

/** Bills of providers, by day. */
export const openBills = (table: Table) => ({
  /** Stores the days that the bill has lines or usage of. What was stored of such a day is replaced. */
  replace: async (accountId: string, provider: string, bill: Bill, readAt: string): Promise<readonly Day[]> => {
    const days = [...new Set([...bill.lines, ...bill.usage].map(({ day }) => day))].sort();
    const ofDay = <T extends { readonly day: Day }>(all: readonly T[], day: Day) =>
      all.filter((each) => each.day === day).map(({ day: _, ...rest }) => rest);
    await pMap(
      days,
      (day) =>
        write(
          table,
          put({
            ...billKey(accountId, provider, day),
            day,
            readAt,
            lines: ofDay(bill.lines, day),
            usage: ofDay(bill.usage, day),
          }),
        ),
      { concurrency: WRITES_AT_A_TIME },
    );
    return days;
  },

  /** @param range first and last day */
  read: async (accountId: string, provider: string, range: Bounds): Promise<StoredBill> => {
    const { pk, sk: from } = billKey(accountId, provider, range.from);
    const { sk: to } = billKey(accountId, provider, range.to);
    const bill = {
      lines: [] as Bill['lines'][number][],
      usage: [] as Bill['usage'][number][],
      readAt: new Map<Day, string>(),
    };
    for await (const item of itemsBetween(table, pk, { from, to })) {
      const { day, readAt, lines, usage } = storedDay.parse(item);
      bill.readAt.set(day, readAt);
      bill.lines.push(...lines.map((line) => ({ ...line, day })));
      bill.usage.push(...usage.map((each) => ({ ...each, day })));
    }
    return bill;
  },
});

export type Bills = ReturnType<typeof openBills>;
