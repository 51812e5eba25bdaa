import type { RulePreview, SpendPoint } from '../api/responses.ts';
import { bucketStart } from '../format/time.ts';
import type { Period } from './rule-form.ts';

const DAY_MS = 86_400_000;
/** 1970-01-05 was a Monday; weeks begin on Mondays. */
const FIRST_MONDAY_MS = 4 * DAY_MS;

const periodStart = (period: Period, at: Date): number => {
  const ms = at.getTime();
  if (period === 'monthly') return Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1);
  if (period === 'weekly') return Math.floor((ms - FIRST_MONDAY_MS) / (7 * DAY_MS)) * 7 * DAY_MS + FIRST_MONDAY_MS;
  return period === 'daily' ? Math.floor(ms / DAY_MS) * DAY_MS : ms;
};

export interface BacktestBar {
  readonly time: string;
  /** What the rule would have seen by the end of this bucket: summed up since its period began. */
  readonly seen: number;
  readonly fired: boolean;
}

/** Each bucket as the rule would have seen it, and those in which it would have fired. */
export const backtestBars = (
  points: readonly SpendPoint[],
  period: Period,
  measure: (point: SpendPoint) => number,
  firings: RulePreview['firings'],
): readonly BacktestBar[] => {
  // A firing is told by the end of its bucket, or by now in the bucket that runs.
  const fired = firings.map(({ by }) => Date.parse(by));
  let sum = 0;
  let since = Number.NaN;
  return points.map((point, index) => {
    const start = bucketStart(point.time);
    const next = points[index + 1];
    const endMs = next ? bucketStart(next.time).getTime() : Number.POSITIVE_INFINITY;
    const began = periodStart(period, start);
    sum = began === since ? sum + measure(point) : measure(point);
    since = began;
    return { time: point.time, seen: sum, fired: fired.some((by) => by > start.getTime() && by <= endMs) };
  });
};
