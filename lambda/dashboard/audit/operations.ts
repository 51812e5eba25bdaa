import * as z from 'zod/mini';
import { auditActions } from '../../domain/accounts/audit.ts';
import { component, inGroup } from '../../http/operation.ts';
import { csvFile, described, PAGE_DESCRIPTION, pageOf, pageParameters, timeRange } from '../../http/parameters.ts';

const operation = inGroup('Audit log');

const KEPT = 'Entries are kept for 400 days, and shown for as long as the plan keeps request records.';

const entrySchema = component('AuditEntry', {
  id: z.string(),
  at: z.iso.datetime(),
  action: z.string().check(z.meta({ description: 'What happened.', examples: [...auditActions] })),
  actor: described(
    z.nullable(z.object({ userId: z.string(), name: z.string() })),
    "Who did it, with the user's mail address at that time. Null for the service itself.",
  ),
  clientAddress: described(z.nullable(z.string()), 'IP address of the request.'),
  subject: described(z.nullable(z.string()), 'Id of what was changed.'),
  details: described(z.record(z.string(), z.string()), 'What it is now.'),
  before: described(
    z.nullable(z.record(z.string(), z.string())),
    'What a change replaced, by the names in `details`. Null where nothing was replaced.',
  ),
});

export const listAudit = operation('listAudit', 'GET /audit', {
  summary: 'List who changed what, newest first',
  description: `${KEPT} ${PAGE_DESCRIPTION}`,
  permission: 'audit:read',
  query: z.strictObject({ ...timeRange, ...pageParameters({ default: 50, max: 200 }) }),
  success: pageOf(entrySchema, {}),
  errors: ['NOT_FOUND'],
});

export const exportAudit = operation('exportAudit', 'GET /audit/export.csv', {
  summary: 'Download the audit log as CSV',
  description: `Newest first. ${KEPT} Text that a spreadsheet would run as a formula is prefixed with an apostrophe.`,
  permission: 'audit:read',
  query: z.strictObject(timeRange),
  success: csvFile('audit.csv'),
});
