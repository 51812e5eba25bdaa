import { isVerified, type User } from '../../data/accounts/users.ts';
import { requireGoodPassword } from '../../domain/accounts/passwords.ts';
import { isIn, scopeOf } from '../../domain/accounts/scope.ts';
import { UnavailableError } from '../../domain/errors.ts';
import { passwordResetMail } from '../../domain/mail/account-mails.ts';
import type { Implementation } from '../../http/operation.ts';
import type { Identity } from './open-identity.ts';
import type * as operations from './operations.ts';
import { findUser } from './verify-email.ts';

/**
 * Sets a new password with a mailed code. Whoever knew the old one may be signed in and may have made keys, so every session ends, and
 * keys and tokens since the last sign-in wait for a review. The code proves the address.
 */
export const resetPassword = (dependencies: Identity): Implementation<typeof operations.resetPassword> => {
  const { sessions, users, findLogin, endSessions, noteChange, notify, dashboardUrl, timing, now } = dependencies;

  const endWhatWas = async (email: string): Promise<User | undefined> => {
    const user = (await findLogin(email))?.user;
    if (user === undefined) return undefined;
    await endSessions(user);
    if (!isVerified(user)) await users.verifyEmail(user, user.email, now().toISOString());
    return user;
  };

  return ({ clientAddress, body: { email, code, newPassword } }) =>
    timing.onFailure(async () => {
      await requireGoodPassword('newPassword', newPassword, [email]);
      await sessions.resetPassword(email, code, newPassword);
      const user = await endWhatWas(email).catch((cause: unknown) => {
        throw new UnavailableError(
          'The new password is set, but the earlier sessions could not be ended. To end them, reset the password again.',
          { cause },
        );
      });
      if (user === undefined) return;
      await noteChange(user, 'user.password_reset', clientAddress);
      await notify(user, passwordResetMail(now(), `${dashboardUrl}/review`));
    });
};

/** Keys and API tokens that were made while somebody else may have been signed in, newest first. */
export const readReview =
  ({ users, keys, tokens }: Identity): Implementation<typeof operations.readReview> =>
  async ({ caller }) => {
    const { reviewSince: since } = await findUser(users, caller.userId);
    if (since === undefined) return { since: null, keys: [], tokens: [] };
    const { sees, permits } = scopeOf(caller);
    const made = (await keys.listActive(caller.accountId)).filter((key) => key.createdAt >= since && isIn(sees, key));
    const madeTokens = permits('tokens:read')
      ? (await tokens.list(caller.accountId)).items.filter(({ createdAt }) => createdAt >= since)
      : [];
    return {
      since,
      tokens: madeTokens
        .map(({ lastUsedAt = null, ...token }) => ({ ...token, id: token.tokenId, lastUsedAt }))
        .reverse(),
      keys: made.map(({ lastUsedAt = null, ...key }) => ({ ...key, id: key.keyId, lastUsedAt })).reverse(),
    };
  };

export const finishReview =
  ({ users }: Identity): Implementation<typeof operations.finishReview> =>
  ({ caller }) =>
    users.finishReview(caller.userId);
