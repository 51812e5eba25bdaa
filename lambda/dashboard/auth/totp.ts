import type { User } from '../../data/accounts/users.ts';
import { ConflictError, InvalidCredentialsError, TotpRequiredError } from '../../domain/errors.ts';
import type { Implementation } from '../../http/operation.ts';
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

export const beginTotp =
  ({ timing, totp }: Identity): Implementation<typeof operations.beginTotp> =>
  ({ body: { email, password } }) =>
    timing.onFailure(async () => {
      const secret = await totp.begin(email, password).catch(alreadyOn);
      return { secret, uri: keyUri(email, secret) };
    });

export const confirmTotp =
  (dependencies: Identity): Implementation<typeof operations.confirmTotp> =>
  ({ clientAddress, body: { email, password, totp: code } }) =>
    dependencies.timing.onFailure(async () => {
      await dependencies.totp.confirm(email, password, code).catch(alreadyOn);
      const user = await userOf(dependencies, email);
      await dependencies.users.setTotp(user.userId, true);
      await dependencies.noteChange(user, 'user.totp_enabled', clientAddress);
    });

export const removeTotp =
  (dependencies: Identity): Implementation<typeof operations.removeTotp> =>
  ({ clientAddress, body: { email, password, totp: code } }) =>
    dependencies.timing.onFailure(async () => {
      await dependencies.sessions.logIn(email, password, code);
      const user = await userOf(dependencies, email);
      const { userId, accountId } = user;
      const account = await dependencies.accounts.find(accountId);
      if (account?.requiresTotp) throw new ConflictError('This account requires a second factor of every member.');
      await dependencies.totp.remove(userId);
      await dependencies.users.setTotp(userId, false);
      await dependencies.noteChange(user, 'user.totp_disabled', clientAddress);
    });
