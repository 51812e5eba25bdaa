import type { Report } from './report.ts';
import type { ReportContent } from './report-content.ts';
import type { ReportRun } from './report-run.ts';

/** A report of a period, to be delivered on the report's channels. */
export const newRun = (
  { accountId, reportId, name, channels }: Report,
  content: ReportContent,
  now: Date,
): ReportRun => ({
  accountId,
  reportId,
  name,
  createdAt: now.toISOString(),
  content,
  deliveries: channels.map((channel) => ({
    channel,
    status: 'pending',
    attempts: 0,
    lastAttemptAt: null,
    sentAt: null,
    error: null,
  })),
});
