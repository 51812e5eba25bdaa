import * as z from 'zod/mini';
import { dayOrInstant } from '../../http/time-parameters.ts';

/** The entries to list or export. */
export const auditRange = {
  from: z.optional(dayOrInstant.check(z.describe('First day or instant. Default: 30 days before `to`.'))),
  to: z.optional(dayOrInstant.check(z.describe('Last day (inclusive) or instant (exclusive). Default: now.'))),
};

export const KEPT = 'Entries are kept as long as request records on the plan.';
