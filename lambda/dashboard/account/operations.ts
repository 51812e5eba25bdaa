import * as z from 'zod/mini';
import { DELETION_GRACE_DAYS } from '../../domain/billing/plans.ts';
import { component, inGroup, ok } from '../../http/operation.ts';
import { described } from '../../http/parameters.ts';
import { PROOF_RULE, proof } from '../auth/confirm-identity.ts';

const operation = inGroup('Account');
const instant = z.iso.datetime();

const deletionSchema = component('AccountDeletion', {
  requestedAt: instant,
  requestedBy: described(z.string(), 'Mail address of the owner.'),
  deletesAt: described(
    instant,
    'From then on keys are refused and everything is deleted. Until then it can be cancelled.',
  ),
});

export const readDeletion = operation('readDeletion', 'GET /account/deletion', {
  summary: 'Read whether the account will be deleted',
  permission: 'account:read',
  success: ok('`deletion` is null if nobody asked for it.', { deletion: z.nullable(deletionSchema) }),
});

export const requestDeletion = operation('requestDeletion', 'POST /account/deletion', {
  audits: ['account.deletion_requested'],
  summary: 'Delete the account',
  description: `${PROOF_RULE} For ${DELETION_GRACE_DAYS} days nothing changes, and DELETE /account/deletion cancels it: requests are forwarded and tracked, alerts are sent, and a subscription goes on. Then service keys and API tokens are refused, and members, logins, records, sums, archives and the customer at the payment processor with its subscription are deleted for good.`,
  permission: 'account:delete',
  rateLimits: { perAccount: { requests: 10, minutes: 15 } },
  body: z.strictObject(proof),
  success: { status: 202, description: 'Owner and admins get a mail.', schema: deletionSchema },
  errors: ['INVALID_CREDENTIALS', 'TOTP_REQUIRED', 'CONFLICT'],
});

export const cancelDeletion = operation('cancelDeletion', 'DELETE /account/deletion', {
  audits: ['account.deletion_cancelled'],
  summary: 'Keep the account after all',
  permission: 'account:delete',
  success: { status: 204, description: 'The account stays.' },
  errors: ['NOT_FOUND', 'CONFLICT'],
});
