import { isVerified, noUser, type User, type Users } from '../../data/accounts/users.ts';
import { ConflictError, invalid } from '../../domain/errors.ts';
import { addressChangedMail } from '../../domain/mail/account-mails.ts';
import type { Implementations } from '../../http/operation.ts';
import type { Identity } from './open-identity.ts';
import type * as operations from './operations.ts';

/** @throws UnauthenticatedError */
export const findUser = async (users: Pick<Users, 'find'>, userId: string): Promise<User> => {
  const user = await users.find(userId);
  if (user === undefined) throw noUser();
  return user;
};

export const verifyAddress = ({
  users,
  sendCode,
  codes,
  directory,
  freeAddress,
  endSessions,
  noteChange,
  notify,
  dashboardUrl,
  now,
}: Identity): Implementations<typeof operations, 'sendVerificationCode' | 'verifyEmail'> => ({
  sendVerificationCode: async ({ caller }) => {
    const user = await findUser(users, caller.userId);
    if (isVerified(user)) throw new ConflictError('The e-mail address is verified already.');
    await sendCode(user, user.email);
    return { message: `A code is on its way to ${user.email}.` };
  },

  /**
   * Only the signed-in user can verify: somebody who registered a stranger's address has no mail to read, and the stranger who reads it
   * has no session, so neither can finish what the other began.
   */
  verifyEmail: async ({ caller, clientAddress, body: { code } }) => {
    const user = await findUser(users, caller.userId);
    const email = await codes.redeem(user.userId, code, now().getTime());
    if (email === undefined) throw invalid('code', 'The code is wrong, was used, or has expired. Ask for another one.');
    if (email !== user.email) {
      await freeAddress(email, clientAddress);
      await directory.changeEmail(user.userId, email);
    }
    await users.verifyEmail(user, email, now().toISOString());
    if (email === user.email) return;
    await endSessions(user);
    const changes = { details: { email }, before: { email: user.email } };
    await noteChange({ ...user, email }, 'user.address_changed', clientAddress, changes);
    for (const address of [email, ...(isVerified(user) ? [user.email] : [])])
      await notify({ ...user, email: address }, addressChangedMail(now(), `${dashboardUrl}/review`));
  },
});
