import { dayIn } from '../../../lambda/domain/calendar/time-zones.ts';
import { useApi } from '../app.ts';
import { startInZone, utcDate } from '../format/time.ts';
import { type Filters, hasFilters, parametersOf } from '../spend/filters.ts';
import { monthOf, todayOf } from '../spend/headline.ts';
import { type ComparedPeriods, comparedMonth, comparedToday, monthStart, queryIn } from '../spend/ranges.ts';
import { inDaysOf, live, useSpend } from '../spend/use-spend.ts';

/**
 * A period against the one before it, as the API compares everywhere. Undefined until it is known, and in the first hour, of which nothing
 * whole has passed.
 */
export const useComparison = (periods: ComparedPeriods, filters: Filters) => {
  const query = useApi().useQuery(
    'get',
    '/spend/compare',
    { params: { query: { ...periods, limit: 1, ...parametersOf(filters) } } },
    live,
  );
  const { data, isPlaceholderData } = query;
  const isKnown = data && !isPlaceholderData && Date.parse(data.to) <= Date.now();
  return { query, change: isKnown ? data : undefined };
};

/** Today and this month, with the forecast, each against the period before it. */
export const useHeadline = (filters: Filters, zone: string) => {
  const now = new Date();
  const day = dayIn(zone, now);
  const { from: todayFrom } = queryIn(zone, { from: day });
  const of = parametersOf(filters);
  const hours = useSpend({ from: todayFrom, granularity: 'hour', ...of }, live);
  const { from: lastMonth, to: tonight } = queryIn(zone, { from: monthStart(day, 1), to: day });
  const wholeDays = { from: lastMonth, to: tonight, granularity: 'day', ...inDaysOf(zone), ...of } as const;
  const days = useSpend(wholeDays, live);
  const ofToday = useComparison(comparedToday(now, zone), filters);
  const ofMonth = useComparison(comparedMonth(now, zone), filters);
  const recentRequests = days.data?.totals.requests;
  const isSuspected = recentRequests === 0 && !hasFilters(filters);
  const yearAgo = utcDate(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 11, 1)));
  const year = useSpend({ from: yearAgo, granularity: 'month' }, { enabled: isSuspected });
  const today = hours.data && todayOf(hours.data, startInZone(zone, day));
  const month = days.data && monthOf(days.data, day, zone);
  const error = [hours, days, ofToday.query, ofMonth.query, year].find(({ isError }) => isError)?.error ?? null;
  return {
    today: today && { ...today, change: ofToday.change },
    month: month && { ...month, change: ofMonth.change },
    currency: (hours.data ?? days.data)?.displayCurrency ?? undefined,
    error,
    /** The account has never had a request; undefined while unknown. A year is read only where recent months are empty. */
    neverUsed: isSuspected
      ? year.data && year.data.totals.requests === 0
      : hasFilters(filters) || recentRequests !== undefined
        ? false
        : undefined,
    loaded: { data: hours.data, dataUpdatedAt: Math.min(hours.dataUpdatedAt, days.dataUpdatedAt) },
  };
};
