import * as z from 'zod/mini';
import { auditActions } from '../../domain/accounts/audit.ts';
import { operation } from '../../http/operation.ts';
import { PAGE_DESCRIPTION, pageOf, pageParameters } from '../../http/page.ts';
import { auditRange, KEPT } from './audit-query.ts';

const group = 'Audit log';

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

export const listAudit = operation({
  id: 'listAudit',
  method: 'GET',
  path: '/audit',
  group,
  summary: 'List who changed what, newest first',
  description: `${KEPT} ${PAGE_DESCRIPTION}`,
  permission: 'audit:read',
  query: z.strictObject({ ...auditRange, ...pageParameters({ default: 50, max: 200 }) }),
  success: { status: 200, description: 'One page.', schema: pageOf(entrySchema) },
  errors: ['NOT_FOUND'],
});
