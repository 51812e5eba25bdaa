import { invalid } from '../errors.ts';
import { coveringRange, endOfSpend, firstOfSpend, isKept, MAX_BUCKETS, precedingRange } from './range.ts';
import { DAY_MS } from './units.ts';
import { isStartOf, roundUp, startOf, startOfMonth, startOfNext } from './utc.ts';

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

const lengthMs = ({ from, to }: Period): number => Date.parse(to) - Date.parse(from);

const requireOrder = ({ from, to }: Period, path: string): void => {
  if (from >= to) throw invalid(path, 'must be after the first day, which must be past');
  if (lengthMs({ from, to }) > MAX_BUCKETS.day * DAY_MS)
    throw invalid(path, `a period may have at most ${MAX_BUCKETS.day} days`);
};

/** Where a period without an end ends: with the month, day or hour of now, by what it begins with. */
const endOfRunning = (from: Date, now: Date): Date =>
  startOfNext(isStartOf('month', from) ? 'month' : isStartOf('day', from) ? 'day' : 'hour', now);

/**
 * The two periods of a comparison, the one rule of the API and of all pages: by default this month, and the one before it. Before whole
 * months are as many months, before any other period is as much time. A period that is not over ends with the last whole hour. The one
 * before is then cut after as much time, so that what elapsed is compared with as much, never with a whole month. Where the hours of that
 * cut are no longer kept, both end with whole days.
 *
 * @throws ValidationError for an empty period, one of more than 366 days, and where spend has no sums
 */
export const comparedPeriods = (query: ComparedQuery, now: Date): { readonly now: Period; readonly before: Period } => {
  const from = query.from === undefined ? startOfMonth(now) : firstOfSpend('from', query.from, now);
  const to = query.to === undefined ? endOfRunning(from, now) : endOfSpend('to', query.to, now);
  const whole: Period = { from: from.toISOString(), to: to.toISOString() };
  requireOrder(whole, query.to === undefined ? 'from' : 'to');
  const fromBefore =
    query.compareFrom === undefined
      ? new Date(precedingRange({ granularity: 'month', ...whole }).from)
      : firstOfSpend('compareFrom', query.compareFrom, now);
  const toBefore =
    query.compareTo !== undefined
      ? endOfSpend('compareTo', query.compareTo, now)
      : query.compareFrom === undefined
        ? from
        : new Date(fromBefore.getTime() + lengthMs(whole));

  const isOver = to <= now;
  const cutTo = (unit: 'hour' | 'day') => {
    const start = startOf(unit, now);
    // In the first hour of a period there is no whole one.
    const elapsed = start > from ? start : startOfNext(unit, now);
    const current = isOver ? whole : { ...whole, to: elapsed.toISOString() };
    const elapsedBefore = new Date(fromBefore.getTime() + lengthMs(current));
    const ends = [toBefore, roundUp(unit, now), ...(isOver ? [] : [elapsedBefore])];
    const before = coveringRange(unit, fromBefore, new Date(Math.min(...ends.map(Number))));
    return { now: current, before: { from: before.from, to: before.to } };
  };
  const inHours = cutTo('hour');
  const periods = isKept({ granularity: 'day', ...inHours.before }, now) ? inHours : cutTo('day');
  requireOrder(periods.now, 'from');
  requireOrder(periods.before, query.compareTo === undefined ? 'compareFrom' : 'compareTo');
  return periods;
};
