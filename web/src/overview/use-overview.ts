import { keepPreviousData } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useApi } from '../app.ts';
import { utcDate } from '../format/time.ts';
import { type Filters, type GroupBy, parametersOf } from '../spend/filters.ts';
import { monthOf, todayOf } from '../spend/headline.ts';
import { type ComparedPeriods, comparedMonth, comparedToday, type Range } from '../spend/ranges.ts';

const REFRESH_MS = 60_000;
/** Groups in the table; the chart shows the first ones. */
const GROUPS = 50;

const live = { refetchInterval: REFRESH_MS, placeholderData: keepPreviousData } as const;

/** The report of a range, grouped by one dimension or two. To read latency takes longer. */
export const useReport = (range: Range, by: GroupBy, filters: Filters, withLatency: boolean) =>
  useApi().useQuery(
    'get',
    '/spend',
    {
      params: {
        query: {
          from: range.from,
          ...(range.to === undefined ? {} : { to: range.to }),
          granularity: range.granularity,
          groupBy: [...by],
          limit: GROUPS,
          ...(withLatency && { latency: 'true' as const }),
          ...parametersOf(filters),
        },
      },
    },
    live,
  );

/**
 * A period against the one before it, as the API compares everywhere. Undefined until it is known, and in the first hour, of which nothing
 * whole has passed.
 */
export const useComparison = (periods: ComparedPeriods, filters: Filters) => {
  const given = Object.fromEntries(Object.entries(periods).filter(([, time]) => time !== undefined));
  const query = useApi().useQuery(
    'get',
    '/spend/compare',
    { params: { query: { ...given, limit: 1, ...parametersOf(filters) } } },
    live,
  );
  const { data, isPlaceholderData } = query;
  const isKnown = data && !isPlaceholderData && Date.parse(data.to) <= Date.now();
  return { query, change: isKnown ? data : undefined };
};

/** Today and this month, with the forecast, each against the period before it. */
export const useHeadline = (filters: Filters) => {
  const api = useApi();
  const now = new Date();
  const hours = api.useQuery(
    'get',
    '/spend',
    { params: { query: { from: utcDate(now), granularity: 'hour', ...parametersOf(filters) } } },
    live,
  );
  const lastMonth = utcDate(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1)));
  const days = api.useQuery(
    'get',
    '/spend',
    { params: { query: { from: lastMonth, granularity: 'day', ...parametersOf(filters) } } },
    live,
  );
  const ofToday = useComparison(comparedToday(now), filters);
  const ofMonth = useComparison(comparedMonth(now), filters);
  const today = useMemo(() => hours.data && todayOf(hours.data, new Date()), [hours.data]);
  const month = useMemo(() => days.data && monthOf(days.data, new Date()), [days.data]);
  const queries = [hours, days, ofToday.query, ofMonth.query];
  const refetch = () => Promise.all(queries.filter(({ isError }) => isError).map((query) => query.refetch()));
  const error = queries.find(({ isError }) => isError)?.error ?? null;
  return {
    today: today && { ...today, change: ofToday.change },
    month: month && { ...month, change: ofMonth.change },
    currency: hours.data?.displayCurrency ?? undefined,
    error,
    requests: days.data?.totals.requests,
    loadedAtMs: Math.min(hours.dataUpdatedAt, days.dataUpdatedAt),
    refetch,
  };
};

/** True when the account has never had a request; undefined while unknown. Queries a year only if recent months are empty. */
export const useNeverUsed = (recentRequests: number | undefined, filtered: boolean): boolean | undefined => {
  const now = new Date();
  const yearAgo = utcDate(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 11, 1)));
  const isSuspected = recentRequests === 0 && !filtered;
  const { data } = useApi().useQuery(
    'get',
    '/spend',
    { params: { query: { from: yearAgo, granularity: 'month' } } },
    { enabled: isSuspected },
  );
  if (filtered) return false;
  return isSuspected ? data && data.totals.requests === 0 : recentRequests === undefined ? undefined : false;
};
