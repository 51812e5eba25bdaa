import { auditOf } from '../../data/accounts/audit-log.ts';
import type { Invitation } from '../../data/accounts/members.ts';
import { isVerified, type Users } from '../../data/accounts/users.ts';
import { INVITATION_DAYS, invitationIdOf, newInvitationToken } from '../../domain/accounts/invitation.ts';
import { secretHash } from '../../domain/accounts/issued-secret.ts';
import { requireMayGive } from '../../domain/accounts/permissions.ts';
import { DAY_MS } from '../../domain/calendar/units.ts';
import { ConflictError, NotFoundError } from '../../domain/errors.ts';
import { invitationMail } from '../../domain/mail/account-mails.ts';
import { mapError } from '../../http/error-map.ts';
import type { CallerInput, Implementations, Input } from '../../http/operation.ts';
import { parseWith } from '../../http/parse-request.ts';
import type { Identity } from '../auth/open-identity.ts';
import { mailed } from '../auth/steps.ts';
import { requireProjects } from '../keys/member-projects.ts';
import * as operations from './operations.ts';

const view = ({ invitationId, tokenHash: _, ...invitation }: Invitation, now: Date) => ({
  ...invitation,
  id: invitationId,
  projects: invitation.projects ?? null,
  status: invitation.validUntil <= now.toISOString() ? ('expired' as const) : ('pending' as const),
});

/** @throws ConflictError if the address has a login that belongs to an account, and has proven the address */
const requireFreeAddress = async ({ findLogin }: Identity, accountId: string, email: string): Promise<void> => {
  const user = (await findLogin(email))?.user;
  if (user === undefined) return;
  const isMember = user.accountId === accountId;
  // One that never proved the address gives way once the invitation is accepted.
  if (!isMember && !isVerified(user)) return;
  throw new ConflictError(
    isMember
      ? `${email} is a member of this account already.`
      : `${email} belongs to another account. A user belongs to one account: they leave or delete the other one first, or you invite another address.`,
  );
};

/**
 * Only who has proven an address can mail strangers.
 *
 * @throws ConflictError
 */
const requireVerified = async (users: Pick<Users, 'find'>, userId: string): Promise<void> => {
  const user = await users.find(userId);
  if (user === undefined || !isVerified(user))
    throw new ConflictError('Verify your own e-mail address first, with the code that was mailed to it.');
};

/** The members of an invitation that change when it is sent, and its token. */
const newLink = ({ randomBytes, now }: Identity, accountId: string, invitationId: string) => {
  const token = newInvitationToken({ accountId, invitationId }, randomBytes);
  const sentAt = now();
  return {
    token,
    sent: {
      tokenHash: secretHash(token),
      sentAt: sentAt.toISOString(),
      validUntil: new Date(sentAt.getTime() + INVITATION_DAYS * DAY_MS).toISOString(),
    },
  };
};

/** Mails the link. The token is behind `#`, so that no server of the dashboard's pages logs it. */
const mailLink = async (
  { sendMail, dashboardUrl }: Identity,
  { accountId, email, role }: Invitation,
  token: string,
  invitedBy: string,
): Promise<void> => {
  const mail = invitationMail(invitedBy, role, `${dashboardUrl}/accept-invitation#${token}`);
  const sending = sendMail({ accountId, to: [email], ...mail });
  await mailed(sending, 'The invitation is stored, but the mail could not be sent. Send it again in a minute.');
};

/** A response of Lambda has 6 MB at most, and an invitation to 50 projects 3 KB. */
const MAX_LISTED = 2_000;

