import { type PeriodName, periodAt } from '../../../lambda/domain/calendar/periods.ts';
import type { RulePreview, SpendPoint } from '../api/responses.ts';
import { bucketStart } from '../format/time.ts';

export interface BacktestBar {
  readonly time: string;
  /** What the rule would have seen by the end of this bucket: the sum since its period began. */
  readonly seen: number;
  readonly fired: boolean;
}

/** The buckets as the rule would have seen them; true in `fired` where it would have fired. */
export const backtestBars = (
  points: readonly SpendPoint[],
  period: PeriodName,
  measure: (point: SpendPoint) => number,
  firings: RulePreview['firings'],
): readonly BacktestBar[] => {
  // A firing has the end of its bucket, or now in the current bucket.
  const fired = firings.map(({ by }) => Date.parse(by));
  let sum = 0;
  let periodStart = '';
  return points.map((point, index) => {
    const start = bucketStart(point.time);
    const next = points[index + 1];
    const endMs = next ? bucketStart(next.time).getTime() : Number.POSITIVE_INFINITY;
    const { start: ownPeriodStart } = periodAt(period, start);
    sum = ownPeriodStart === periodStart ? sum + measure(point) : measure(point);
    periodStart = ownPeriodStart;
    return { time: point.time, seen: sum, fired: fired.some((by) => by > start.getTime() && by <= endMs) };
  });
};
