import { auditOf } from '../../data/accounts/audit-log.ts';
import { hasEnded, isVerified, noUser, type User } from '../../data/accounts/users.ts';
import { requireGoodPassword } from '../../domain/accounts/passwords.ts';
import { mayGive, roles } from '../../domain/accounts/permissions.ts';
import { scopeOf } from '../../domain/accounts/scope.ts';
import { ConflictError, UnauthenticatedError } from '../../domain/errors.ts';
import { passwordChangedMail } from '../../domain/mail/account-mails.ts';
import type { Implementation } from '../../http/operation.ts';
import { confirmIdentity } from './confirm-identity.ts';
import type { Identity } from './open-identity.ts';
import type * as operations from './operations.ts';
import type { me as operation } from './operations.ts';
import { accountKeyFor } from './sessions.ts';
import { findUser } from './verify-email.ts';

export const me =
  ({ verifyToken, accounts, users }: Identity): Implementation<typeof operation> =>
  async ({ authorization }) => {
    const { userId, authTime } = await verifyToken(authorization);
    const user = await users.find(userId);
    const account = user && (await accounts.find(user.accountId));
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
  };

const nameOf = ({ firstName, lastName }: Pick<User, 'firstName' | 'lastName'>) => ({
  name: `${firstName} ${lastName}`,
});

export const changeName =
  ({ users, noteChange }: Identity): Implementation<typeof operations.changeName> =>
  async ({ caller, clientAddress, body }) => {
    const user = await findUser(users, caller.userId);
    await users.rename(caller, body);
    const changes = { details: nameOf(body), before: nameOf(user) };
    await noteChange(user, 'user.name_changed', clientAddress, changes);
  };

/** The address stays until the new one is verified: a typing error locks nobody out. */
export const changeEmail =
  ({ users, sessions, sendCode, timing }: Identity): Implementation<typeof operations.changeEmail> =>
  ({ caller, body: { email, password, totp } }) =>
    timing.onFailure(async () => {
      const user = await findUser(users, caller.userId);
      await sessions.logIn(user.userId, password, totp);
      if (email === user.email) throw new ConflictError('This is your e-mail address already.');
      await sendCode(user, email);
      return { message: `A code is on its way to ${email}.` };
    });

export const changePassword = (dependencies: Identity): Implementation<typeof operations.changePassword> => {
  const { users, sessions, directory, endSessions, noteChange, notify, dashboardUrl, timing, now } = dependencies;
  return ({ caller, clientAddress, body: { password, newPassword, totp } }) =>
    timing.onFailure(async () => {
      const user = await findUser(users, caller.userId);
      const { userId, email, firstName, lastName, companyName } = user;
      await requireGoodPassword('newPassword', newPassword, [email, firstName, lastName, companyName ?? '']);
      await sessions.logIn(userId, password, totp);
      await directory.setPassword(userId, newPassword);
      await endSessions(user);
      await noteChange(user, 'user.password_changed', clientAddress);
      if (isVerified(user)) await notify(user, passwordChangedMail(now(), `${dashboardUrl}/review`));
    });
};

/** Sessions of members without a second factor end when their token does: they cannot be refreshed, nor begun. */
export const changeAccount = (dependencies: Identity): Implementation<typeof operations.changeAccount> => {
  const { users, accounts, timing, now } = dependencies;
  return ({ caller, clientAddress, body: { requiresTotp, ...sent } }) =>
    timing.onFailure(async () => {
      const [user, account] = [await findUser(users, caller.userId), await accounts.find(caller.accountId)];
      await confirmIdentity(dependencies, caller, account, sent);
      if (requiresTotp && !user.totpEnabled)
        throw new ConflictError('Set up your own second factor first: you would lock yourself out.');
      const former = account?.requiresTotp ?? false;
      if (account === undefined || former === requiresTotp) return;
      const fact = {
        action: 'settings.changed',
        details: { requiresTotp: String(requiresTotp) },
        before: { requiresTotp: String(former) },
      } as const;
      const audit = auditOf({ caller, clientAddress }, fact, now());
      await accounts.setRequiresTotp(requiresTotp, audit);
      const change = requiresTotp
        ? 'A second factor is now required of every member.'
        : 'A second factor is no longer required of members.';
      await dependencies.mailOwner(account, caller, change);
    });
};
