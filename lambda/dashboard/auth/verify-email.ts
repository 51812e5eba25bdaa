import type { Logger } from '@aws-lambda-powertools/logger';
import type { AddressCodes } from '../../data/accounts/address-codes.ts';
import { isVerified, type User, type Users } from '../../data/accounts/users.ts';
import { ConflictError, UnauthenticatedError, ValidationError } from '../../domain/errors.ts';
import { addressChangedMail, newVerificationCode, verificationMail } from '../../domain/mail/account-mails.ts';
import type { Implementation } from '../../http/operation.ts';
import type { SendMail } from '../../integrations/mail.ts';
import type { UserDirectory } from '../../integrations/user-directory.ts';
import type { EndSessions } from './end-sessions.ts';
import type { FreeAddress } from './free-address.ts';
import type * as operations from './operations.ts';
import type { NoteChange } from './record-sign-in.ts';

interface CodeDependencies {
  readonly codes: Pick<AddressCodes, 'issue'>;
  readonly sendMail: SendMail;
  readonly randomInt: (max: number) => number;
  readonly now: () => Date;
}

export type SendCode = (user: Pick<User, 'userId' | 'accountId'>, email: string) => Promise<void>;

/**
 * Mails a code that proves an address.
 *
 * @throws RateLimitedError, MailError
 */
export const sendCode =
  ({ codes, sendMail, randomInt, now }: CodeDependencies): SendCode =>
  async ({ userId, accountId }, email) => {
    const code = newVerificationCode(randomInt);
    await codes.issue(userId, email, code, now().getTime());
    await sendMail({ accountId, to: [email], ...verificationMail(code) });
  };

interface VerificationDependencies {
  readonly users: Pick<Users, 'find' | 'verifyEmail'>;
  readonly codes: Pick<AddressCodes, 'pending' | 'redeem'>;
  readonly sendCode: SendCode;
  readonly directory: Pick<UserDirectory, 'changeEmail'>;
  readonly freeAddress: FreeAddress;
  readonly endSessions: EndSessions;
  readonly noteChange: NoteChange;
  readonly sendMail: SendMail;
  readonly dashboardUrl: string;
  readonly now: () => Date;
  readonly logger: Pick<Logger, 'error'>;
}

/** @throws UnauthenticatedError */
export const findUser = async (users: Pick<Users, 'find'>, userId: string): Promise<User> => {
  const user = await users.find(userId);
  if (user === undefined) throw new UnauthenticatedError('The user of this token no longer exists. Log in again.');
  return user;
};

export const sendVerificationCode =
  ({
    users,
    sendCode: send,
  }: Pick<VerificationDependencies, 'users' | 'sendCode'>): Implementation<typeof operations.sendVerificationCode> =>
  async ({ caller }) => {
    const user = await findUser(users, caller.userId);
    if (isVerified(user)) throw new ConflictError('The e-mail address is verified already.');
    await send(user, user.email);
    return { message: `A code is on its way to ${user.email}.` };
  };

/**
 * Only the signed-in user can verify: somebody who registered a stranger's address has no mail to read, and the stranger who reads it
 * has no session, so neither can finish what the other began.
 */
export const verifyEmail =
  ({
    users,
    codes,
    directory,
    freeAddress,
    endSessions,
    noteChange,
    sendMail,
    dashboardUrl,
    now,
    logger,
  }: Omit<VerificationDependencies, 'sendCode'>): Implementation<typeof operations.verifyEmail> =>
  async ({ caller, clientAddress, body: { code } }) => {
    const user = await findUser(users, caller.userId);
    const email = await codes.redeem(user.userId, code, now().getTime());
    if (email === undefined)
      throw new ValidationError([
        {
          path: 'code',
          message: 'The code is wrong, was used, or has expired. POST /auth/verification-codes sends a new one.',
        },
      ]);
    if (email !== user.email) {
      await freeAddress(email, clientAddress);
      await directory.changeEmail(user.userId, email);
    }
    await users.verifyEmail(user, email, now().toISOString());
    if (email === user.email) return undefined;
    await endSessions(user);
    const changes = { details: { email }, before: { email: user.email } };
    await noteChange({ ...user, email }, 'user.address_changed', clientAddress, changes);
    const { userId, accountId } = user;
    for (const to of [email, ...(isVerified(user) ? [user.email] : [])]) {
      await sendMail({ accountId, to: [to], ...addressChangedMail(now(), `${dashboardUrl}/review`) }).catch(
        (error: unknown) => logger.error('notice of a changed address not sent', { userId, error: error as Error }),
      );
    }
    return undefined;
  };
