import { ValidationError } from '../errors.ts';
import { coveringRange, endOfQuery, instantOf, isKept, MAX_BUCKETS, type Range } from './range.ts';
import { DAY_MS } from './units.ts';
import { roundUp, startOf, startOfMonth, startOfNext } from './utc.ts';

/** Two periods to compare, each a first day or instant, and a last day (included) or instant (excluded). */
interface ComparedQuery {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly compareFrom?: string | undefined;
  readonly compareTo?: string | undefined;
}

/** From an instant to before another, ISO 8601, at whole hours; at whole days where hours are no longer kept. */
export interface Period {
  readonly from: string;
  readonly to: string;
}

const periodOf = (from: Date, to: Date, now: Date): Period => {
  const hours = coveringRange('hour', from, to);
  return isKept(hours, now) ? { from: hours.from, to: hours.to } : { ...coveringRange('day', from, to) };
};

const lengthMs = ({ from, to }: Period): number => Date.parse(to) - Date.parse(from);

const requireOrder = ({ from, to }: Period, path: string): void => {
  if (from >= to) throw new ValidationError([{ path, message: 'must be after the first day, which must be past' }]);
  if (Date.parse(to) - Date.parse(from) > MAX_BUCKETS.day * DAY_MS)
    throw new ValidationError([{ path, message: `a period may have at most ${MAX_BUCKETS.day} days` }]);
};

/**
 * The two periods of a comparison: by default this month so far, and as much time before it. A period that is not over ends with the last
 * whole hour. The one before is then cut after as much time, so that what elapsed is compared with as much, never with a whole month.
 *
 * @throws ValidationError for an empty period, or one of more than 366 days
 */
export const comparedPeriods = (query: ComparedQuery, now: Date): { readonly now: Period; readonly before: Period } => {
  const from = query.from === undefined ? startOfMonth(now) : instantOf('from', query.from);
  const wanted = query.to === undefined ? startOfNext('hour', now) : endOfQuery(query.to);
  const isOver = wanted <= now;
  const hour = startOf('hour', now);
  // In the first hour of a period there is no whole one.
  const current = periodOf(from, isOver ? wanted : hour > from ? hour : startOfNext('hour', hour), now);
  requireOrder(current, query.to === undefined ? 'from' : 'to');
  const length = lengthMs(current);
  const fromBefore =
    query.compareFrom === undefined
      ? new Date(Date.parse(current.from) - length)
      : instantOf('compareFrom', query.compareFrom);
  const elapsedBefore = new Date(fromBefore.getTime() + length);
  const toBefore = query.compareTo === undefined ? elapsedBefore : endOfQuery(query.compareTo, 'compareTo');
  const ends = [toBefore, roundUp('hour', now), ...(isOver ? [] : [elapsedBefore])];
  const before = periodOf(fromBefore, new Date(Math.min(...ends.map(Number))), now);
  requireOrder(before, query.compareTo === undefined ? 'compareFrom' : 'compareTo');
  return { now: current, before };
};

/** The ranges to read for a period: hours up to its first whole day, its days, and the hours after them. */
export const rangesOf = ({ from, to }: Period): Range[] => {
  const firstDay = roundUp('day', new Date(from)).toISOString();
  const lastDay = startOf('day', new Date(to)).toISOString();
  if (firstDay >= lastDay) return [{ granularity: 'hour', from, to }];
  const ranges: Range[] = [
    { granularity: 'hour', from, to: firstDay },
    { granularity: 'day', from: firstDay, to: lastDay },
    { granularity: 'hour', from: lastDay, to },
  ];
  return ranges.filter((range) => range.from < range.to);
};
