import { isKept, MAX_BUCKETS, MAX_ZONE_DAYS } from '../../../lambda/domain/calendar/range.ts';
import { dayIn, isTimeZone } from '../../../lambda/domain/calendar/time-zones.ts';
import { DAY_MS, HOUR_MS } from '../../../lambda/domain/calendar/units.ts';
import {
  addDays,
  type Day,
  type Granularity,
  granularities,
  startOf,
  startOfMonth,
} from '../../../lambda/domain/calendar/utc.ts';
import { startInZone, utcDate } from '../format/time.ts';
import { oneOf, searchOf } from '../search.ts';

/** Up to this length, a range has no bars of months. */
const DAYS_WITHOUT_MONTHS = 31;
/** Days of a zone are read by hour: not longer ago than hours are kept. */
const HOURS_KEPT_DAYS = 88;

export const rangeLabels = {
  '24h': '24 hours',
  '7d': '7 days',
  '30d': '30 days',
  month: 'This month',
  '90d': '90 days',
  '12m': '12 months',
  custom: 'Custom',
} as const;
export type RangeName = keyof typeof rangeLabels;
export const rangeNames = Object.keys(rangeLabels) as RangeName[];

/** Two periods: each a day or an instant, the last day included, and a last instant not. */
export interface ComparedPeriods {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly compareFrom?: string | undefined;
  readonly compareTo?: string | undefined;
}

export interface Range {
  readonly name: RangeName;
  /** The API's query parameters: in UTC days, else instants of the zone. */
  readonly from: string;
  readonly to: string | undefined;
  readonly granularity: Granularity;
  readonly timeZone: string;
  /** First and last day, or instants where the range is no days. */
  readonly days: { readonly from: string; readonly to: string };
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

const zoneIn = (value: unknown): string | undefined =>
  typeof value === 'string' && isTimeZone(value) ? value : undefined;

/** The periods in a URL, and whose days they are: without a zone UTC. Ranges with a name are in the reader's zone. */
const periods = { from: timeOf, to: timeOf, compareFrom: timeOf, compareTo: timeOf, zone: zoneIn } as const;
export const periodsIn = searchOf(periods);

/** A range, and the period that a mail compares it with. */
export const rangeSearch = searchOf({ ...periods, range: oneOf(rangeNames), per: oneOf(granularities) });
export type RangeSearch = ReturnType<typeof rangeSearch>;

/** Days of the API's queries are UTC: those of another zone become instants. */
export const queryIn = (zone: string, periods: ComparedPeriods): ComparedPeriods => {
  const at = (time: string | undefined, daysOn: number) =>
    time === undefined || zone === 'UTC' || isInstant(time)
      ? time
      : startInZone(zone, addDays(time, daysOn)).toISOString();
  return {
    from: at(periods.from, 0),
    to: at(periods.to, 1),
    compareFrom: at(periods.compareFrom, 0),
    compareTo: at(periods.compareTo, 1),
  };
};

/** The first day of the month of a day, or of one before it. */
export const monthStart = (day: Day, monthsBefore = 0): Day => utcDate(startOfMonth(new Date(day), -monthsBefore));

const bounds = ({ range = '30d', from, to }: RangeSearch, today: Day, now: Date): { from: string; to?: string } => {
  switch (range) {
    case '24h':
      return { from: new Date(startOf('hour', now).getTime() - 23 * HOUR_MS).toISOString() };
    case 'month':
      return { from: monthStart(today) };
    case '12m':
      return { from: monthStart(today, 11) };
    case 'custom': {
      const [first, last] = [from ?? addDays(today, -29), to ?? today].sort() as [string, string];
      return { from: first, to: last };
    }
    default:
      // `7d` is today and the six days before it.
      return { from: addDays(today, 1 - Number.parseInt(range, 10)) };
  }
};

/** Today, and this month so far, as they are compared everywhere. */
export const comparedToday = (now: Date, zone: string): ComparedPeriods => {
  const today = dayIn(zone, now);
  return queryIn(zone, { from: today, to: today });
};
export const comparedMonth = (now: Date, zone: string): ComparedPeriods => {
  const today = dayIn(zone, now);
  const from = monthStart(today);
  if (zone === 'UTC') return { from };
  return queryIn(zone, { from, to: addDays(monthStart(today, -1), -1), compareFrom: monthStart(today, 1) });
};

const comparedOf = (
  { range, compareFrom, compareTo }: RangeSearch,
  { from, to }: Pick<Range, 'from' | 'to'>,
  now: Date,
  zone: string,
): ComparedPeriods => {
  const today = dayIn(zone, now);
  const isMonthSoFar =
    from === monthStart(today) && (to === undefined ? range === 'month' : to === today && from !== to);
  if (isMonthSoFar && !compareFrom) return comparedMonth(now, zone);
  if (to !== undefined) return queryIn(zone, { from, to, compareFrom, compareTo });
  return range === '12m' || range === '24h' ? { from } : queryIn(zone, { from, to: today });
};

/** The range in a URL, by default 30 days by day, in the days of a zone where hours allow that. */
export const rangeOf = (search: RangeSearch, now: Date, readersZone = 'UTC'): Range => {
  const name = search.range ?? '30d';
  const wantedZone = name === 'custom' ? (search.zone ?? 'UTC') : readersZone;
  const inZone = (zone: string) => {
    const today = dayIn(zone, now);
    const { from, to } = bounds({ ...search, range: name }, today, now);
    const query = queryIn(zone, { from, to: to ?? (zone === 'UTC' || name === '24h' ? undefined : today) });
    const endMs = query.to === undefined ? now.getTime() : Date.parse(query.to) + (isInstant(query.to) ? 0 : DAY_MS);
    const days = (endMs - Date.parse(query.from ?? from)) / DAY_MS;
    return { zone, from, to, query, endMs, days, shown: { from, to: to ?? today } };
  };
  const wanted = inZone(wantedZone);
  const isInHours =
    wanted.days <= MAX_ZONE_DAYS + 1 && Date.parse(wanted.from) > now.getTime() - HOURS_KEPT_DAYS * DAY_MS;
  const { zone, from, to, query, endMs, days, shown } = isInHours ? wanted : inZone('UTC');
  const hours = { granularity: 'hour', from: query.from ?? from, to: new Date(endMs).toISOString() } as const;
  const fitting = granularities.filter((granularity) =>
    granularity === 'hour'
      ? days * 24 <= MAX_BUCKETS.hour && isKept(hours, now)
      : granularity === 'day'
        ? days <= MAX_BUCKETS.day && name !== '24h'
        : Math.ceil(days) > DAYS_WITHOUT_MONTHS,
  );
  const wantedGranularity = search.per ?? (name === '12m' || days > 190 ? 'month' : days <= 2 ? 'hour' : 'day');
  return {
    name,
    from: query.from ?? from,
    to: query.to,
    timeZone: zone,
    days: shown,
    granularity: fitting.includes(wantedGranularity) ? wantedGranularity : (fitting.at(-1) as Granularity),
    granularities: fitting,
    compared: comparedOf({ ...search, range: name }, { from, to }, now, zone),
  };
};
