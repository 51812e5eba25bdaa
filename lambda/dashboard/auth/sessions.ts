import { hasEnded, noUser, type User } from '../../data/accounts/users.ts';
import { maskedSecret } from '../../domain/accounts/issued-secret.ts';
import { permits, type Role } from '../../domain/accounts/permissions.ts';
import { endsSession, refusesPassword } from '../../domain/accounts/sign-on.ts';
import {
  ForbiddenError,
  InvalidCredentialsError,
  TotpRequiredError,
  TotpSetupRequiredError,
  UnauthenticatedError,
} from '../../domain/errors.ts';
import type { Implementations } from '../../http/operation.ts';
import type { Session } from '../../integrations/user-sessions.ts';
import type { Identity } from './open-identity.ts';
import type * as operations from './operations.ts';

/** The account key as a role may see it: a credential that outlives a membership is for those who can revoke it. */
export const accountKeyFor = (role: Role, accountKey: string): string =>
  permits(role, 'keys:write-all') ? accountKey : maskedSecret(accountKey);

interface AccountSession extends Session {
  readonly accountId: string;
}

const SIGN_ON_REQUIRED = 'Your account requires single sign-on: passwords are refused.';

/**
 * Adds the account key under its API name `accountId`, masked for some roles. Undefined for a user without an account: their registration failed.
 *
 * @param isNew the session has just begun, with a password
 * @throws ForbiddenError, UnauthenticatedError if the account refuses passwords
 * @throws TotpSetupRequiredError if the account requires a second factor, and the user has none
 */
export const withAccount = async (
  session: Session,
  { accounts, users }: Identity,
  isNew = true,
): Promise<{ readonly session: AccountSession; readonly user: User } | undefined> => {
  const user = await users.find(session.userId);
  const account = user && (await accounts.find(user.accountId));
  if (account && isNew && refusesPassword(account.signOn, user.role)) throw new ForbiddenError(SIGN_ON_REQUIRED);
  if (account && endsSession(account.signOn, user.role, session.authTime))
    throw new UnauthenticatedError(SIGN_ON_REQUIRED);
  // An earlier session may have begun at an identity provider, whose matter a second factor is.
  const isAtProvider = !isNew && account?.signOn !== undefined;
  if (account?.requiresTotp && !user?.totpEnabled && !isAtProvider) throw new TotpSetupRequiredError();
  return account && { session: { ...session, accountId: accountKeyFor(user.role, account.accountKey) }, user };
};

const noteFailure = async (identity: Identity, email: string, clientAddress: string | undefined): Promise<void> => {
  const user = (await identity.findLogin(email))?.user;
  if (user) await identity.noteChange(user, 'user.sign_in_failed', clientAddress);
};

export const manageSessions = (
  identity: Identity,
): Implementations<typeof operations, 'logIn' | 'refresh' | 'logOut' | 'forgotPassword'> => ({
  /** An unknown e-mail, a wrong password and a user without an account get the same response after the same time. */
  logIn: ({ clientAddress, body: { email, password, totp } }) =>
    identity.timing.onFailure(async () => {
      const session = await identity.sessions.logIn(email, password, totp).catch(async (error: unknown) => {
        const isWrongCode = error instanceof TotpRequiredError && totp !== undefined;
        if (isWrongCode || error instanceof InvalidCredentialsError) await noteFailure(identity, email, clientAddress);
        throw error;
      });
      const found = await withAccount(session, identity);
      if (found === undefined) throw new InvalidCredentialsError();
      await identity.users.noteSignIn(found.user.userId, identity.now().toISOString());
      return found.session;
    }),

  refresh: async ({ body: { refreshToken } }) => {
    const found = await withAccount(await identity.sessions.refresh(refreshToken), identity, false).catch(
      (error: unknown) => {
        throw error instanceof TotpSetupRequiredError ? new UnauthenticatedError(error.message) : error;
      },
    );
    // Cognito revokes the refresh tokens of ended sessions, too. Here it does not depend on that.
    if (found && hasEnded(found.user, found.session.authTime))
      throw new UnauthenticatedError('This session was ended. Log in again.');
    if (found === undefined) throw noUser();
    return found.session;
  },

  logOut: ({ body: { refreshToken } }) => identity.sessions.end(refreshToken),

  forgotPassword: ({ body: { email } }) =>
    identity.timing.always(async () => {
      const problem = await identity.sessions.sendResetCode(email);
      if (problem !== undefined) identity.logger.warn('reset code not sent', { problem });
      return { message: 'If a user with this e-mail address exists, a code is on its way.' };
    }),
});
