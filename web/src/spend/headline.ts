import { periodAt } from '../../../lambda/domain/calendar/periods.ts';
import { DAY_MS } from '../../../lambda/domain/calendar/units.ts';
import { dayOf } from '../../../lambda/domain/calendar/utc.ts';
import { forecastMonth } from '../../../lambda/domain/spend/month-forecast.ts';
import type { SpendPoint, SpendReport } from '../api/responses.ts';
import { utcDate } from '../format/time.ts';

export interface Sum {
  /** Null where nothing is known of the cost. */
  readonly costNanoUsd: number | null;
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

/** Today, and yesterday up to the same hour, from the hours since yesterday. Days are UTC. */
export const todayOf = ({ series: hours, untracked }: Figures, now: Date) => {
  const [today, yesterday] = [utcDate(now), utcDate(new Date(now.getTime() - DAY_MS))];
  const untilHour = `${yesterday}T${now.toISOString().slice(11, 13)}`;
  const ofToday = hours.filter(({ time }) => time.startsWith(today));
  return {
    sum: sumOf(ofToday),
    before: sumOf(hours.filter(({ time }) => time.startsWith(yesterday) && time <= untilHour)),
    hours: ofToday,
    untrackedRequests: untrackedSince(untracked, today),
  };
};

const monthName = (at: Date) => at.toISOString().slice(0, 7);

/**
 * This month, last month up to the same day, and the forecast, from the days since the start of last month. The forecast is null where the
 * cost of the month is unknown, or without a week of history.
 */
export const monthOf = ({ series: days, untracked }: Figures, now: Date) => {
  const thisMonth = monthName(now);
  const lastMonth = monthName(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 0)));
  const dayOfMonth = now.toISOString().slice(8, 10);
  const ofThis = days.filter(({ time }) => time.startsWith(thisMonth));
  const ofLast = days.filter(({ time }) => time.startsWith(lastMonth));
  const sum = sumOf(ofThis);
  return {
    sum,
    before: sumOf(ofLast.filter(({ time }) => time.slice(8) <= dayOfMonth)),
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
