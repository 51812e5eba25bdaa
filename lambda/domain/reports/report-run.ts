import * as z from 'zod/mini';
import { deliverySchema } from '../alerts/alert.ts';
import { reportContentSchema } from './report-content.ts';

/** A report of one period, and to whom it was sent. */
export const reportRunSchema = z.object({
  accountId: z.string(),
  reportId: z.string(),
  name: z.string(),
  createdAt: z.iso.datetime(),
  content: reportContentSchema,
  deliveries: z.array(deliverySchema),
});
export type ReportRun = z.infer<typeof reportRunSchema>;
