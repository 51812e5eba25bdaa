import * as z from 'zod/mini';
import { auditActions } from '../../domain/accounts/audit.ts';
import { inGroup } from '../../http/operation.ts';
import { dayOrInstant, PAGE_DESCRIPTION, pageOf, pageParameters } from '../../http/parameters.ts';

const operation = inGroup('Audit log');

/** The entries to list or export. */
const auditRange = {
  from: z.optional(dayOrInstant.check(z.describe('First day or instant. Default: 30 days before `to`.'))),
  to: z.optional(dayOrInstant.check(z.describe('Last day (inclusive) or instant (exclusive). Default: now.'))),
};

const KEPT = 'Entries are kept for 400 days, and shown for as long as the plan keeps request records.';

const entrySchema = z
  .object({
    id: z.string(),
    at: z.iso.datetime(),
    action: z.string().check(z.meta({ description: 'What happened.', examples: [...auditActions] })),
    actor: z
      .nullable(z.object({ userId: z.string(), name: z.string() }))
      .check(z.describe("Who did it, with the user's mail address at that time. Null for the service itself.")),
    clientAddress: z.nullable(z.string()).check(z.describe('IP address of the request.')),
    subject: z.nullable(z.string()).check(z.describe('Id of what was changed.')),
    details: z.record(z.string(), z.string()).check(z.describe('What it is now.')),
    before: z
      .nullable(z.record(z.string(), z.string()))
      .check(z.describe('What a change replaced, by the names in `details`. Null where nothing was replaced.')),
  })
  .register(z.globalRegistry, { id: 'AuditEntry' });

export const listAudit = operation('listAudit', 'GET /audit', {
  summary: 'List who changed what, newest first',
  description: `${KEPT} ${PAGE_DESCRIPTION}`,
  permission: 'audit:read',
  query: z.strictObject({ ...auditRange, ...pageParameters({ default: 50, max: 200 }) }),
  success: { status: 200, description: 'One page.', schema: pageOf(entrySchema) },
  errors: ['NOT_FOUND'],
});

export const exportAudit = operation('exportAudit', 'GET /audit/export.csv', {
  summary: 'Download the audit log as CSV',
  description: `Newest first. ${KEPT} Text that a spreadsheet would run as a formula is prefixed with an apostrophe.`,
  permission: 'audit:read',
  query: z.strictObject(auditRange),
  success: {
    status: 200,
    description: 'CSV by RFC 4180 in UTF-8 with a header line.',
    schema: z.string(),
    streamed: { contentType: 'text/csv; charset=utf-8', filename: 'audit.csv' },
  },
});
