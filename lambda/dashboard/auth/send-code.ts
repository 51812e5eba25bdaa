import type { AddressCodes } from '../../data/accounts/address-codes.ts';
import type { User } from '../../data/accounts/users.ts';
import { newVerificationCode, verificationMail } from '../../domain/mail/account-mails.ts';
import type { SendMail } from '../../integrations/mail.ts';

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
