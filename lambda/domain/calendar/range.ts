import { ValidationError } from '../errors.ts';
import { DAY_MS } from './units.ts';
import { bucketOf, type Granularity, roundUp, startOf, startOfMonth, startOfNext } from './utc.ts';

/** A range of whole hours, days or months, UTC. */
export interface Range {
  readonly granularity: Granularity;
  /** First instant, ISO 8601. */
  readonly from: string;
  /** First instant after the range, ISO 8601. */
  readonly to: string;
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

/** Every hour, day or month of a range, ascending, without gaps. */
export const bucketsOf = ({ granularity, from, to }: Range): string[] => {
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

/** The range of the same length that ends where this one begins: for months, as many whole months. */
export const precedingRange = (range: Range): Range => {
  const from = new Date(range.from);
  const start =
    range.granularity === 'month'
      ? startOfMonth(from, -bucketsOf(range).length)
      : new Date(2 * from.getTime() - Date.parse(range.to));
  return { ...range, from: start.toISOString(), to: range.from };
};

/** True where the ledger still has all counters of this granularity from an instant on. */
export const isKept = ({ granularity, from }: Pick<Range, 'granularity' | 'from'>, now: Date): boolean =>
  granularity !== 'hour' || Date.parse(from) >= now.getTime() - HOUR_QUERY_DAYS * DAY_MS;

const invalid = (path: string, message: string) => new ValidationError([{ path, message }]);

/** @throws ValidationError outside the years that the ledger can have */
export const instantOf = (path: string, text: string): Date => {
  const at = new Date(text);
  if (at < new Date(EARLIEST) || at > new Date(LATEST)) throw invalid(path, 'must be in the years 2000 to 9998');
  return at;
};

/** The first instant after `to`: a date includes its day. */
export const endOfQuery = (to: string, path = 'to'): Date => {
  const at = instantOf(path, to);
  return isDate(to) ? startOfNext('day', at) : at;
};

const emptyRange = ({ to }: Bounds) =>
  to === undefined
    ? invalid('from', 'must not be in the future when to is missing')
    : invalid('to', 'must be after from');

interface Bounds {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** How far back a list goes by default. */
const DEFAULT_LIST_DAYS = 30;

/**
 * The exact range of a list: by default the last 30 days.
 *
 * @throws ValidationError for an empty range
 */
export const instantsOf = (query: Bounds, now: Date): { readonly from: string; readonly to: string } => {
  const to = query.to === undefined ? now : endOfQuery(query.to);
  const from =
    query.from === undefined ? new Date(to.getTime() - DEFAULT_LIST_DAYS * DAY_MS) : instantOf('from', query.from);
  if (from >= to) throw emptyRange(query);
  return { from: from.toISOString(), to: to.toISOString() };
};

/**
 * The range a query asks for, widened to whole hours, days or months; by default this month so far. `to` as a date includes that
 * day; as an instant it is the first one not included.
 *
 * @throws ValidationError for an empty range, one that is too long, or hours no longer kept
 */
export const rangeOf = (query: Bounds & { readonly granularity: Granularity }, now: Date): Range => {
  const { granularity } = query;
  const range = coveringRange(
    granularity,
    query.from === undefined ? startOfMonth(now) : instantOf('from', query.from),
    query.to === undefined ? startOfNext(granularity, now) : endOfQuery(query.to),
  );
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
  return range;
};
