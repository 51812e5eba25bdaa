import * as z from 'zod/mini';
import { operation } from '../../http/operation.ts';
import { auditRange, KEPT } from './audit-query.ts';

export const exportAudit = operation({
  id: 'exportAudit',
  method: 'GET',
  path: '/audit/export.csv',
  group: 'Audit log',
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
