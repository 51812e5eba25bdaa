import * as z from 'zod/mini';
import { INVITATION_DAYS } from '../../domain/accounts/invitation.ts';
import { roles } from '../../domain/accounts/permissions.ts';
import { joiningRoles } from '../../domain/accounts/sign-on.ts';
import { component, created, inGroup, ok } from '../../http/operation.ts';
import { described, emailSchema } from '../../http/parameters.ts';
import { memberProjects } from '../keys/member-projects.ts';

const operation = inGroup('Members');

const memberSchema = component('Member', {
  userId: z.string(),
  email: z.string(),
  firstName: z.string(),
  lastName: z.string(),
  role: z.enum(roles),
  projects: memberProjects,
  createdAt: z.iso.datetime(),
});

/** The owner's role changes by a transfer. */
const grantableRole = described(
  z.enum(joiningRoles),
  '`admin`: all but billing, deletion, ownership and single sign-on. `member`: reads all, changes alert rules and own keys. `viewer`: reads. `billing`: spend and billing. `developer`: own keys, and their spend, requests and limits.',
);

const invitationSchema = component('Invitation', {
  id: z.string(),
  email: z.string(),
  role: z.enum(roles),
  projects: memberProjects,
  invitedBy: described(z.string(), 'Id of the member who invited.'),
  status: z.enum(['pending', 'expired']),
  createdAt: z.iso.datetime(),
  sentAt: z.iso.datetime(),
  validUntil: z.iso.datetime(),
});

const userId = z.string().check(z.minLength(1), z.maxLength(128));
const memberParams = z.strictObject({ userId });

export const listMembers = operation('listMembers', 'GET /members', {
  summary: "List the account's users and their roles",
  permission: 'members:read',
  success: ok('Oldest first.', { items: z.array(memberSchema) }),
});

const endedTokens = described(
  z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      role: described(z.nullable(z.enum(roles)), 'Null: one of a later version.'),
      isRevoked: z.boolean(),
    }),
  ),
  'API tokens that the user made and that may do or see more than the user may now.',
);

const revokeTokens = z._default(z.enum(['true', 'false']), 'true');

export const leaveAccount = operation('leaveAccount', 'POST /members/leave', {
  audits: ['member.left', 'token.revoked'],
  summary: 'Leave the account',
  description:
    'The login stays, and can accept another invitation. API tokens that you made are revoked, keys stay active. The owner transfers the ownership first.',
  permission: 'self:write',
  success: { status: 204, description: 'You are no member any more.' },
  errors: ['NOT_FOUND', 'CONFLICT'],
});

export const changeMember = operation('changeMember', 'PATCH /members/{userId}', {
  audits: ['member.role_changed', 'token.revoked'],
  summary: "Change a member's role, or the projects that the member is limited to",
  description: 'Send only the members to change. Holds at once for changes, and within 60 seconds for reads.',
  permission: 'members:write',
  params: memberParams,
  body: z.strictObject({
    role: z.optional(grantableRole),
    projects: z.optional(memberProjects),
    revokeTokens: described(
      z._default(z.boolean(), true),
      'Revokes the API tokens that the member made and that may do or see more than the member may now.',
    ),
  }),
  success: ok('The member.', z.extend(memberSchema, { tokens: endedTokens })),
  errors: ['NOT_FOUND', 'CONFLICT'],
});

