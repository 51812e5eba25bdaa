import { invalid } from '../errors.ts';
import { dayIn } from './time-zones.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from './units.ts';
import {
  addDays,
  bucketOf,
  dayOf,
  daysBetween,
  type Granularity,
  isStartOf,
  roundUp,
  startOf,
  startOfMonth,
  startOfNext,
} from './utc.ts';

/** A range of whole hours, UTC. */
export interface Range {
  /** Points of a series of the range. The first and the last of these may be in the range in part. */
  readonly granularity: Granularity;
  /** First instant, ISO 8601. */
  readonly from: string;
  /** First instant after the range, ISO 8601. */
  readonly to: string;
  /** Whose days the points are, an IANA name: such a range is read by hour. By default UTC. */
  readonly timeZone?: string;
}

/** Limits what a query may read, and how long its response may get. A month in which clocks go back has an hour more. */
export const MAX_BUCKETS: Record<Granularity, number> = { hour: 31 * 24 + 1, day: 366, month: 60 };

/** How long the ledger keeps counters by the hour. */
export const HOUR_COUNTER_DAYS = 90;
/** One day less: the first day may be half gone. */
const HOUR_QUERY_DAYS = HOUR_COUNTER_DAYS - 1;

/** Nothing is older, and years outside these are not written with four digits. */
const EARLIEST = '2000-01-01T00:00:00.000Z';
const LATEST = '9998-12-31T00:00:00.000Z';

const isDate = (text: string): boolean => !text.includes('T');

/** Days of a zone that one response has at most: they are read by hour. */
export const MAX_ZONE_DAYS = 62;

/** The day of an hour on the calendars of a zone. Where days begin within an hour, it is the day in which the hour ends. */
const dayOfHour = (timeZone: string, hour: string): string =>
  dayIn(timeZone, new Date(Date.parse(`${hour}:00:00Z`) + HOUR_MS - 1));

/** A function that finds the bucket of the times of spend counters in a range. */
export const bucketFinder = ({ granularity, timeZone }: Range): ((time: string) => string) => {
  if (timeZone === undefined) return (time) => bucketOf(time, granularity);
  const days = new Map<string, string>();
  return (hour) => {
    const day = days.get(hour) ?? dayOfHour(timeZone, hour);
    days.set(hour, day);
    return day;
  };
};

/** Every hour, day or month of a range, ascending, without gaps. */
export const bucketsOf = ({ granularity, from, to, timeZone }: Range): string[] => {
  if (timeZone !== undefined) {
    const last = new Date(Date.parse(to) - 1);
    return daysBetween(dayOfHour(timeZone, bucketOf(from, 'hour')), dayIn(timeZone, last));
  }
  const buckets: string[] = [];
  for (let start = new Date(from); start < new Date(to); start = startOfNext(granularity, start)) {
    buckets.push(bucketOf(start.toISOString(), granularity));
  }
  return buckets;
};

/** The smallest range of whole hours, days or months from one instant to before another. */
export const coveringRange = (granularity: Granularity, from: Date, to: Date): Range => ({
  granularity,
  from: startOf(granularity, from).toISOString(),
  to: roundUp(granularity, to).toISOString(),
});

/** The range of the same length that ends where this one begins: as many months for whole ones. */
export const precedingRange = ({ timeZone: _, ...range }: Range): Range => {
  const [from, to] = [new Date(range.from), new Date(range.to)];
  const start =
    range.granularity === 'month' && isStartOf('month', from) && isStartOf('month', to)
      ? startOfMonth(from, -bucketsOf(range).length)
      : new Date(2 * from.getTime() - to.getTime());
  return { ...range, from: start.toISOString(), to: range.from };
};

/** The ranges to read for a range: hours up to its first whole day, its whole days or months, and the hours after them. */
export const rangesOf = ({ granularity, from, to, timeZone }: Range): Range[] => {
  const firstDay = roundUp('day', new Date(from)).toISOString();
  const lastDay = startOf('day', new Date(to)).toISOString();
  const ranges: Range[] =
    granularity === 'hour' || timeZone !== undefined || firstDay >= lastDay
      ? [{ granularity: 'hour', from, to }]
      : [
          { granularity: 'hour', from, to: firstDay },
          { granularity, from: firstDay, to: lastDay },
          { granularity: 'hour', from: lastDay, to },
        ];
  return ranges.filter((range) => range.from < range.to);
};

const hoursAreKept = (since: string, now: Date): boolean =>
  Date.parse(since) >= now.getTime() - HOUR_QUERY_DAYS * DAY_MS;

/** True where the ledger still has all counters that the range is read from. */
export const isKept = (range: Range, now: Date): boolean =>
  rangesOf(range).every(({ granularity, from }) => granularity !== 'hour' || hoursAreKept(from, now));

/** @throws ValidationError outside the years that the ledger can have */
const instantOf = (path: string, text: string): Date => {
  const at = new Date(text);
  if (at < new Date(EARLIEST) || at > new Date(LATEST)) throw invalid(path, 'must be in the years 2000 to 9998');
  return at;
};

/** The first instant after `to`: a date includes its day. */
const endOfQuery = (to: string, path: string): Date => {
  const at = instantOf(path, to);
  return isDate(to) ? startOfNext('day', at) : at;
};

/**
 * A bound that sums can have, so that no response is for more or less than was asked for.
 *
 * @param unit what is summed
 * @throws ValidationError with the bounds to ask for instead
 */
