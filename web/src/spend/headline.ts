import { periodAt } from '../../../lambda/domain/calendar/periods.ts';
import { DAY_MS } from '../../../lambda/domain/calendar/units.ts';
import { dayOf } from '../../../lambda/domain/calendar/utc.ts';
import { forecastMonth } from '../../../lambda/domain/spend/month-forecast.ts';
import type { SpendPoint, SpendReport } from '../api/responses.ts';
import { addDecimals } from '../format/money.ts';
import { utcDate } from '../format/time.ts';

export interface Sum {
  /** Null where nothing is known of the cost. */
  readonly costNanoUsd: number | null;
  /** The cost in the display currency; undefined without one. */
  readonly displayCost?: string | null;
  readonly requests: number;
  readonly unpricedRequests: number;
  /** Requests under (other) that may match the filters as well, and their known cost. The others do not include them. */
  readonly mayAlsoMatch: { readonly requests: number; readonly costNanoUsd: number };
}

const sumOf = (points: readonly SpendPoint[]): Sum => {
  const known = points.filter(({ costNanoUsd }) => costNanoUsd !== null);
  const requests = points.reduce((sum, point) => sum + point.requests, 0);
  const isUnknown =
    points.some(({ costNanoUsd }) => costNanoUsd === null) && known.every(({ costNanoUsd }) => costNanoUsd === 0);
  return {
    costNanoUsd: isUnknown ? null : known.reduce((sum, point) => sum + (point.costNanoUsd ?? 0), 0),
    ...(points.some(({ displayCost }) => displayCost !== undefined) && {
      displayCost: isUnknown ? null : addDecimals(known.map(({ displayCost }) => displayCost ?? null)),
    }),
    requests,
    unpricedRequests: points.reduce((sum, point) => sum + point.unpricedRequests, 0),
    mayAlsoMatch: {
      requests: points.reduce((sum, { mayAlsoMatch }) => sum + (mayAlsoMatch?.requests ?? 0), 0),
      costNanoUsd: points.reduce((sum, { mayAlsoMatch }) => sum + (mayAlsoMatch?.costNanoUsd ?? 0), 0),
    },
  };
};

/** The parts of a report that the headline uses. */
type Figures = Pick<SpendReport, 'series' | 'untracked'>;

/** At most so many requests went untracked since a time. A gap that overlaps its start counts in full. */
const untrackedSince = ({ gaps }: SpendReport['untracked'], time: string): number =>
  gaps.reduce((sum, { to, requests }) => (to >= time ? sum + requests : sum), 0);

/** The last whole hour has ended at this hour of the day: `17`. */
const wholeHours = (now: Date): string => now.toISOString().slice(11, 13);

const beforeHour = (points: readonly SpendPoint[], day: string, hour: string): readonly SpendPoint[] =>
  points.filter(({ time }) => time.startsWith(day) && time < `${day}T${hour}`);

/**
 * Today, and its whole hours against the same hours of yesterday, from the hours since yesterday: an hour that has just begun is not
 * compared with a whole one. Days are UTC.
 */
export const todayOf = ({ series: hours, untracked }: Figures, now: Date) => {
  const [today, yesterday] = [utcDate(now), utcDate(new Date(now.getTime() - DAY_MS))];
  const hour = wholeHours(now);
  const ofToday = hours.filter(({ time }) => time.startsWith(today));
  return {
    sum: sumOf(ofToday),
    elapsed: sumOf(beforeHour(hours, today, hour)),
    before: sumOf(beforeHour(hours, yesterday, hour)),
    /** Until when yesterday counts, ISO 8601. */
    beforeUntil: `${yesterday}T${hour}:00:00.000Z`,
    hours: ofToday,
    untrackedRequests: untrackedSince(untracked, today),
  };
};

/** The day of last month with the number of today; its last day where it is shorter. */
export const sameDayOfLastMonth = (now: Date): string => {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  const lastDay = new Date(Date.UTC(year, month, 0)).getUTCDate();
  return utcDate(new Date(Date.UTC(year, month - 1, Math.min(now.getUTCDate(), lastDay))));
};

const monthName = (at: Date) => at.toISOString().slice(0, 7);

/**
 * This month, its whole hours against last month up to the same day and hour, and the forecast. The forecast is null where the cost of
 * the month is unknown, or without a week of history.
 *
 * @param days since the start of last month
 * @param hours since yesterday
 * @param thatDay the hours of last month's day with the same number
 */
export const monthOf = (
  { series: days, untracked }: Figures,
  { series: hours }: Pick<Figures, 'series'>,
  { series: thatDay }: Pick<Figures, 'series'>,
  now: Date,
) => {
  const today = utcDate(now);
  const thisMonth = monthName(now);
  const lastMonth = monthName(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 0)));
  const sameDay = sameDayOfLastMonth(now);
  const hour = wholeHours(now);
  const ofThis = days.filter(({ time }) => time.startsWith(thisMonth));
  const ofLast = days.filter(({ time }) => time.startsWith(lastMonth));
  const sum = sumOf(ofThis);
  return {
    sum,
    elapsed: sumOf([...ofThis.filter(({ time }) => time < today), ...beforeHour(hours, today, hour)]),
    before: sumOf([...ofLast.filter(({ time }) => time < sameDay), ...beforeHour(thatDay, sameDay, hour)]),
    /** Until when last month counts, ISO 8601. */
    beforeUntil: `${sameDay}T${hour}:00:00.000Z`,
    lastMonth: sumOf(ofLast),
    forecastNanoUsd: sum.costNanoUsd === null ? null : forecast(days, now),
    days: ofThis,
    untrackedRequests: untrackedSince(untracked, thisMonth),
  };
};

/** The same forecast as that of budget_forecast rules. */
const forecast = (days: readonly SpendPoint[], now: Date): number | null => {
  const sumDays = (from: string, to: string) => {
    const sum = sumOf(days.filter(({ time }) => time >= dayOf(from) && time < dayOf(to)));
    return { requests: sum.requests, nanoUsd: sum.costNanoUsd ?? 0 };
  };
  return forecastMonth(periodAt('monthly', now), now, sumDays)?.nanoUsd ?? null;
};

/** The relative change against an earlier amount; null where there is nothing to compare with. */
export const changeOf = (now: number | null, before: number | null): number | null =>
  now === null || before === null || before === 0 ? null : now / before - 1;
