import type { Logger } from '@aws-lambda-powertools/logger';
import type { Accounts } from '../../data/accounts/accounts.ts';
import { auditOf } from '../../data/accounts/audit-log.ts';
import { isVerified, type Users } from '../../data/accounts/users.ts';
import { ConflictError } from '../../domain/errors.ts';
import { passwordChangedMail } from '../../domain/mail/account-mails.ts';
import type { Implementation } from '../../http/operation.ts';
import type { SendMail } from '../../integrations/mail.ts';
import type { UserDirectory } from '../../integrations/user-directory.ts';
import type { UserSessions } from '../../integrations/user-sessions.ts';
import { confirmIdentity } from './confirm-identity.ts';
import type { EndSessions } from './end-sessions.ts';
import { type Clock, evenTiming } from './even-timing.ts';
import { requireGoodPassword } from './good-password.ts';
import { mailOwner } from './mail-owner.ts';
import type * as operations from './operations.ts';
import type { NoteChange } from './record-sign-in.ts';
import { findUser, type SendCode } from './verify-email.ts';

interface ProfileDependencies {
  readonly users: Pick<Users, 'find' | 'rename'>;
  readonly accounts: Pick<Accounts, 'find' | 'setRequiresTotp'>;
  readonly sessions: Pick<UserSessions, 'logIn'>;
  readonly directory: Pick<UserDirectory, 'setPassword'>;
  readonly sendCode: SendCode;
  readonly endSessions: EndSessions;
  readonly noteChange: NoteChange;
  readonly sendMail: SendMail;
  readonly dashboardUrl: string;
  readonly clock: Clock;
  readonly now: () => Date;
  readonly logger: Pick<Logger, 'error'>;
}

export const changeName =
  ({ users }: Pick<ProfileDependencies, 'users'>): Implementation<typeof operations.changeName> =>
  async ({ caller, body }) => {
    await users.rename(caller, body);
    return undefined;
  };

/** The address stays until the new one is verified: a typing error locks nobody out. */
export const changeEmail = (
  dependencies: Pick<ProfileDependencies, 'users' | 'sessions' | 'sendCode' | 'clock'>,
): Implementation<typeof operations.changeEmail> => {
  const { users, sessions, sendCode, clock } = dependencies;
  const { onFailure } = evenTiming(clock);
  return ({ caller, body: { email, password, totp } }) =>
    onFailure(async () => {
      const user = await findUser(users, caller.userId);
      await sessions.logIn(user.userId, password, totp);
      if (email === user.email) throw new ConflictError('This is the address already.');
      await sendCode(user, email);
      return { message: `A code is on its way to ${email}.` };
    });
};

export const changePassword = (
  dependencies: Omit<ProfileDependencies, 'accounts' | 'sendCode'>,
): Implementation<typeof operations.changePassword> => {
  const { users, sessions, directory, endSessions, noteChange, sendMail, dashboardUrl, clock, now, logger } =
    dependencies;
  const { onFailure } = evenTiming(clock);
  return ({ caller, clientAddress, body: { password, newPassword, totp } }) =>
    onFailure(async () => {
      const user = await findUser(users, caller.userId);
      const { userId, accountId, email, firstName, lastName, companyName } = user;
      await requireGoodPassword('newPassword', newPassword, [email, firstName, lastName, companyName ?? '']);
      await sessions.logIn(userId, password, totp);
      await directory.setPassword(userId, newPassword);
      await endSessions(user);
      await noteChange(user, 'user.password_changed', clientAddress);
      if (isVerified(user))
        await sendMail({ accountId, to: [email], ...passwordChangedMail(now(), `${dashboardUrl}/review`) }).catch(
          (error: unknown) => logger.error('notice of a new password not sent', { userId, error: error as Error }),
        );
      return undefined;
    });
};

/** Sessions of members without a second factor end when their token does: they cannot be refreshed, nor begun. */
export const changeAccount = (
  dependencies: Pick<
    ProfileDependencies,
    'users' | 'accounts' | 'sessions' | 'sendMail' | 'dashboardUrl' | 'clock' | 'now' | 'logger'
  >,
): Implementation<typeof operations.changeAccount> => {
  const { users, accounts, clock, now } = dependencies;
  const { onFailure } = evenTiming(clock);
  return ({ caller, clientAddress, body: { requiresTotp, ...sent } }) =>
    onFailure(async () => {
      const [user, account] = [await findUser(users, caller.userId), await accounts.find(caller.accountId)];
      await confirmIdentity(dependencies, caller, account, sent);
      if (requiresTotp && !user.totpEnabled)
        throw new ConflictError('Set up your own second factor first: you would lock yourself out.');
      const former = account?.requiresTotp ?? false;
      if (account === undefined || former === requiresTotp) return undefined;
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
      await mailOwner(dependencies, account, caller, change);
      return undefined;
    });
};
