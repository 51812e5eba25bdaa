import { SESClient, SendEmailCommand } from '@aws-sdk/client-ses';

interface OutgoingMail {
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** The mail was not taken. The message names the kind of error alone. */
export class MailError extends Error {
  override readonly name = 'MailError';
}

export type SendMail = (mail: OutgoingMail) => Promise<void>;

/** SES with bounds: the SDK waits for ever unless told otherwise. */
export const sesClient = (): SESClient =>
  new SESClient({
    maxAttempts: 2,
    requestHandler: { connectionTimeout: 2_000, requestTimeout: 10_000, throwOnRequestTimeout: true },
  });

const utf8 = (Data: string) => ({ Data, Charset: 'UTF-8' });

/** @throws MailError */
export const mailSender =
  (ses: SESClient, from: string): SendMail =>
  async ({ to, subject, text, html }) => {
    try {
      await ses.send(
        new SendEmailCommand({
          Source: from,
          Destination: { ToAddresses: [...to] },
          Message: { Subject: utf8(subject), Body: { Text: utf8(text), Html: utf8(html) } },
        }),
      );
    } catch (error) {
      throw new MailError(`mail was not taken (${error instanceof Error ? error.name : 'error'})`, { cause: error });
    }
  };
