import { isKept, MAX_BUCKETS } from '../../../lambda/domain/calendar/range.ts';
import { DAY_MS, HOUR_MS } from '../../../lambda/domain/calendar/units.ts';
import { type Granularity, granularities } from '../../../lambda/domain/calendar/utc.ts';
import { utcDate } from '../format/time.ts';

/** Up to this length, a range has no bars of months. */
const DAYS_WITHOUT_MONTHS = 31;

export const rangeNames = ['24h', '7d', '30d', 'month', '90d', '12m', 'custom'] as const;
export type RangeName = (typeof rangeNames)[number];

export const rangeLabels: Readonly<Record<RangeName, string>> = {
  '24h': '24 hours',
  '7d': '7 days',
  '30d': '30 days',
  month: 'This month',
  '90d': '90 days',
  '12m': '12 months',
  custom: 'Custom',
};

/** Two periods as the API takes them: each a day or an instant, the last day included, and a last instant not. */
export interface ComparedPeriods {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly compareFrom?: string | undefined;
  readonly compareTo?: string | undefined;
}

/** A custom range, and the period that a mail compares it with. */
export type RangeSearch = ComparedPeriods & {
  readonly range?: RangeName | undefined;
  readonly per?: Granularity | undefined;
};

export interface Range {
  readonly name: RangeName;
  /** The API's query parameters. */
  readonly from: string;
  readonly to: string | undefined;
  readonly granularity: Granularity;
  readonly granularities: readonly Granularity[];
  /** Parameters for `GET /spend/compare`: all of a period that is running. */
  readonly compared: ComparedPeriods;
}

export const isInstant = (time: string): boolean => time.includes('T');

/** In the years that the API takes; undefined for anything else. */
const timeOf = (value: unknown): string | undefined =>
  typeof value === 'string' && /^2\d{3}-\d\d-\d\d(T.+)?$/.test(value) && !Number.isNaN(Date.parse(value))
    ? isInstant(value)
      ? new Date(value).toISOString()
      : value
    : undefined;

/** The periods in a URL. */
export const periodsIn = (search: Record<string, unknown>): ComparedPeriods => ({
  from: timeOf(search['from']),
  to: timeOf(search['to']),
  compareFrom: timeOf(search['compareFrom']),
  compareTo: timeOf(search['compareTo']),
});

export const rangeSearch = (search: Record<string, unknown>): RangeSearch => ({
  ...periodsIn(search),
  range: rangeNames.find((name) => name === search['range']),
  per: granularities.find((name) => name === search['per']),
});

const daysAgo = (now: Date, days: number) => utcDate(new Date(now.getTime() - days * DAY_MS));
const monthsAgo = (now: Date, months: number) =>
  utcDate(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 1)));

const bounds = ({ range, from, to }: RangeSearch, now: Date): { from: string; to?: string } => {
  switch (range) {
    case '24h':
      return { from: new Date(Math.floor(now.getTime() / HOUR_MS) * HOUR_MS - 23 * HOUR_MS).toISOString() };
    case '7d':
      return { from: daysAgo(now, 6) };
    case 'month':
      return { from: monthsAgo(now, 0) };
    case '90d':
      return { from: daysAgo(now, 89) };
    case '12m':
      return { from: monthsAgo(now, 11) };
    case 'custom': {
      const [first, last] = [from ?? daysAgo(now, 29), to ?? utcDate(now)].sort() as [string, string];
      return { from: first, to: last };
    }
    default:
      return { from: daysAgo(now, 29) };
  }
};

/** Today, and this month so far, as they are compared everywhere. */
export const comparedToday = (now: Date): ComparedPeriods => ({ from: utcDate(now), to: utcDate(now) });
export const comparedMonth = (now: Date): ComparedPeriods => ({ from: monthsAgo(now, 0) });

const comparedOf = (
  { range, compareFrom, compareTo }: RangeSearch,
  { from, to }: Pick<Range, 'from' | 'to'>,
  now: Date,
): ComparedPeriods => {
  if (to !== undefined) {
    const isMonthSoFar = from === monthsAgo(now, 0) && to === utcDate(now) && from !== to;
    return isMonthSoFar && !compareFrom ? comparedMonth(now) : { from, to, compareFrom, compareTo };
  }
  return range === '7d' || range === '30d' || range === '90d' ? { from, to: utcDate(now) } : { from };
};

/** The range in a URL, by default 30 days by day. */
export const rangeOf = (search: RangeSearch, now: Date): Range => {
  const name = search.range ?? '30d';
  const { from, to } = bounds({ ...search, range: name }, now);
  const endMs = to === undefined ? now.getTime() : Date.parse(to) + (isInstant(to) ? 0 : DAY_MS);
  const days = (endMs - Date.parse(from)) / DAY_MS;
  const hours = { granularity: 'hour', from, to: new Date(endMs).toISOString() } as const;
  const fitting = granularities.filter((granularity) =>
    granularity === 'hour'
      ? days * 24 <= MAX_BUCKETS.hour && isKept(hours, now)
      : granularity === 'day'
        ? days <= MAX_BUCKETS.day && name !== '24h'
        : Math.ceil(days) > DAYS_WITHOUT_MONTHS,
  );
  const wanted = search.per ?? (name === '12m' || days > 190 ? 'month' : days <= 2 ? 'hour' : 'day');
  return {
    name,
    from,
    to,
    granularity: fitting.includes(wanted) ? wanted : (fitting.at(-1) as Granularity),
    granularities: fitting,
    compared: comparedOf({ ...search, range: name }, { from, to }, now),
  };
};
