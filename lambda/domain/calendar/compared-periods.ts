import { ValidationError } from '../errors.ts';
import { coveringRange, endOfSpend, firstOfSpend, isKept, MAX_BUCKETS } from './range.ts';
import { DAY_MS } from './units.ts';
import { roundUp, startOf, startOfMonth, startOfNext } from './utc.ts';

/** Two periods to compare, each a first day or instant, and a last day (included) or instant (excluded). */
interface ComparedQuery {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly compareFrom?: string | undefined;
  readonly compareTo?: string | undefined;
}

/** From an instant to before another, ISO 8601, at whole hours. */
export interface Period {
  readonly from: string;
  readonly to: string;
}

/** A bound that the query does not have is at a whole day where hours are no longer kept. */
const periodOf = (from: Date, to: Date, now: Date): Period => {
  const { from: first, to: end } = coveringRange('hour', from, to);
  return isKept({ granularity: 'day', from: first, to: end }, now)
    ? { from: first, to: end }
    : { ...coveringRange('day', from, to) };
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
 * @throws ValidationError for an empty period, one of more than 366 days, and where spend has no sums
 */
export const comparedPeriods = (query: ComparedQuery, now: Date): { readonly now: Period; readonly before: Period } => {
  const from = query.from === undefined ? startOfMonth(now) : firstOfSpend('from', query.from, now);
  const wanted = query.to === undefined ? startOfNext('hour', now) : endOfSpend('to', query.to, now);
  const isOver = wanted <= now;
  const hour = startOf('hour', now);
  // In the first hour of a period there is no whole one.
  const current = periodOf(from, isOver ? wanted : hour > from ? hour : startOfNext('hour', hour), now);
  requireOrder(current, query.to === undefined ? 'from' : 'to');
  const length = lengthMs(current);
  const fromBefore =
    query.compareFrom === undefined
      ? new Date(Date.parse(current.from) - length)
      : firstOfSpend('compareFrom', query.compareFrom, now);
  const elapsedBefore = new Date(fromBefore.getTime() + length);
  const toBefore = query.compareTo === undefined ? elapsedBefore : endOfSpend('compareTo', query.compareTo, now);
  const ends = [toBefore, roundUp('hour', now), ...(isOver ? [] : [elapsedBefore])];
  const before = periodOf(fromBefore, new Date(Math.min(...ends.map(Number))), now);
  requireOrder(before, query.compareTo === undefined ? 'compareFrom' : 'compareTo');
  return { now: current, before };
};
