import { ValidationError } from '../errors.ts';

export const granularities = ['hour', 'day', 'month'] as const;
export type Granularity = (typeof granularities)[number];

/** A range of whole hours, days or months, UTC. */
export interface Range {
  readonly granularity: Granularity;
  /** First instant, ISO 8601. */
  readonly from: string;
  /** First instant after the range, ISO 8601. */
  readonly to: string;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** Bounds what a query may read, and how long its answer may get. */
const MAX_BUCKETS: Record<Granularity, number> = { hour: 31 * 24, day: 366, month: 60 };
/** Hour cells are kept for 90 days; the first of them may be half gone. */
const HOUR_RETENTION_DAYS = 89;

/** Nothing is older, and the calendar's far ends have years that are not written with four digits. */
const EARLIEST = '2000-01-01T00:00:00.000Z';
const LATEST = '9998-12-31T00:00:00.000Z';

const startOfBucket = (at: Date, granularity: Granularity): Date =>
  granularity === 'month'
    ? new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1))
    : new Date(at.getTime() - (at.getTime() % (granularity === 'hour' ? HOUR_MS : DAY_MS)));

const nextBucket = (start: Date, granularity: Granularity): Date =>
  granularity === 'month'
    ? new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 1))
    : new Date(start.getTime() + (granularity === 'hour' ? HOUR_MS : DAY_MS));

const isDate = (text: string): boolean => !text.includes('T');

/** The first bucket start at or after an instant. */
const roundedUp = (at: Date, granularity: Granularity): Date => {
  const start = startOfBucket(at, granularity);
  return start.getTime() === at.getTime() ? start : nextBucket(start, granularity);
};

/** Prefix of the times of the ledger's cells in a bucket: `2026-11`, `2026-11-20`, `2026-11-20T16`. */
export const bucketOf = (time: string, granularity: Granularity): string =>
  time.slice(0, { month: 7, day: 10, hour: 13 }[granularity]);

/** Every bucket of a range, ascending, none left out. */
export const bucketsOf = ({ granularity, from, to }: Range): string[] => {
  const buckets: string[] = [];
  for (let start = new Date(from); start < new Date(to); start = nextBucket(start, granularity)) {
    buckets.push(bucketOf(start.toISOString(), granularity));
  }
  return buckets;
};

/** As long, and ending where the range begins; a range of whole months is preceded by as many whole months. */
export const precedingRange = (range: Range): Range => {
  const from = new Date(range.from);
  const start =
    range.granularity === 'month'
      ? new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() - bucketsOf(range).length, 1))
      : new Date(2 * from.getTime() - Date.parse(range.to));
  return { ...range, from: start.toISOString(), to: range.from };
};

/** True where the ledger still has all cells of the range's granularity. */
export const isKept = ({ granularity, from }: Range, now: Date): boolean =>
  granularity !== 'hour' || Date.parse(from) >= now.getTime() - HOUR_RETENTION_DAYS * DAY_MS;

const invalid = (path: 'from' | 'to', message: string) => new ValidationError([{ path, message }]);

const instantOf = (path: 'from' | 'to', text: string): Date => {
  const at = new Date(text);
  if (at < new Date(EARLIEST) || at > new Date(LATEST)) throw invalid(path, 'must lie in the years 2000 to 9998');
  return at;
};

/** The first instant after what `to` names: a date includes its day. */
const endOfQuery = (to: string): Date => {
  const at = instantOf('to', to);
  return isDate(to) ? nextBucket(at, 'day') : at;
};

const emptyRange = ({ to }: Bounds) =>
  to === undefined
    ? invalid('from', 'must not lie in the future where there is no to')
    : invalid('to', 'must be after from');

interface Bounds {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** How far back a list goes unless told otherwise. */
const DEFAULT_LIST_DAYS = 30;

/**
 * The exact range of a list: the last 30 days unless told otherwise.
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
 * The range a query asks for: this month so far unless told otherwise, widened to whole buckets. `to` as a date includes that
 * day; as an instant it is the first not included.
 *
 * @throws ValidationError for an empty range, one with too many buckets, or hours no longer kept
 */
export const rangeOf = (query: Bounds & { readonly granularity: Granularity }, now: Date): Range => {
  const { granularity } = query;
  const from = startOfBucket(
    query.from === undefined ? startOfBucket(now, 'month') : instantOf('from', query.from),
    granularity,
  );
  // One millisecond on, so that at the very start of a bucket "now" is in it.
  const end = query.to === undefined ? new Date(now.getTime() + 1) : endOfQuery(query.to);
  const to = roundedUp(end, granularity);
  if (from >= to) throw emptyRange(query);
  const range = { granularity, from: from.toISOString(), to: to.toISOString() };
  const max = MAX_BUCKETS[granularity];
  if (to.getTime() - from.getTime() > (max + 1) * 31 * DAY_MS || bucketsOf(range).length > max) {
    throw invalid('from', `a range may have at most ${max} ${granularity}s: narrow it, or take a coarser granularity`);
  }
  if (!isKept(range, now)) {
    throw invalid('from', `spend by hour is kept for ${HOUR_RETENTION_DAYS} days: take granularity=day`);
  }
  return range;
};
