import type { BillingPeriod } from '../../domain/billing/billing-period.ts';
import { isKept } from '../../domain/calendar/range.ts';
import { addDays, dayOf, endOf, hourOf, monthOf } from '../../domain/calendar/utc.ts';
import type { SpendCounter } from '../../domain/spend/counters.ts';
import { openSpend } from '../spend/spend.ts';
import { openSpendCounters } from '../spend/spend-counters.ts';
import type { Table } from '../table/table.ts';

const requestsIn = async (cells: AsyncIterable<SpendCounter>): Promise<number> => {
  let requests = 0;
  for await (const { counters } of cells) requests += counters.requests ?? 0;
  return requests;
};

/**
 * Tracked requests of a billing period so far. A whole calendar month is one counter. Any other period is summed from the
 * ledger's cells: its first day from hour cells, the days after from summaries and today's cells. The ledger knows no finer
 * time than the hour, so the hour in which a period begins counts whole; a period that began before hour cells are kept counts
 * its first day whole.
 */
export const openPeriodUsage = (table: Table) => {
  const cells = openSpendCounters(table);
  const spend = openSpend(table);

  return async (accountId: string, { start, end }: BillingPeriod, now: Date): Promise<number> => {
    const month = monthOf(start);
    const isCalendarMonth = start === `${month}-01T00:00:00.000Z` && end === endOf(month).toISOString();
    if (isCalendarMonth) return cells.trackedRequests(accountId, month);

    const firstDay = dayOf(start);
    const hasHours = isKept({ granularity: 'hour', from: start }, now);
    const from = `${hasHours ? addDays(firstDay, 1) : firstDay}T00:00:00.000Z`;
    const to = new Date(Math.min(now.getTime() + 1, Date.parse(end))).toISOString();
    const counts = await Promise.all([
      hasHours ? requestsIn(cells.hours(accountId, hourOf(start), `${firstDay}T23`)) : 0,
      from < to ? requestsIn(spend.read(accountId, { granularity: 'month', from, to }, [])) : 0,
    ]);
    return counts[0] + counts[1];
  };
};

export type PeriodUsage = ReturnType<typeof openPeriodUsage>;
