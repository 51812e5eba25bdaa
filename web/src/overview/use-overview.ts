import { keepPreviousData } from '@tanstack/react-query';
import { useMemo } from 'react';
import { DAY_MS } from '../../../lambda/domain/calendar/units.ts';
import { useApi } from '../app.ts';
import { utcDate } from '../format/time.ts';
import { type Filters, type GroupBy, parametersOf } from '../spend/filters.ts';
import { monthOf, sameDayOfLastMonth, todayOf } from '../spend/headline.ts';
import { comparedRange, type Range } from '../spend/ranges.ts';

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
 * The whole days of a range against as many days before it; hours for a range of two days at most. The part of a day that has passed
 * is never compared with a whole day. Undefined for a range without a whole bucket.
 */
export const useComparison = (range: Range, filters: Filters) => {
  const wanted = comparedRange(range, new Date());
  const { data } = useApi().useQuery(
    'get',
    '/spend',
    { params: { query: { ...(wanted ?? { from: range.from }), ...parametersOf(filters) } } },
    { ...live, enabled: wanted !== undefined },
  );
  return wanted && data?.previous ? { ...data, previous: data.previous } : undefined;
};

/** Today and this month, with yesterday and last month for comparison. */
export const useHeadline = (filters: Filters) => {
  const api = useApi();
  const now = new Date();
  const yesterday = utcDate(new Date(now.getTime() - DAY_MS));
  const lastMonth = utcDate(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1)));
  const hours = api.useQuery(
    'get',
    '/spend',
    { params: { query: { from: yesterday, granularity: 'hour', ...parametersOf(filters) } } },
    live,
  );
  const days = api.useQuery(
    'get',
    '/spend',
    { params: { query: { from: lastMonth, granularity: 'day', ...parametersOf(filters) } } },
    live,
  );
  const sameDay = sameDayOfLastMonth(now);
  const thatDay = api.useQuery(
    'get',
    '/spend',
    { params: { query: { from: sameDay, to: sameDay, granularity: 'hour', ...parametersOf(filters) } } },
    live,
  );
  const today = useMemo(() => hours.data && todayOf(hours.data, new Date()), [hours.data]);
  const month = useMemo(
    () => days.data && hours.data && thatDay.data && monthOf(days.data, hours.data, thatDay.data, new Date()),
    [days.data, hours.data, thatDay.data],
  );
  const queries = [hours, days, thatDay];
  const refetch = () => Promise.all(queries.filter(({ isError }) => isError).map((query) => query.refetch()));
  const error = queries.find(({ isError }) => isError)?.error ?? null;
  const currency = hours.data?.displayCurrency ?? undefined;
  return { today, month, currency, error, requests: days.data?.totals.requests, refetch };
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
