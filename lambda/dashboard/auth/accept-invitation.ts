import { auditEntry } from '../../data/accounts/audit-log.ts';
import { type Invitation, isAcceptable } from '../../data/accounts/members.ts';
import type { User } from '../../data/accounts/users.ts';
import { parseInvitationToken } from '../../domain/accounts/invitation.ts';
import { requireGoodPassword } from '../../domain/accounts/passwords.ts';
import { mayGive, permits } from '../../domain/accounts/permissions.ts';
import { requireRegistration } from '../../domain/accounts/registration.ts';
import { ConflictError, NotFoundError, ValidationError } from '../../domain/errors.ts';
import type { Implementation } from '../../http/operation.ts';
import type { Session } from '../../integrations/user-sessions.ts';
import type { Identity } from './open-identity.ts';
import type { acceptInvitation as operation } from './operations.ts';
import { requireOldLogin } from './register.ts';
import { withAccount } from './sessions.ts';

/** One message for every reason: the text of a token that was never issued must not differ from that of a used one. */
const noInvitation = () =>
  new NotFoundError('This invitation was used, revoked, replaced by a later one, or has expired. Ask for a new one.');

/** True where nothing was written for sure. After any other error the user may be a member, who needs the login. */
const isRefusal = (error: unknown): boolean => error instanceof ConflictError || error instanceof ValidationError;

/**
 * Makes the invited person a member. The token proves the mail address. A new login is made for an address that has none, and deleted
 * again if a later step is refused. After an outage it stays, and the next attempt finds it.
 */
export const acceptInvitation = (dependencies: Identity): Implementation<typeof operation> => {
  const { directory, freeAddress, sessions, users, members, registration, now, logger } = dependencies;

  const find = async (token: string): Promise<{ readonly invitation: Invitation; readonly inviter: User }> => {
    const place = parseInvitationToken(token);
    const invitation = place && (await members.findInvitation(place.accountId, place.invitationId));
    if (invitation === undefined || !isAcceptable(invitation, token, now())) throw noInvitation();
    // A member who was removed must not come back, or let others in, by an invitation sent before.
    const inviter = await users.find(invitation.invitedBy);
    const isMember = inviter?.accountId === invitation.accountId;
    if (!inviter || !isMember || !permits(inviter.role, 'members:write') || !mayGive(inviter.role, invitation.role))
      throw noInvitation();
    return { invitation, inviter };
  };

  /** The session of a login that the address has already. */
  const logInAsBefore = async (
    { user, createdAt }: NonNullable<Awaited<ReturnType<Identity['freeAddress']>>>,
    email: string,
    password: string,
    totp: string | undefined,
  ): Promise<Session> => {
    if (user !== undefined) {
      throw new ConflictError(
        `${email} belongs to an account already. A user belongs to one account: leave or delete that one first.`,
      );
    }
    requireOldLogin({ createdAt }, now());
    return sessions.logIn(email, password, totp);
  };

  const deleteLogin = (userId: string): Promise<void> =>
    directory.deleteUser(userId).catch((error: Error) => logger.error('new login not deleted', { userId, error }));

  return async ({ clientAddress, body: { token, password, totp, ...names } }) => {
    const { invitation, inviter } = await find(token);
    const { accountId, email, role, projects, invitedBy } = invitation;
    const joinAs = (userId: string, totpEnabled = false) => {
      const fact = { action: 'invitation.accepted', subject: userId, details: { email, role, invitedBy } } as const;
      const createdAt = now();
      const at = createdAt.toISOString();
      const user = {
        ...names,
        userId,
        accountId,
        role,
        projects,
        email,
        emailVerifiedAt: at,
        companyName: null,
        totpEnabled,
        createdAt: at,
      };
      const source = { actor: { userId, name: email }, clientAddress };
      return members.join(user, invitation, inviter, auditEntry(accountId, source, fact, createdAt));
    };

    const joinAndLogIn = async (): Promise<Session> => {
      const login = await freeAddress(email, clientAddress);
      if (login !== undefined) {
        const session = await logInAsBefore(login, email, password, totp);
        await joinAs(session.userId, login.hasTotp);
        return session;
      }
      requireRegistration(registration, 'invitation');
      await requireGoodPassword('password', password, [email, ...Object.values(names)]);
      const userId = await directory.createUser({ email, ...names, accountId });
      try {
        await directory.setPassword(userId, password);
        await joinAs(userId);
      } catch (error) {
        if (isRefusal(error)) await deleteLogin(userId);
        throw error;
      }
      return sessions.logIn(email, password);
    };

    const found = await withAccount(await joinAndLogIn(), dependencies);
    if (found === undefined) throw noInvitation();
    return found.session;
  };
};
