import type { Period } from '../calendar/periods.ts';
import { DAY_MS } from '../calendar/units.ts';
import { dayOf, startOf } from '../calendar/utc.ts';

/** The rate of spending is that of the last seven whole days: one week has every weekday once. */
export const RATE_DAYS = 7;
/** How far back the first request is looked for: there is history enough if it is not later than the first day of the rate. */
export const HISTORY_DAYS = 2 * RATE_DAYS;

/** Requests and known cost, in nano-USD, of the days from one instant to before another, ISO 8601. */
type SumDays = (from: string, to: string) => { readonly requests: number; readonly nanoUsd: number | null };

const iso = (ms: number): string => new Date(ms).toISOString();

/**
 * Sum of a month at the current rate, in nano-USD, and the day on which a limit will be reached. Today counts once: with what is
 * spent, or with a day at the rate if that is more. Null without a week of history, and if no part of its cost is known.
 */
export const forecastMonth = (month: Pick<Period, 'start' | 'end'>, now: Date, sumDays: SumDays) => {
  const todayMs = startOf('day', now).getTime();
  const tomorrowMs = todayMs + DAY_MS;
  const rateFromMs = todayMs - RATE_DAYS * DAY_MS;
  if (sumDays(iso(todayMs - HISTORY_DAYS * DAY_MS), iso(rateFromMs + DAY_MS)).requests === 0) return null;
  const ofWeek = sumDays(iso(rateFromMs), iso(todayMs)).nanoUsd;
  const untilToday = sumDays(month.start, iso(todayMs)).nanoUsd;
  if (ofWeek === null || (ofWeek === 0 && untilToday === null)) return null;
  const rate = ofWeek / RATE_DAYS;
  const today = Math.max(sumDays(iso(todayMs), iso(tomorrowMs)).nanoUsd ?? 0, rate);
  const byTonight = (untilToday ?? 0) + today;
  const nanoUsd = Math.round(byTonight + (rate * (Date.parse(month.end) - tomorrowMs)) / DAY_MS);
  return {
    nanoUsd: Math.min(nanoUsd, Number.MAX_SAFE_INTEGER),
    reaches: (limit: number) => dayOf(iso(todayMs + Math.max(0, Math.ceil((limit - byTonight) / rate)) * DAY_MS)),
  };
};
