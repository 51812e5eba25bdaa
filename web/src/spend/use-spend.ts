import { keepPreviousData } from '@tanstack/react-query';
import { DAY_MS } from '../../../lambda/domain/calendar/units.ts';
import { hostName, isOwnLabel, priced } from '../../../lambda/domain/hosts.ts';
import { UNKNOWN } from '../../../lambda/domain/spend/dimensions.ts';
import type { paths } from '../api/schema.d.ts';
import { useApi, useMe } from '../app.ts';
import { chosenZone } from '../format/reading.ts';
import { utcDate } from '../format/time.ts';
import { type Dimension, type Filters, type GroupBy, parametersOf } from './filters.ts';
import { groupValue } from './groups.ts';
import type { Range } from './ranges.ts';

type SpendQuery = NonNullable<paths['/spend']['get']['parameters']['query']>;

/** The parameters of a range, by one dimension or two. To read latency takes longer. */
export const reportQuery = (range: Range, by: GroupBy, filters: Filters, withLatency: boolean) => ({
  from: range.from,
  to: range.to,
  granularity: range.granularity,
  ...inDaysOf(range.timeZone),
  groupBy: [...by],
  ...(withLatency && { latency: 'true' as const }),
  ...parametersOf(filters),
});

/** The parameter for series by the days of a zone. */
export const inDaysOf = (timeZone: string) => (timeZone === 'UTC' ? {} : { timeZone });

/** A report that stays on the page: it is read again every minute, and shown while another loads. */
export const live = { refetchInterval: 60_000, placeholderData: keepPreviousData } as const;

export const useSpend = (
  query: SpendQuery,
  options: { readonly enabled: boolean } | typeof live | undefined = undefined,
) => useApi().useQuery('get', '/spend', { params: { query } }, options);

const DAYS = 30;

/** The names of a dimension with most spend lately, as suggestions. */
export const useSeen = (dimension: Dimension | undefined): string[] => {
  const from = utcDate(new Date(Date.now() - DAYS * DAY_MS));
  const groupBy = dimension ? [dimension] : [];
  const { data } = useSpend({ from, granularity: 'day', groupBy, limit: 100 }, { enabled: dimension !== undefined });
  if (!data || !dimension) return [];
  return data.groups.map((group) => groupValue(group, dimension)).filter((name) => name !== '' && name !== UNKNOWN);
};

/** The hosts as a filter shows them: all providers and clouds, and the own servers that had requests lately. */
export const useHostChoices = () => {
  const own = useSeen('provider').filter(isOwnLabel);
  return [...priced.map(({ label }) => label), ...own].map((value) => ({
    value,
    label: hostName(value),
  }));
};

/** Whose days spend has: the zone that the reader chose, or the account's. */
export const useZone = (): string => {
  const { me } = useMe();
  return chosenZone ?? me?.account.timeZone ?? 'UTC';
};