/** Invites one address. The caller has checked who invites, and that there is room. */
const invite = async (
  dependencies: Identity,
  { caller, clientAddress }: CallerInput,
  { email, role, projects }: Input<typeof operations.inviteMember>['body'],
): Promise<Invitation> => {
  const { members, now } = dependencies;
  const { accountId, userId } = caller;
  requireMayGive(caller.role, role);
  const requires = () => requireProjects(dependencies.projects, accountId, role, projects);
  await requireFreeAddress(dependencies, accountId, email);
  const invitationId = invitationIdOf(email);
  const { token, sent } = newLink(dependencies, accountId, invitationId);
  const asked = { email, role, ...(projects && { projects }) };
  const invitation = { invitationId, accountId, ...asked, invitedBy: userId, createdAt: sent.sentAt, ...sent };
  const details = { email, role, ...(projects && { projects: projects.join(', ') }) };
  const fact = { action: 'invitation.sent', subject: invitationId, details } as const;
  await members.invite(invitation, { ...auditOf({ caller, clientAddress }, fact, now()), requires });
  await mailLink(dependencies, invitation, token, caller.name);
  return invitation;
};

/** API Gateway ends a request after 29 s, and the mail of a line may take 20. What is left then is for the next one. */
const BATCH_MS = 8_000;

export const manageInvitations = (
  identity: Identity,
): Implementations<
  typeof operations,
  'listInvitations' | 'inviteMember' | 'inviteMembers' | 'resendInvitation' | 'revokeInvitation'
> => ({
  listInvitations: async ({ caller: { accountId } }) => ({
    items: (await identity.members.invitations(accountId))
      .slice(-MAX_LISTED)
      .map((invitation) => view(invitation, identity.now())),
  }),

  inviteMember: async (input) => {
    const { members, users, now } = identity;
    await requireVerified(users, input.caller.userId);
    await members.requireRoom(input.caller.accountId, now().toISOString());
    return view(await invite(identity, input, input.body), now());
  },

  inviteMembers: async (input) => {
    const { members, users, now } = identity;
    const { lines } = input.body;
    const endsAt = now().getTime() + BATCH_MS;
    await requireVerified(users, input.caller.userId);
    await members.requireRoom(input.caller.accountId, now().toISOString(), lines.length);
    const inviteLine = async (line: (typeof lines)[number]) => {
      if (now().getTime() > endsAt) return { status: 'left' as const, error: null };
      try {
        await invite(identity, input, parseWith(operations.inviteMember.body, line));
        return { status: 'invited' as const, error: null };
      } catch (error) {
        const { code, message, violations } = mapError(error);
        if (code === 'INTERNAL') throw error;
        const faults = violations?.map(({ path, message: fault }) => `${path} ${fault}`);
        return { status: 'refused' as const, error: faults?.join(', ') ?? message };
      }
    };
    const items = [];
    // One after another: each is an entry in the audit log, which is a chain.
    for (const line of lines) items.push({ email: line.email, ...(await inviteLine(line)) });
    return { items };
  },

  resendInvitation: async ({ caller, clientAddress, params: { id } }) => {
    const { members, now } = identity;
    const { accountId, userId } = caller;
    await requireVerified(identity.users, userId);
    const former = await members.findInvitation(accountId, id);
    if (former === undefined) throw new NotFoundError('There is no such invitation.');
    requireMayGive(caller.role, former.role);
    await requireFreeAddress(identity, accountId, former.email);
    const { token, sent } = newLink(identity, accountId, id);
    const invitation = { ...former, invitedBy: userId, ...sent };
    const details = { email: former.email, role: former.role };
    const fact = { action: 'invitation.sent_again', subject: id, details } as const;
    const audit = auditOf({ caller, clientAddress }, fact, now());
    await members.renewInvitation(invitation, former.tokenHash, audit);
    await mailLink(identity, invitation, token, caller.name);
    return view(invitation, now());
  },

  revokeInvitation: async ({ caller, clientAddress, params: { id } }) => {
    const { accountId } = caller;
    const invitation = await identity.members.findInvitation(accountId, id);
    if (invitation === undefined) throw new NotFoundError('There is no such invitation.');
    const fact = { action: 'invitation.revoked', subject: id, details: { email: invitation.email } } as const;
    await identity.members.revokeInvitation(id, auditOf({ caller, clientAddress }, fact, identity.now()));
  },
});
