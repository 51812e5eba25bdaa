import type { Accounts } from '../../data/accounts/accounts.ts';
import type { Users } from '../../data/accounts/users.ts';
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

/** A session with its account as the API names it; undefined for a user without one, whose registration never became whole. */
const withAccount = async (
  session: Session,
  { accounts, users }: Pick<SessionDependencies, 'accounts' | 'users'>,
): Promise<(Session & { readonly accountId: string }) | undefined> => {
  const user = await users.find(session.userId);
  const account = user && (await accounts.find(user.accountId));
  return account && { ...session, accountId: account.accountKey };
};

/** Unknown e-mail, wrong password, and a user whose registration never became whole get one answer, after like time. */
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
    if (session === undefined) throw new UnauthenticatedError('The user of this token is gone. Log in again.');
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
      return { message: 'If there is a user with this e-mail address, a code is on its way to it.' };
    });
};

/** Whoever resets a password may do so because somebody else knows the old one: sessions begun before end with it. */
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
          'The new password is in force, but sessions begun before it could not be ended. To end them, reset it once more.',
          { cause },
        );
      }
      return undefined;
    });
};
