import * as z from 'zod/mini';
import { deliverySchema, pendingDeliveries } from '../alerts/alert.ts';
import type { Report } from './report.ts';
import { type ReportContent, reportContentSchema } from './report-content.ts';

/** A report of one period, and to whom it was sent. */
export const reportRunSchema = z.object({
  accountId: z.string(),
  reportId: z.string(),
  name: z.string(),
  createdAt: z.iso.datetime(),
  content: reportContentSchema,
  /** True where somebody asked for it: the scheduled one of the same period is sent all the same. */
  isAskedFor: z.optional(z.boolean()),
  deliveries: z.array(deliverySchema),
});
export type ReportRun = z.infer<typeof reportRunSchema>;

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
  deliveries: pendingDeliveries(channels),
});
