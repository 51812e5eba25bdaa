import type { BillingPeriod } from '../../domain/billing/subscription.ts';
import { isKept, type Range } from '../../domain/calendar/range.ts';
import { endOf, monthOf, startOf, startOfNext } from '../../domain/calendar/utc.ts';
import { openSpend } from '../spend/spend.ts';
import { openSpendCounters } from '../spend/spend-counters.ts';
import type { Table } from '../table/table.ts';

/**
 * Counts the tracked requests of a billing period so far. A calendar month has one counter. Any other period is summed by whole hours: it
 * includes the hour in which it begins, and not the one in which it ends. Where these hours are no longer kept, it begins with the day.
 */
export const openPeriodUsage = (table: Table) => {
  const spendCounters = openSpendCounters(table);
  const spend = openSpend(table);

  return async (accountId: string, { start, end }: BillingPeriod, now: Date): Promise<number> => {
    const month = monthOf(start);
    const isCalendarMonth = start === `${month}-01T00:00:00.000Z` && end === endOf(month).toISOString();
    if (isCalendarMonth) return spendCounters.trackedRequests(accountId, month);

    const endHour = startOf('hour', new Date(end));
    const tomorrow = startOfNext('day', now);
    const rangeFrom = (granularity: 'hour' | 'day'): Range => ({
      granularity: 'month',
      from: startOf(granularity, new Date(start)).toISOString(),
      to: (endHour < tomorrow ? endHour : tomorrow).toISOString(),
    });
    const hours = rangeFrom('hour');
    const range = isKept(hours, now) ? hours : rangeFrom('day');
    let requests = 0;
    for await (const { counters } of spend.read({ accountId, range, groupBy: [] })) requests += counters.requests ?? 0;
    return requests;
  };
};

export type PeriodUsage = ReturnType<typeof openPeriodUsage>;
