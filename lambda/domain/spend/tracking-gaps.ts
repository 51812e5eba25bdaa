import { MINUTE_MS } from '../calendar/units.ts';
/** Requests that were forwarded and that nothing else tells of: the first and the last began then, ISO 8601 UTC. */
export interface TrackingGap {
  readonly from: string;
  readonly to: string;
  readonly requests: number;
}

/** Reports of several gateway processes that lie closer together are one gap. */
const SAME_GAP_MS = MINUTE_MS;

/** The gaps that reports come to, ascending, and how many requests fell into them in all. */
export const trackingGaps = (reports: readonly TrackingGap[]) => {
  const gaps: { from: string; to: string; requests: number }[] = [];
  for (const report of reports.toSorted((a, b) => (a.from < b.from ? -1 : 1))) {
    const gap = gaps.at(-1);
    if (gap && Date.parse(report.from) - Date.parse(gap.to) <= SAME_GAP_MS) {
      if (report.to > gap.to) gap.to = report.to;
      gap.requests += report.requests;
    } else gaps.push({ ...report });
  }
  return { requests: gaps.reduce((sum, { requests }) => sum + requests, 0), gaps };
};
