import { DAY_MS, HOUR_MS } from '../../../lambda/domain/calendar/units.ts';
import { type Granularity, granularities } from '../../../lambda/domain/calendar/utc.ts';
import { utcDate } from '../format/time.ts';

/** The API's limits by granularity. */
const MAX_DAYS = { hour: 31, day: 366 } as const;

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

export interface RangeSearch {
  readonly range?: RangeName | undefined;
  /** First and last UTC day of a custom range. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly per?: Granularity | undefined;
}

export interface Range {
  readonly name: RangeName;
  /** The API's query parameters. */
  readonly from: string;
  readonly to: string | undefined;
  readonly granularity: Granularity;
  readonly granularities: readonly Granularity[];
}

const isDay = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value));

export const rangeSearch = ({ range, from, to, per }: Record<string, unknown>): RangeSearch => ({
  range: rangeNames.find((name) => name === range),
  from: isDay(from) ? from : undefined,
  to: isDay(to) ? to : undefined,
  per: granularities.find((name) => name === per),
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

const granularitiesFor = (name: RangeName, days: number): readonly Granularity[] => {
  if (name === '24h') return ['hour'];
  const fitting: Granularity[] = [];
  if (days <= MAX_DAYS.hour) fitting.push('hour');
  if (days <= MAX_DAYS.day) fitting.push('day');
  if (days > MAX_DAYS.hour) fitting.push('month');
  return fitting;
};

const usual = (name: RangeName, days: number): Granularity =>
  name === '24h' ? 'hour' : name === '12m' || days > 190 ? 'month' : days <= 2 ? 'hour' : 'day';

/** The range in a URL, by default 30 days by day. */
export const rangeOf = (search: RangeSearch, now: Date): Range => {
  const name = search.range ?? '30d';
  const { from, to } = bounds({ ...search, range: name }, now);
  const days = Math.ceil(((to === undefined ? now.getTime() : Date.parse(to) + DAY_MS) - Date.parse(from)) / DAY_MS);
  const granularities = granularitiesFor(name, days);
  const wanted = search.per ?? usual(name, days);
  return {
    name,
    from,
    to,
    granularity: granularities.includes(wanted) ? wanted : (granularities.at(-1) as Granularity),
    granularities,
  };
};

/** Ranges up to this length are compared by the hour, longer ones by the day. */
const HOURS_UP_TO_DAYS = 2;

/** The whole hours or days of a range, as the API's parameters; undefined where there are none. It does not depend on the bars chosen. */
export const comparedRange = ({ from, to }: Range, now: Date) => {
  const startMs = Date.parse(from);
  const endMs = Math.min(now.getTime(), to === undefined ? now.getTime() : Date.parse(to) + DAY_MS);
  const granularity: Granularity = endMs - startMs <= HOURS_UP_TO_DAYS * DAY_MS ? 'hour' : 'day';
  const length = granularity === 'hour' ? HOUR_MS : DAY_MS;
  const end = Math.floor(endMs / length) * length;
  return end <= startMs ? undefined : { from, to: new Date(end).toISOString(), granularity };
};
