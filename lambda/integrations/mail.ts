import { SESClient, SendEmailCommand } from '@aws-sdk/client-ses';
import * as z from 'zod/mini';

/** Variables of functions that send mail. Mails link to the dashboard. */
export const mailEnvironment = z.object({
  MAIL_FROM: z.string().check(z.minLength(3)),
  MAIL_CONFIGURATION_SET: z.string().check(z.minLength(1)),
  DASHBOARD_URL: z.url(),
});

interface OutgoingMail {
  /** SES returns it with a bounce or complaint. */
  readonly accountId: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** SES did not accept the mail. The message contains only the kind of error. */
export class MailError extends Error {
  override readonly name = 'MailError';
}

export type SendMail = (mail: OutgoingMail) => Promise<void>;

/** An SES client with timeouts, because the SDK has none by default. */
const sesClient = (): SESClient =>
  new SESClient({
    maxAttempts: 2,
    requestHandler: { connectionTimeout: 2_000, requestTimeout: 10_000, throwOnRequestTimeout: true },
  });

const utf8 = (Data: string) => ({ Data, Charset: 'UTF-8' });

/** @throws MailError */
export const mailSender =
  (
    ses: SESClient,
    { from, configurationSet }: { readonly from: string; readonly configurationSet: string },
  ): SendMail =>
  async ({ accountId, to, subject, text, html }) => {
    try {
      await ses.send(
        new SendEmailCommand({
          Source: from,
          ConfigurationSetName: configurationSet,
          Tags: [{ Name: 'accountId', Value: accountId }],
          Destination: { ToAddresses: [...to] },
          Message: { Subject: utf8(subject), Body: { Text: utf8(text), Html: utf8(html) } },
        }),
      );
    } catch (error) {
      throw new MailError(`mail was not accepted (${error instanceof Error ? error.name : 'error'})`, { cause: error });
    }
  };

export const openMail = (environment: z.infer<typeof mailEnvironment>): SendMail =>
  mailSender(sesClient(), { from: environment.MAIL_FROM, configurationSet: environment.MAIL_CONFIGURATION_SET });