const wholeBound = (path: string, at: Date, unit: 'hour' | 'day', what: string): Date => {
  if (isStartOf(unit, at)) return at;
  const [before, after] = [startOf(unit, at), startOfNext(unit, at)].map(
    (each) => `${each.toISOString().slice(0, 19)}Z`,
  );
  throw invalid(path, `must be at a whole ${unit} (UTC), by which ${what}: ask for ${before} or ${after}`);
};

const spendBound = (path: string, at: Date, now: Date): Date =>
  hoursAreKept(at.toISOString(), now)
    ? wholeBound(path, at, 'hour', 'spend is summed')
    : wholeBound(path, at, 'day', `spend of more than ${HOUR_QUERY_DAYS} days ago is summed`);

/** The first instant of a question about spend. @throws ValidationError where spend has no sums from there on */
export const firstOfSpend = (path: string, from: string, now: Date): Date =>
  spendBound(path, instantOf(path, from), now);

/** The first instant after a question about spend. Of one to come, all spend so far is before it. @throws as `firstOfSpend` */
export const endOfSpend = (path: string, to: string, now: Date): Date => {
  const end = endOfQuery(to, path);
  return end < now ? spendBound(path, end, now) : roundUp('hour', end);
};

/** A period as queries and addresses of pages have it: its first and last day where it is whole days (UTC), else its instants. */
export const queryOf = ({ from, to }: { readonly from: string; readonly to: string }) =>
  [from, to].every((at) => Date.parse(at) % DAY_MS === 0)
    ? { from: dayOf(from), to: addDays(dayOf(to), -1) }
    : { from, to };

const emptyRange = ({ to }: Bounds) =>
  to === undefined
    ? invalid('from', 'must not be in the future when to is missing')
    : invalid('to', 'must be after from');

interface Bounds {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** How far the clock of a client may be ahead. */
const AHEAD_MS = 5 * MINUTE_MS;

/** Now, by the later of two clocks: just before midnight here, a client may ask from its new day on. */
const laterNow = ({ from }: Bounds, now: Date): Date => {
  const first = from === undefined ? 0 : instantOf('from', from).getTime();
  return first >= now.getTime() && first < now.getTime() + AHEAD_MS ? new Date(first + 1) : now;
};

/** How far back a list goes by default. */
const DEFAULT_LIST_DAYS = 30;

/**
 * The exact range of a list: by default the last 30 days.
 *
 * @throws ValidationError for an empty range
 */
export const instantsOf = (query: Bounds, now: Date): { readonly from: string; readonly to: string } => {
  const to = query.to === undefined ? laterNow(query, now) : endOfQuery(query.to, 'to');
  const from =
    query.from === undefined ? new Date(to.getTime() - DEFAULT_LIST_DAYS * DAY_MS) : instantOf('from', query.from);
  if (from >= to) throw emptyRange(query);
  return { from: from.toISOString(), to: to.toISOString() };
};

/**
 * The range of sessions, whose sums are by day: by default the last 30 days. Bounds that the query does not have may be within a day.
 *
 * @throws ValidationError for an empty range, and for bounds within a day
 */
export const instantsOfDays = (query: Bounds, now: Date): ReturnType<typeof instantsOf> => {
  const range = instantsOf(query, now);
  const what = 'sessions are summed';
  if (query.from !== undefined) wholeBound('from', new Date(range.from), 'day', what);
  if (new Date(range.to) < now) wholeBound('to', new Date(range.to), 'day', what);
  return range;
};

/**
 * The range a query asks for: by default this month so far, by hour where it is shorter than a day, else by day. `to` as a date includes
 * that day; as an instant it is the first one not included. Days are those of the query's zone where hours are kept for all of them.
 *
 * @throws ValidationError for an empty range, one that is too long, and where it has no sums
 */
export const rangeOf = (
  query: Bounds & { readonly granularity?: Granularity | undefined; readonly timeZone?: string | undefined },
  at: Date,
): Range => {
  const now = laterNow(query, at);
  const from = query.from === undefined ? startOfMonth(now) : firstOfSpend('from', query.from, now);
  const end = query.to === undefined ? startOfNext('day', now) : endOfSpend('to', query.to, now);
  const granularity = query.granularity ?? (end.getTime() - from.getTime() < DAY_MS ? 'hour' : 'day');
  const to = query.to === undefined ? startOfNext(granularity, now) : end;
  const range: Range = { granularity, from: from.toISOString(), to: to.toISOString() };
  if (range.from >= range.to) throw emptyRange(query);
  const max = MAX_BUCKETS[granularity];
  if (Date.parse(range.to) - Date.parse(range.from) > (max + 1) * 31 * DAY_MS || bucketsOf(range).length > max) {
    throw invalid(
      'from',
      `a range may have at most ${max} ${granularity}s: choose a shorter range or a coarser granularity`,
    );
  }
  if (!isKept(range, now)) {
    throw invalid('from', `spend by hour is kept for ${HOUR_QUERY_DAYS} days: choose granularity=day`);
  }
  if (query.timeZone === undefined || query.timeZone === 'UTC' || granularity !== 'day') return range;
  const ofZone = { ...range, timeZone: query.timeZone };
  return bucketsOf(ofZone).length <= MAX_ZONE_DAYS && isKept(ofZone, now) ? ofZone : range;
};