export const removeMember = operation('removeMember', 'DELETE /members/{userId}', {
  audits: ['member.removed', 'token.revoked', 'key.revoked', 'key.handed_over'],
  summary: 'Remove a member',
  description:
    'The sessions of the user end, and tokens are rejected within 60 seconds. `keys` says what becomes of the service keys of the user. They stay active by default, because traffic may depend on them: the response lists them for review.',
  permission: 'members:write',
  params: memberParams,
  query: z.strictObject({
    keys: described(
      z._default(z.enum(['keep', 'revoke', 'hand-over']), 'keep'),
      '`revoke`: they are revoked, the last active one too. `hand-over`: each becomes a key of `to` with another id and the same secret, so that clients go on, and what was spent stays under the user. Pauses, access rules and limits of the former id do not follow.',
    ),
    to: described(z.optional(userId), 'User id of the member who gets the keys.'),
    revokeTokens: described(revokeTokens, 'Revokes the API tokens that the user made.'),
  }),
  success: ok('Removed.', {
    activeKeys: described(
      z.array(z.object({ id: z.string(), name: z.string(), maskedKey: z.string() })),
      'Service keys of the user that are still active.',
    ),
    tokens: endedTokens,
  }),
  errors: ['NOT_FOUND', 'CONFLICT'],
});

export const transferOwnership = operation('transferOwnership', 'POST /members/{userId}/transfer-ownership', {
  audits: ['ownership.transferred', 'token.revoked'],
  summary: 'Make another member the owner',
  description: 'The former owner becomes an admin. An account has exactly one owner.',
  permission: 'ownership:write',
  params: memberParams,
  query: z.strictObject({
    revokeTokens: described(
      revokeTokens,
      'Revokes the API tokens that the former owner made and that may do more than an admin.',
    ),
  }),
  success: ok('The member is the owner.', { tokens: endedTokens }),
  errors: ['NOT_FOUND', 'CONFLICT'],
});

export const listInvitations = operation('listInvitations', 'GET /invitations', {
  summary: 'List invitations that were not accepted',
  permission: 'members:read',
  success: ok('Oldest first. Expired ones are listed for 30 days.', { items: z.array(invitationSchema) }),
});

export const inviteMember = operation('inviteMember', 'POST /invitations', {
  audits: ['invitation.sent'],
  summary: 'Invite somebody by mail',
  description: `The mail has a link that works once, for ${INVITATION_DAYS} days, and while the member who invited may invite. A user belongs to one account: an address that belongs to another account cannot be invited.`,
  permission: 'members:write',
  body: z.strictObject({ email: emailSchema, role: grantableRole, projects: z.optional(memberProjects) }),
  success: created('The invitation. The mail is on its way.', invitationSchema),
  errors: ['CONFLICT', 'LIMIT_REACHED'],
});

const MAX_LINES = 500;

export const inviteMembers = operation('inviteMembers', 'POST /invitations/batch', {
  audits: ['invitation.sent'],
  summary: 'Invite many people at once',
  description:
    'Each line is a body of POST /invitations, and is refused by itself: `error` says why. Lines that there was no time for are `left`: send them again.',
  permission: 'members:write',
  body: z.strictObject({
    lines: z
      .array(z.looseObject({ email: z.string().check(z.maxLength(320)) }))
      .check(z.minLength(1), z.maxLength(MAX_LINES)),
  }),
  success: ok('One item for each line, in their order.', {
    items: z.array(
      z.object({
        email: z.string(),
        status: z.enum(['invited', 'refused', 'left']),
        error: z.nullable(z.string()),
      }),
    ),
  }),
  errors: ['CONFLICT', 'LIMIT_REACHED'],
});

export const resendInvitation = operation('resendInvitation', 'POST /invitations/{id}/resend', {
  audits: ['invitation.sent_again'],
  summary: 'Send an invitation again',
  description: `With a new link, for ${INVITATION_DAYS} days from now. The former link stops working.`,
  permission: 'members:write',
  success: ok('The invitation. The mail is on its way.', invitationSchema),
  errors: ['CONFLICT', 'LIMIT_REACHED'],
});

export const revokeInvitation = operation('revokeInvitation', 'DELETE /invitations/{id}', {
  audits: ['invitation.revoked'],
  summary: 'Revoke an invitation',
  description: 'Its link stops working at once.',
  permission: 'members:write',
  success: { status: 204, description: 'Revoked.' },
});
