import { periodAt } from '../../../lambda/domain/calendar/periods.ts';
import { type Day, dayOf } from '../../../lambda/domain/calendar/utc.ts';
import { type MayAlsoMatch, sumOfKnown } from '../../../lambda/domain/spend/known-cost.ts';
import { forecastMonth } from '../../../lambda/domain/spend/month-forecast.ts';
import type { SpendPoint, SpendReport } from '../api/responses.ts';
import { addDecimals } from '../format/numbers.ts';
import { startInZone } from '../format/time.ts';
import { monthStart } from './ranges.ts';

export interface Sum {
  /** Null if no part of the cost is known. */
  readonly costNanoUsd: number | null;
  /** The cost in the display currency; undefined without one. */
  readonly displayCost?: string | null;
  readonly requests: number;
  readonly unpricedRequests: number;
  /** Requests under (other) that may match the filters as well, and their known cost. The others do not include them. */
  readonly mayAlsoMatch: MayAlsoMatch;
}

const sumOf = (points: readonly SpendPoint[]): Sum => {
  const costNanoUsd = sumOfKnown(points.map((point) => point.costNanoUsd));
  const known = points.filter((point) => point.costNanoUsd !== null);
  const mayAlsoMatch = points.flatMap((point) => point.mayAlsoMatch ?? []);
  return {
    costNanoUsd,
    ...(points.some(({ displayCost }) => displayCost !== undefined) && {
      displayCost: costNanoUsd === null ? null : addDecimals(known.map(({ displayCost }) => displayCost ?? null)),
    }),
    requests: points.reduce((sum, { requests }) => sum + requests, 0),
    unpricedRequests: points.reduce((sum, { unpricedRequests }) => sum + unpricedRequests, 0),
    mayAlsoMatch: {
      requests: mayAlsoMatch.reduce((sum, { requests }) => sum + requests, 0),
      costNanoUsd: sumOfKnown(mayAlsoMatch.map((each) => each.costNanoUsd)),
      unpricedRequests: mayAlsoMatch.reduce((sum, each) => sum + each.unpricedRequests, 0),
    },
  };
};

/** The parts of a report that the headline uses. */
type Figures = Pick<SpendReport, 'series' | 'untracked'>;

/** The most requests that went untracked since a time. A gap that overlaps its start counts in full. */
const untrackedSince = ({ gaps }: SpendReport['untracked'], time: string): number =>
  gaps.reduce((sum, { to, requests }) => (to >= time ? sum + requests : sum), 0);

/** Today, from hours of which some may be earlier. @param start the first instant of today */
export const todayOf = ({ series, untracked }: Figures, start: Date) => {
  const first = start.toISOString();
  const hours = series.filter(({ time }) => time >= first.slice(0, time.length));
  return { sum: sumOf(hours), hours, untrackedRequests: untrackedSince(untracked, first) };
};

/**
 * This month, and its forecast, which is null where the cost of the month or of the last week is unknown, or without a week of history.
 *
 * @param series days since the start of last month, of a zone
 * @param today of the zone
 */
export const monthOf = ({ series, untracked }: Figures, today: Day, zone = 'UTC') => {
  const [thisMonth, lastMonth] = [today, monthStart(today, 1)].map((day) => day.slice(0, 7)) as [string, string];
  const days = series.filter(({ time }) => time.startsWith(thisMonth));
  const sum = sumOf(days);
  return {
    sum,
    lastMonth: sumOf(series.filter(({ time }) => time.startsWith(lastMonth))),
    forecastNanoUsd: sum.costNanoUsd === null ? null : forecast(series, today),
    days,
    untrackedRequests: untrackedSince(untracked, startInZone(zone, monthStart(today)).toISOString()),
  };
};

/** The same forecast as that of budget_forecast rules, by the days of the zone: their names are taken as UTC days. */
const forecast = (days: readonly SpendPoint[], today: Day): number | null => {
  const now = new Date(today);
  const sumDays = (from: string, to: string) => {
    const { requests, costNanoUsd } = sumOf(days.filter(({ time }) => time >= dayOf(from) && time < dayOf(to)));
    return { requests, nanoUsd: costNanoUsd };
  };
  return forecastMonth(periodAt('monthly', now), now, sumDays)?.nanoUsd ?? null;
};
