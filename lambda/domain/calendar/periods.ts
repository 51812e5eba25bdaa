import { DAY_MS, HOUR_MS, WEEK_MS } from './units.ts';
import { startOf, startOfNext } from './utc.ts';

/** What alert rules judge: calendar periods in UTC. Weeks begin on Monday (ISO 8601). */
export const periodNames = ['hourly', 'daily', 'weekly', 'monthly'] as const;
export type PeriodName = (typeof periodNames)[number];

export interface Period {
  readonly name: PeriodName;
  /** First instant, ISO 8601. */
  readonly start: string;
  /** First instant after it, ISO 8601. */
  readonly end: string;
}

/** 1970-01-05 was a Monday. */
const FIRST_MONDAY_MS = 4 * DAY_MS;

const granularityOf = { hourly: 'hour', daily: 'day', monthly: 'month' } as const;

/** The period that contains an instant. */
export const periodAt = (name: PeriodName, at: Date): Period => {
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

/** The period right before. */
export const periodBefore = ({ name, start }: Period): Period => periodAt(name, new Date(Date.parse(start) - 1));

/** How long after its end a period is still judged: usage may be recorded late. */
const LATE_MS: Record<PeriodName, number> = {
  hourly: 3 * HOUR_MS,
  daily: 2 * DAY_MS,
  weekly: 2 * DAY_MS,
  monthly: 2 * DAY_MS,
};

/** The periods to judge now: the current one, and those that ended recently. Latest first. */
export const periodsToJudge = (name: PeriodName, now: Date): Period[] => {
  const periods = [periodAt(name, now)];
  for (let last = periodBefore(periods[0] as Period); now.getTime() - Date.parse(last.end) < LATE_MS[name]; ) {
    periods.push(last);
    last = periodBefore(last);
  }
  return periods;
};
