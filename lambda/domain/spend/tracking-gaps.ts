import { MINUTE_MS } from '../calendar/units.ts';

/** Requests that were forwarded and that no event reports. `from` and `to` are when the first and the last began, ISO 8601 UTC. */
export interface TrackingGap {
  readonly from: string;
  readonly to: string;
  readonly requests: number;
}

/** Reads reports of requests that could not be tracked. */
export type ReadTrackingGaps = (
  accountId: string,
  range: { readonly from: string; readonly to: string },
) => Promise<readonly TrackingGap[]>;

/** Reports of several gateway processes that are closer together are one gap. */
const SAME_GAP_MS = MINUTE_MS;

/** Merges reports into gaps, ascending, and counts the requests of all of them. */
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
