import type { BillingPeriod } from '../../domain/billing/billing-period.ts';
import { isKept } from '../../domain/calendar/range.ts';
import { addDays, dayOf, endOf, hourOf, monthOf } from '../../domain/calendar/utc.ts';
import type { SpendCounter } from '../../domain/spend/counters.ts';
import { openSpend } from '../spend/spend.ts';
import { openSpendCounters } from '../spend/spend-counters.ts';
import type { Table } from '../table/table.ts';

const requestsIn = async (spendCounters: AsyncIterable<SpendCounter>): Promise<number> => {
  let requests = 0;
  for await (const { counters } of spendCounters) requests += counters.requests ?? 0;
  return requests;
};

/**
 * Counts the tracked requests of a billing period so far. A calendar month has one counter. Any other period is summed from
 * spend counters: hour counters for its first day, rollups and today's counters for the later days. The hour is the finest
 * granularity, so the whole hour in which a period begins is included; if its hour counters have expired, the whole first day is.
 */
export const openPeriodUsage = (table: Table) => {
  const spendCounters = openSpendCounters(table);
  const spend = openSpend(table);

  return async (accountId: string, { start, end }: BillingPeriod, now: Date): Promise<number> => {
    const month = monthOf(start);
    const isCalendarMonth = start === `${month}-01T00:00:00.000Z` && end === endOf(month).toISOString();
    if (isCalendarMonth) return spendCounters.trackedRequests(accountId, month);

    const firstDay = dayOf(start);
    const hasHours = isKept({ granularity: 'hour', from: start }, now);
    const from = `${hasHours ? addDays(firstDay, 1) : firstDay}T00:00:00.000Z`;
    const to = new Date(Math.min(now.getTime() + 1, Date.parse(end))).toISOString();
    const counts = await Promise.all([
      hasHours ? requestsIn(spendCounters.hours(accountId, hourOf(start), `${firstDay}T23`)) : 0,
      from < to ? requestsIn(spend.read(accountId, { granularity: 'month', from, to }, [])) : 0,
    ]);
    return counts[0] + counts[1];
  };
};

export type PeriodUsage = ReturnType<typeof openPeriodUsage>;
