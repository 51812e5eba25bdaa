import { DAY_MS } from '../../../lambda/domain/calendar/units.ts';
import type { SpendPoint, SpendReport } from '../api/responses.ts';
import { utcDate } from '../format/time.ts';

/** The same as in budget_forecast rules: one week has every weekday once. */
const RATE_DAYS = 7;

export interface Sum {
  /** Null where the costs of all requests are unknown. */
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

/** This month, last month up to the same day, and the forecast, from the days since the start of last month. */
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
    forecastNanoUsd: sum.costNanoUsd === null ? null : forecast(sum.costNanoUsd, days, now),
    days: ofThis,
    untrackedRequests: untrackedSince(untracked, thisMonth),
  };
};

/** The spend so far, plus the rest of the month at the rate of the last seven whole days. */
const forecast = (spentNanoUsd: number, days: readonly SpendPoint[], now: Date): number => {
  const today = now.getTime() - (now.getTime() % DAY_MS);
  const [first, end] = [utcDate(new Date(today - RATE_DAYS * DAY_MS)), utcDate(new Date(today))];
  const lastWeek = sumOf(days.filter(({ time }) => time >= first && time < end)).costNanoUsd ?? 0;
  const monthEnd = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
  return Math.round(spentNanoUsd + (lastWeek / (RATE_DAYS * DAY_MS)) * (monthEnd - now.getTime()));
};

/** The relative change against an earlier amount; null where there is nothing to compare with. */
export const changeOf = (now: number | null, before: number | null): number | null =>
  now === null || before === null || before === 0 ? null : now / before - 1;
