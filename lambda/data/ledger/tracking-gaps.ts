import * as z from 'zod/mini';
import { HOUR_MS } from '../../domain/calendar/units.ts';
import type { TrackingGap } from '../../domain/spend/tracking-gaps.ts';
import { put } from '../table/actions.ts';
import { type Bounds, spendPartition, timeRange, trackingGapKey } from '../table/keys.ts';
import { itemsBetween } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { write } from '../table/write.ts';

/** A report covers less than an hour: see untrackedEventSchema. */
const MAX_REPORT_MS = HOUR_MS;

const stored = z.object({ from: z.iso.datetime(), to: z.iso.datetime(), requests: z.int() });

/** Reports by gateways of requests that they forwarded and could not track. */
export const openTrackingGaps = (table: Table) => ({
  /** Stores a report. The same report again changes nothing. */
  note: (accountId: string, reportId: string, { from, to, requests }: TrackingGap): Promise<void> =>
    write(table, put({ ...trackingGapKey(accountId, from, reportId), from, to, requests })),

  /** Reports that overlap a range of time, the earliest first. @param to the first instant that is not included */
  gaps: async (accountId: string, { from, to }: Bounds) => {
    const since = new Date(Date.parse(from) - MAX_REPORT_MS).toISOString();
    const gaps: TrackingGap[] = [];
    for await (const item of itemsBetween(table, spendPartition(accountId), timeRange('UNTRACKED', since, to))) {
      const gap = stored.parse(item);
      if (gap.from < to && gap.to >= from) gaps.push(gap);
    }
    return gaps;
  },
});
