import { isVerified, type User } from '../../data/accounts/users.ts';
import { UnavailableError } from '../../domain/errors.ts';
import { passwordResetMail } from '../../domain/mail/account-mails.ts';
import type { Implementation } from '../../http/operation.ts';
import { requireGoodPassword } from './good-password.ts';
import type { Identity } from './open-identity.ts';
import type { resetPassword as operation } from './operations.ts';

/**
 * Sets a new password with a mailed code. Whoever knew the old one may be signed in and may have made keys, so every session ends, and
 * keys and tokens since the last sign-in wait for a review. The code proves the address.
 */
export const resetPassword = (dependencies: Identity): Implementation<typeof operation> => {
  const { sessions, directory, users, endSessions, noteChange, sendMail, dashboardUrl, timing, now, logger } =
    dependencies;

  const endWhatWas = async (email: string): Promise<User | undefined> => {
    const login = await directory.findByEmail(email);
    const user = login && (await users.find(login.userId));
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
      if (user === undefined) return undefined;
      const { userId, accountId } = user;
      await noteChange(user, 'user.password_reset', clientAddress);
      await sendMail({ accountId, to: [user.email], ...passwordResetMail(now(), `${dashboardUrl}/review`) }).catch(
        (error: unknown) => logger.error('notice of a password reset not sent', { userId, error: error as Error }),
      );
      return undefined;
    });
};
