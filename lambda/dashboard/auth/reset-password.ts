import { isVerified, type User } from '../../data/accounts/users.ts';
import { requireGoodPassword } from '../../domain/accounts/passwords.ts';
import { isIn, scopeOf } from '../../domain/accounts/scope.ts';
import { UnavailableError } from '../../domain/errors.ts';
import { passwordResetMail } from '../../domain/mail/account-mails.ts';
import type { Implementations } from '../../http/operation.ts';
import type { Identity } from './open-identity.ts';
import type * as operations from './operations.ts';
import { findUser } from './verify-email.ts';

const endWhatWas = async (identity: Identity, email: string): Promise<User | undefined> => {
  const user = (await identity.findLogin(email))?.user;
  if (user === undefined) return undefined;
  await identity.endSessions(user);
  if (!isVerified(user)) await identity.users.verifyEmail(user, user.email, identity.now().toISOString());
  return user;
};

export const recoverLogin = (
  identity: Identity,
): Implementations<typeof operations, 'resetPassword' | 'readReview' | 'finishReview'> => ({
  /**
   * Sets a new password with a mailed code. Whoever knew the old one may be signed in and may have made keys, so every session ends, and
   * keys and tokens since the last sign-in wait for a review. The code proves the address.
   */
  resetPassword: ({ clientAddress, body: { email, code, newPassword } }) =>
    identity.timing.onFailure(async () => {
      await requireGoodPassword('newPassword', newPassword, [email]);
      await identity.sessions.resetPassword(email, code, newPassword);
      const user = await endWhatWas(identity, email).catch((cause: unknown) => {
        throw new UnavailableError(
          'The new password is set, but the earlier sessions could not be ended. To end them, reset the password again.',
          { cause },
        );
      });
      if (user === undefined) return;
      await identity.noteChange(user, 'user.password_reset', clientAddress);
      await identity.notify(user, passwordResetMail(identity.now(), `${identity.dashboardUrl}/review`));
    }),

  /** Keys and API tokens that were made while somebody else may have been signed in, newest first. */
  readReview: async ({ caller }) => {
    const { reviewSince: since } = await findUser(identity.users, caller.userId);
    if (since === undefined) return { since: null, keys: [], tokens: [] };
    const { sees, permits } = scopeOf(caller);
    const made = (await identity.keys.listActive(caller.accountId)).filter(
      (key) => key.createdAt >= since && isIn(sees, key),
    );
    const madeTokens = permits('tokens:read')
      ? (await identity.tokens.list(caller.accountId)).items.filter(({ createdAt }) => createdAt >= since)
      : [];
    return {
      since,
      tokens: madeTokens
        .map(({ lastUsedAt = null, ...token }) => ({ ...token, id: token.tokenId, lastUsedAt }))
        .reverse(),
      keys: made.map(({ lastUsedAt = null, ...key }) => ({ ...key, id: key.keyId, lastUsedAt })).reverse(),
    };
  },

  finishReview: ({ caller }) => identity.users.finishReview(caller.userId),
});
