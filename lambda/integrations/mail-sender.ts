import { SESClient, SendEmailCommand } from '@aws-sdk/client-ses';

export interface OutgoingMail {
  /** SES returns it with a bounce or complaint. */
  readonly accountId: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

const utf8 = (Data: string) => ({ Data, Charset: 'UTF-8' });

/** Sends mail through SES, with timeouts, because the SDK has none by default. @throws errors of SES, whose messages may name addressees */
export const openMailSender = ({ from, configurationSet }: { from: string; configurationSet: string }) => {
  const ses = new SESClient({
    maxAttempts: 2,
    requestHandler: { connectionTimeout: 2_000, requestTimeout: 10_000, throwOnRequestTimeout: true },
  });
  return async ({ accountId, to, subject, text, html }: OutgoingMail): Promise<void> => {
    await ses.send(
      new SendEmailCommand({
        Source: from,
        ConfigurationSetName: configurationSet,
        Tags: [{ Name: 'accountId', Value: accountId }],
        Destination: { ToAddresses: [...to] },
        Message: { Subject: utf8(subject), Body: { Text: utf8(text), Html: utf8(html) } },
      }),
    );
  };
};
