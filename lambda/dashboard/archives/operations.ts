import * as z from 'zod/mini';
import { component, inGroup, ok } from '../../http/operation.ts';
import { described, unreadable } from '../../http/parameters.ts';

const instant = z.iso.datetime();
const operation = inGroup('Account');

const archiveSchema = component('Archive', {
  id: z.string(),
  status: z.enum(['pending', 'ready', 'failed']),
  progress: described(z.int().check(z.minimum(0), z.maximum(100)), 'Percent of the parts that are written.'),
  requestedAt: instant,
  requestedBy: described(z.string(), 'Mail address of the member, or name of the API token.'),
  bytes: described(z.nullable(z.int()), 'Size of the file, once it is ready.'),
  availableUntil: described(z.nullable(instant), 'Once it is ready. Then the file is deleted.'),
});

export const createArchive = operation('createArchive', 'POST /account/archives', {
  audits: ['archive.requested'],
  summary: 'Export everything the account has',
  description:
    'One `.tar.gz`: the account with its members, projects, keys, tokens, rules, budgets and alerts, the audit log, request records and sessions by day as lines of JSON, and spend by month as CSV. Secrets are left out. It is written in the background; GET /account/archives shows the progress.',
  permission: 'account:write',
  rateLimits: { perAccount: { requests: 3, minutes: 1_440 } },
  success: { status: 202, description: 'Begun.', schema: archiveSchema },
  errors: ['CONFLICT'],
});

export const listArchives = operation('listArchives', 'GET /account/archives', {
  summary: 'List the archives of the account',
  permission: 'account:read',
  success: ok('Newest first. Archives are kept for seven days.', { items: z.array(archiveSchema), unreadable }),
});

export const linkArchive = operation('linkArchive', 'POST /account/archives/{id}/link', {
  audits: ['archive.downloaded'],
  summary: 'Get a link to download an archive',
  description: 'Whoever has the link can download the file, without a token, until the link expires.',
  permission: 'account:write',
  success: ok('The link works for 15 minutes.', { url: z.string(), validUntil: instant }),
  errors: ['CONFLICT'],
});
