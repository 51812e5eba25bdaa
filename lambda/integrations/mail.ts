import type * as z from 'zod/mini';
import type { mailEnvironment } from '../environment.ts';
import type { OutgoingMail } from './mail-sender.ts';

/** SES did not accept the mail. The message contains only the kind of error. */
export class MailError extends Error {
  override readonly name = 'MailError';
}

export type SendMail = (mail: OutgoingMail) => Promise<void>;

/** Sends mail through SES, whose client is loaded with the first mail. The function it returns throws MailError. */
export const openMail = ({ MAIL_FROM, MAIL_CONFIGURATION_SET }: z.infer<typeof mailEnvironment>): SendMail => {
  let sender: Promise<SendMail> | undefined;
  return async (mail) => {
    try {
      sender ??= import('#mail-sender').then(({ openMailSender }) =>
        openMailSender({ from: MAIL_FROM, configurationSet: MAIL_CONFIGURATION_SET }),
      );
      await (await sender)(mail);
    } catch (error) {
      throw new MailError(`mail was not accepted (${error instanceof Error ? error.name : 'error'})`, { cause: error });
    }
  };
};
