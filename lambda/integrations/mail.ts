import { setTimeout as sleep } from 'node:timers/promises';
import type * as z from 'zod/mini';
import { SECOND_MS } from '../domain/calendar/units.ts';
import type { mailEnvironment } from '../environment.ts';
import type { OutgoingMail } from './mail-sender.ts';

/** SES did not accept the mail. The message contains only the kind of error. */
export class MailError extends Error {
  override readonly name = 'MailError';
  /** Who did not get it, where others did. */
  readonly unsent: readonly string[] | undefined;

  constructor(
    message: string,
    { unsent, cause }: { readonly unsent?: readonly string[]; readonly cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.unsent = unsent;
  }
}

export type SendMail = (mail: OutgoingMail) => Promise<void>;

/** @see https://docs.aws.amazon.com/ses/latest/APIReference/API_SendEmail.html */
const MAX_RECIPIENTS = 50;
/** SES takes 14 recipients a second at first: 50 are too many for less than four seconds. */
const MAX_PAUSES = 4;

/**
 * Sends mail through SES, whose client is loaded with the first mail. Where some have it, it is tried again here for the others: to try
 * again what threw would send it to all of them twice.
 *
 * @returns what throws MailError
 */
export const openMail = (
  { MAIL_FROM, MAIL_CONFIGURATION_SET }: z.infer<typeof mailEnvironment>,
  pause: (ms: number) => Promise<unknown> = sleep,
): SendMail => {
  let sender: Promise<SendMail> | undefined;
  const send = async (mail: OutgoingMail): Promise<void> => {
    sender ??= import('#mail-sender').then(({ openMailSender }) =>
      openMailSender({ from: MAIL_FROM, configurationSet: MAIL_CONFIGURATION_SET }),
    );
    await (await sender)(mail);
  };
  return async ({ to, ...mail }) => {
    let pauses = 0;
    for (let sent = 0; sent < to.length; )
      try {
        await send({ ...mail, to: to.slice(sent, sent + MAX_RECIPIENTS) });
        sent += MAX_RECIPIENTS;
        pauses = 0;
      } catch (error) {
        if (sent > 0 && pauses++ < MAX_PAUSES) await pause(SECOND_MS * pauses);
        else
          throw new MailError(`mail was not accepted (${error instanceof Error ? error.name : 'error'})`, {
            cause: error,
            ...(sent > 0 && { unsent: to.slice(sent) }),
          });
      }
  };
};
