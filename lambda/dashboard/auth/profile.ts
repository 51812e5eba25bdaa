import { auditOf } from '../../data/accounts/audit-log.ts';
import { hasEnded, isVerified, noUser, type User } from '../../data/accounts/users.ts';
import { requireGoodPassword } from '../../domain/accounts/passwords.ts';
import { mayGive, roles } from '../../domain/accounts/permissions.ts';
import { scopeOf } from '../../domain/accounts/scope.ts';
import { ConflictError, UnauthenticatedError } from '../../domain/errors.ts';
import { passwordChangedMail } from '../../domain/mail/account-mails.ts';
import type { Implementations } from '../../http/operation.ts';
import { confirmIdentity } from './confirm-identity.ts';
import type { Identity } from './open-identity.ts';
import type * as operations from './operations.ts';
import { accountKeyFor } from './sessions.ts';
import { findUser } from './verify-email.ts';

const nameOf = ({ firstName, lastName }: Pick<User, 'firstName' | 'lastName'>) => ({
  name: `${firstName} ${lastName}`,
});

export const manageProfile = (
  identity: Identity,
): Implementations<typeof operations, 'me' | 'changeName' | 'changeEmail' | 'changePassword' | 'changeAccount'> => ({
  me: async ({ authorization }) => {
    const { userId, authTime } = await identity.verifyToken(authorization);
    const user = await identity.users.find(userId);
    const account = user && (await identity.accounts.find(user.accountId));
    if (user === undefined || account === undefined) throw noUser();
    if (hasEnded(user, authTime)) throw new UnauthenticatedError('This session has ended. Log in again.');
    return {
      user: {
        ...user,
        totpEnabled: user.totpEnabled ?? false,
        reviewSince: user.reviewSince ?? null,
        emailVerified: isVerified(user),
        projects: user.projects ?? null,
        permissions: [...scopeOf(user).permissions],
        grantableRoles: roles.filter((role) => mayGive(user.role, role)),
      },
      account: {
        ...account,
        accountId: accountKeyFor(user.role, account.accountKey),
        requiresTotp: account.requiresTotp ?? false,
        timeZone: account.reportCalendar?.timeZone ?? 'UTC',
      },
    };
  },

  changeName: async ({ caller, clientAddress, body }) => {
    const user = await findUser(identity.users, caller.userId);
    await identity.users.rename(caller, body);
    const changes = { details: nameOf(body), before: nameOf(user) };
    await identity.noteChange(user, 'user.name_changed', clientAddress, changes);
  },

  /** The address stays until the new one is verified: a typing error locks nobody out. */
  changeEmail: ({ caller, body: { email, password, totp } }) =>
    identity.timing.onFailure(async () => {
      const user = await findUser(identity.users, caller.userId);
      await identity.sessions.logIn(user.userId, password, totp);
      if (email === user.email) throw new ConflictError('This is your e-mail address already.');
      await identity.sendCode(user, email);
      return { message: `A code is on its way to ${email}.` };
    }),

  changePassword: ({ caller, clientAddress, body: { password, newPassword, totp } }) =>
    identity.timing.onFailure(async () => {
      const user = await findUser(identity.users, caller.userId);
      const { userId, email, firstName, lastName, companyName } = user;
      await requireGoodPassword('newPassword', newPassword, [email, firstName, lastName, companyName ?? '']);
      await identity.sessions.logIn(userId, password, totp);
      await identity.directory.setPassword(userId, newPassword);
      await identity.endSessions(user);
      await identity.noteChange(user, 'user.password_changed', clientAddress);
      if (isVerified(user))
        await identity.notify(user, passwordChangedMail(identity.now(), `${identity.dashboardUrl}/review`));
    }),

  /** Sessions of members without a second factor end when their token does: they cannot be refreshed, nor begun. */
  changeAccount: ({ caller, clientAddress, body: { requiresTotp, ...sent } }) =>
    identity.timing.onFailure(async () => {
      const [user, account] = [
        await findUser(identity.users, caller.userId),
        await identity.accounts.find(caller.accountId),
      ];
      await confirmIdentity(identity, caller, account, sent);
      if (requiresTotp && !user.totpEnabled)
        throw new ConflictError('Set up your own second factor first: you would lock yourself out.');
      const former = account?.requiresTotp ?? false;
      if (account === undefined || former === requiresTotp) return;
      const fact = {
        action: 'settings.changed',
        details: { requiresTotp: String(requiresTotp) },
        before: { requiresTotp: String(former) },
      } as const;
      const audit = auditOf({ caller, clientAddress }, fact, identity.now());
      await identity.accounts.setRequiresTotp(requiresTotp, audit);
      const change = requiresTotp
        ? 'A second factor is now required of every member.'
        : 'A second factor is no longer required of members.';
      await identity.mailOwner(account, caller, change);
    }),
});
