import * as z from 'zod/mini';
import { invitationTokenHash } from '../../domain/accounts/invitation.ts';
import { roles } from '../../domain/accounts/permissions.ts';
import { DAY_SECONDS } from '../../domain/calendar/units.ts';
import { invitationKey } from '../table/keys.ts';

const invitationSchema = z.object({
  invitationId: z.string(),
  accountId: z.string(),
  /** Lower case. */
  email: z.string(),
  role: z.enum(roles),
  tokenHash: z.string(),
  /** The user who invited; the invitation is valid only while this user may invite. */
  invitedBy: z.string(),
  /** ISO 8601 UTC. */
  createdAt: z.string(),
  sentAt: z.string(),
  validUntil: z.string(),
});

export type Invitation = z.infer<typeof invitationSchema>;

/** How long an expired invitation stays in the list. */
const SHOWN_EXPIRED_DAYS = 30;

export const invitationItem = (invitation: Invitation) => ({
  ...invitationKey(invitation.accountId, invitation.invitationId),
  ...invitation,
  expiresAt: Math.floor(Date.parse(invitation.validUntil) / 1_000) + SHOWN_EXPIRED_DAYS * DAY_SECONDS,
});

export const parseInvitation = (item: Record<string, unknown>): Invitation => invitationSchema.parse(item);

/** True if the token is the invitation's own and still in time. */
export const isAcceptable = ({ tokenHash, validUntil }: Invitation, token: string, now: Date): boolean =>
  tokenHash === invitationTokenHash(token) && now.toISOString() < validUntil;
