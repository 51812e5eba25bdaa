import type { User } from '../../data/accounts/users.ts';
import { ConflictError, InvalidCredentialsError, TotpRequiredError } from '../../domain/errors.ts';
import type { Implementations } from '../../http/operation.ts';
import type { Identity } from './open-identity.ts';
import type * as operations from './operations.ts';

const ISSUER = 'AI Spend Gateway';

/** Text that an authenticator app reads from a QR code. @see https://github.com/google/google-authenticator/wiki/Key-Uri-Format */
const keyUri = (email: string, secret: string): string =>
  `otpauth://totp/${encodeURIComponent(`${ISSUER}:${email}`)}?${new URLSearchParams({ secret, issuer: ISSUER })}`;

const alreadyOn = (error: unknown): never => {
  if (error instanceof TotpRequiredError)
    throw new ConflictError('This login has a second factor. To set up another one, turn it off first.');
  throw error;
};

/** @throws InvalidCredentialsError for a login without an account */
const userOf = async ({ findLogin }: Identity, email: string): Promise<User> => {
  const user = (await findLogin(email))?.user;
  if (user === undefined) throw new InvalidCredentialsError();
  return user;
};

export const manageTotp = (
  identity: Identity,
): Implementations<typeof operations, 'beginTotp' | 'confirmTotp' | 'removeTotp'> => ({
  beginTotp: ({ body: { email, password } }) =>
    identity.timing.onFailure(async () => {
      const secret = await identity.totp.begin(email, password).catch(alreadyOn);
      return { secret, uri: keyUri(email, secret) };
    }),

  confirmTotp: ({ clientAddress, body: { email, password, totp: code } }) =>
    identity.timing.onFailure(async () => {
      await identity.totp.confirm(email, password, code).catch(alreadyOn);
      const user = await userOf(identity, email);
      await identity.users.setTotp(user.userId, true);
      await identity.noteChange(user, 'user.totp_enabled', clientAddress);
    }),

  removeTotp: ({ clientAddress, body: { email, password, totp: code } }) =>
    identity.timing.onFailure(async () => {
      await identity.sessions.logIn(email, password, code);
      const user = await userOf(identity, email);
      const { userId, accountId } = user;
      const account = await identity.accounts.find(accountId);
      if (account?.requiresTotp) throw new ConflictError('This account requires a second factor of every member.');
      await identity.totp.remove(userId);
      await identity.users.setTotp(userId, false);
      await identity.noteChange(user, 'user.totp_disabled', clientAddress);
    }),
});
