import { DAY_MS, HOUR_MS, WEEK_MS } from './units.ts';
import { startOf, startOfNext } from './utc.ts';

/** Alert rules judge calendar periods in UTC. Weeks begin on Monday (ISO 8601). */
export const periodNames = ['hourly', 'daily', 'weekly', 'monthly'] as const;
export type PeriodName = (typeof periodNames)[number];

/** A calendar period, or days that somebody chose. */
export const anyPeriodNames = [...periodNames, 'fixed'] as const;
export type AnyPeriodName = (typeof anyPeriodNames)[number];

export interface Period<Name extends AnyPeriodName = AnyPeriodName> {
  readonly name: Name;
  /** First instant, ISO 8601. */
  readonly start: string;
  /** First instant after it, ISO 8601. */
  readonly end: string;
}

/** 1970-01-05 was a Monday. */
const FIRST_MONDAY_MS = 4 * DAY_MS;

const granularityOf = { hourly: 'hour', daily: 'day', monthly: 'month' } as const;

export const periodAt = (name: PeriodName, at: Date): Period<PeriodName> => {
  if (name !== 'weekly') {
    const granularity = granularityOf[name];
    return {
      name,
      start: startOf(granularity, at).toISOString(),
      end: startOfNext(granularity, at).toISOString(),
    };
  }
  const startMs = Math.floor((at.getTime() - FIRST_MONDAY_MS) / WEEK_MS) * WEEK_MS + FIRST_MONDAY_MS;
  return { name, start: new Date(startMs).toISOString(), end: new Date(startMs + WEEK_MS).toISOString() };
};

export const periodBefore = ({ name, start }: Period<PeriodName>): Period<PeriodName> =>
  periodAt(name, new Date(Date.parse(start) - 1));

/** How long after its end a period is still judged: usage may be recorded late. */
const LATE_MS: Record<AnyPeriodName, number> = {
  hourly: 3 * HOUR_MS,
  daily: 2 * DAY_MS,
  weekly: 2 * DAY_MS,
  monthly: 2 * DAY_MS,
  fixed: 2 * DAY_MS,
};

/** How much longer a period is judged where it could not be judged in time. */
export const CATCH_UP_MS = DAY_MS;

/**
 * The periods to judge now: the current one, and those that ended recently. Latest first.
 *
 * @param judgedUntil when they were judged before, if that was long ago: the periods that were missed since then are judged too, as far
 *   back as CATCH_UP_MS
 */
export const periodsToJudge = (name: PeriodName, now: Date, judgedUntil: Date = now): Period<PeriodName>[] => {
  const missedMs = Math.min(Math.max(0, now.getTime() - judgedUntil.getTime()), CATCH_UP_MS);
  const oldestMs = now.getTime() - LATE_MS[name] - missedMs;
  const periods: Period<PeriodName>[] = [];
  for (let period = periodAt(name, now); Date.parse(period.end) > oldestMs; period = periodBefore(period))
    periods.push(period);
  return periods;
};

/** True if a period is judged later than an evaluator that runs in time would judge it. */
export const isOverdue = ({ name, end }: Period, now: Date): boolean =>
  now.getTime() - Date.parse(end) >= LATE_MS[name];
