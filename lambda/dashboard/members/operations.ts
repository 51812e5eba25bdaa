import * as z from 'zod/mini';
import { INVITATION_DAYS } from '../../domain/accounts/invitation.ts';
import { roles } from '../../domain/accounts/permissions.ts';
import { emailSchema } from '../../http/email.ts';
import { idParams } from '../../http/id-params.ts';
import { operation } from '../../http/operation.ts';

const group = 'Members';

const memberSchema = z
  .object({
    userId: z.string(),
    email: z.string(),
    firstName: z.string(),
    lastName: z.string(),
    role: z.enum(roles),
    createdAt: z.iso.datetime(),
  })
  .register(z.globalRegistry, { id: 'Member' });

/** The owner's role changes by a transfer. */
const grantableRole = z
  .enum(['admin', 'member', 'viewer', 'billing'])
  .check(
    z.describe(
      '`admin`: all but billing, deletion, ownership and single sign-on. `member`: reads all, changes alert rules and own keys. `viewer`: reads. `billing`: spend and billing.',
    ),
  );

const invitationSchema = z
  .object({
    id: z.string(),
    email: z.string(),
    role: z.enum(roles),
    invitedBy: z.string().check(z.describe('Id of the member who invited.')),
    status: z.enum(['pending', 'expired']),
    createdAt: z.iso.datetime(),
    sentAt: z.iso.datetime(),
    validUntil: z.iso.datetime(),
  })
  .register(z.globalRegistry, { id: 'Invitation' });

const userId = z.string().check(z.minLength(1), z.maxLength(128));
const memberParams = z.strictObject({ userId });

export const listMembers = operation({
  id: 'listMembers',
  method: 'GET',
  path: '/members',
  group,
  summary: "List the account's users and their roles",
  permission: 'members:read',
  success: { status: 200, description: 'Oldest first.', schema: z.object({ items: z.array(memberSchema) }) },
});

export const leaveAccount = operation({
  id: 'leaveAccount',
  method: 'POST',
  path: '/members/leave',
  group,
  summary: 'Leave the account',
  description: 'The login stays, and can accept another invitation. The owner transfers the ownership first.',
  permission: 'self:write',
  success: { status: 204, description: 'You are no member any more.' },
  errors: ['NOT_FOUND', 'CONFLICT'],
});

export const changeRole = operation({
  id: 'changeRole',
  method: 'PATCH',
  path: '/members/{userId}',
  group,
  summary: "Change a member's role",
  description: 'Holds within 60 seconds.',
  permission: 'members:write',
  params: memberParams,
  body: z.strictObject({ role: grantableRole }),
  success: { status: 200, description: 'The member.', schema: memberSchema },
  errors: ['NOT_FOUND', 'CONFLICT'],
});

export const removeMember = operation({
  id: 'removeMember',
  method: 'DELETE',
  path: '/members/{userId}',
  group,
  summary: 'Remove a member',
  description:
    'The sessions of the user end, and tokens are rejected within 60 seconds. Service keys of the user stay active, because traffic may depend on them: the response lists them for review.',
  permission: 'members:write',
  params: memberParams,
  success: {
    status: 200,
    description: 'Removed.',
    schema: z.object({
      activeKeys: z
        .array(z.object({ id: z.string(), name: z.string(), maskedKey: z.string() }))
        .check(z.describe('Active service keys that the user owned.')),
    }),
  },
  errors: ['NOT_FOUND', 'CONFLICT'],
});

export const transferOwnership = operation({
  id: 'transferOwnership',
  method: 'POST',
  path: '/members/{userId}/transfer-ownership',
  group,
  summary: 'Make another member the owner',
  description: 'The former owner becomes an admin. An account has exactly one owner.',
  permission: 'ownership:write',
  params: memberParams,
  success: { status: 204, description: 'The member is the owner.' },
  errors: ['NOT_FOUND', 'CONFLICT'],
});

export const listInvitations = operation({
  id: 'listInvitations',
  method: 'GET',
  path: '/invitations',
  group,
  summary: 'List invitations that were not accepted',
  permission: 'members:read',
  success: {
    status: 200,
    description: 'Oldest first. Expired ones are listed for 30 days.',
    schema: z.object({ items: z.array(invitationSchema) }),
  },
});

export const inviteMember = operation({
  id: 'inviteMember',
  method: 'POST',
  path: '/invitations',
  group,
  summary: 'Invite somebody by mail',
  description: `The mail has a link that works once, for ${INVITATION_DAYS} days, and while the member who invited may invite. A user belongs to one account: an address that belongs to another account cannot be invited.`,
  permission: 'members:write',
  body: z.strictObject({ email: emailSchema, role: grantableRole }),
  success: { status: 201, description: 'The invitation. The mail is on its way.', schema: invitationSchema },
  errors: ['CONFLICT', 'LIMIT_REACHED'],
});

export const resendInvitation = operation({
  id: 'resendInvitation',
  method: 'POST',
  path: '/invitations/{id}/resend',
  group,
  summary: 'Send an invitation again',
  description: `With a new link, for ${INVITATION_DAYS} days from now. The former link stops working.`,
  permission: 'members:write',
  params: idParams,
  success: { status: 200, description: 'The invitation. The mail is on its way.', schema: invitationSchema },
  errors: ['NOT_FOUND', 'CONFLICT', 'LIMIT_REACHED'],
});

export const revokeInvitation = operation({
  id: 'revokeInvitation',
  method: 'DELETE',
  path: '/invitations/{id}',
  group,
  summary: 'Revoke an invitation',
  description: 'Its link stops working at once.',
  permission: 'members:write',
  params: idParams,
  success: { status: 204, description: 'Revoked.' },
  errors: ['NOT_FOUND'],
});
