import type { User } from '../../data/accounts/users.ts';
import { newVerificationCode, verificationMail } from '../../domain/mail/account-mails.ts';
import type { IdentityParts } from './open-parts.ts';

export type SendCode = (user: Pick<User, 'userId' | 'accountId'>, email: string) => Promise<void>;

/**
 * Mails a code that proves an address.
 *
 * @throws RateLimitedError, MailError
 */
export const sendCode =
  ({ codes, sendMail, randomInt, now }: IdentityParts): SendCode =>
  async ({ userId, accountId }, email) => {
    const code = newVerificationCode(randomInt);
    await codes.issue(userId, email, code, now().getTime());
    await sendMail({ accountId, to: [email], ...verificationMail(code) });
  };
