import type { Accounts } from '../../data/accounts/accounts.ts';
import type { Users } from '../../data/accounts/users.ts';
import { accountKeyFor } from '../../domain/accounts/permissions.ts';
import { InvalidCredentialsError, UnauthenticatedError, UnavailableError } from '../../domain/errors.ts';
import type { Implementation } from '../../http/operation.ts';
import type { Session, UserSessions } from '../../integrations/user-sessions.ts';
import { type Clock, evenTiming } from './even-timing.ts';
import type * as operations from './operations.ts';

interface SessionDependencies {
  readonly sessions: UserSessions;
  readonly accounts: Pick<Accounts, 'find'>;
  readonly users: Pick<Users, 'find'>;
  readonly clock: Clock;
}

/** Adds the account key under its API name `accountId`, masked for some roles. Undefined for a user without an account: their registration failed. */
export const withAccount = async (
  session: Session,
  { accounts, users }: Pick<SessionDependencies, 'accounts' | 'users'>,
): Promise<(Session & { readonly accountId: string }) | undefined> => {
  const user = await users.find(session.userId);
  const account = user && (await accounts.find(user.accountId));
  return account && { ...session, accountId: accountKeyFor(user.role, account.accountKey) };
};

/** An unknown e-mail, a wrong password and a user without an account get the same response after the same time. */
export const logIn = ({
  sessions,
  accounts,
  users,
  clock,
}: SessionDependencies): Implementation<typeof operations.logIn> => {
  const { onFailure } = evenTiming(clock);
  return ({ body: { email, password } }) =>
    onFailure(async () => {
      const session = await withAccount(await sessions.logIn(email, password), { accounts, users });
      if (session === undefined) throw new InvalidCredentialsError();
      return session;
    });
};

export const refresh =
  ({
    sessions,
    accounts,
    users,
  }: Pick<SessionDependencies, 'sessions' | 'accounts' | 'users'>): Implementation<typeof operations.refresh> =>
  async ({ body: { refreshToken } }) => {
    const session = await withAccount(await sessions.refresh(refreshToken), { accounts, users });
    if (session === undefined) throw new UnauthenticatedError('The user of this token no longer exists. Log in again.');
    return session;
  };

export const logOut =
  ({ sessions }: Pick<SessionDependencies, 'sessions'>): Implementation<typeof operations.logOut> =>
  async ({ body: { refreshToken } }) => {
    await sessions.end(refreshToken);
    return undefined;
  };

export const forgotPassword = ({
  sessions,
  clock,
}: Pick<SessionDependencies, 'sessions' | 'clock'>): Implementation<typeof operations.forgotPassword> => {
  const { always } = evenTiming(clock);
  return ({ body: { email } }) =>
    always(async () => {
      await sessions.sendResetCode(email);
      return { message: 'If a user with this e-mail address exists, a code is on its way.' };
    });
};

/** A reset also ends all earlier sessions, because someone else may know the old password. */
export const resetPassword = ({
  sessions,
  clock,
}: Pick<SessionDependencies, 'sessions' | 'clock'>): Implementation<typeof operations.resetPassword> => {
  const { onFailure } = evenTiming(clock);
  return ({ body: { email, code, newPassword } }) =>
    onFailure(async () => {
      await sessions.resetPassword(email, code, newPassword);
      try {
        await sessions.endSessions(email);
      } catch (cause) {
        throw new UnavailableError(
          'The new password is set, but the earlier sessions could not be ended. To end them, reset the password again.',
          { cause },
        );
      }
      return undefined;
    });
};
