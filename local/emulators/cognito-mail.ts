import type { MessageSender } from 'cognito-local/lib/services/messageDelivery/messageSender.js';
import { LOCAL_REGION } from './cognito.ts';

const FROM = 'no-reply@verificationemail.com';

/**
 * Delivers Cognito's mail (confirmation codes) to the SES emulator's inbox, where a person finds it. Without an inbox it
 * goes to the log.
 */
export const mailSender = (mailEndpoint: string | undefined, secretAccessKey: string): MessageSender => ({
  async sendEmail(context, _user, destination, message) {
    const subject = message.emailSubject ?? 'Your confirmation code';
    const text = message.emailMessage ?? `Your confirmation code is ${message.__code ?? ''}`;
    if (!mailEndpoint) {
      context.logger.warn(`Mail to ${destination}: ${text}`);
      return;
    }
    const { SESClient, SendEmailCommand } = await import('@aws-sdk/client-ses');
    const credentials = { accessKeyId: 'cognito', secretAccessKey };
    const ses = new SESClient({ endpoint: mailEndpoint, region: LOCAL_REGION, credentials });
    await ses.send(
      new SendEmailCommand({
        Source: FROM,
        Destination: { ToAddresses: [destination] },
        Message: { Subject: { Data: subject }, Body: { Text: { Data: text } } },
      }),
    );
    ses.destroy();
  },
  async sendSms(context, _user, destination) {
    context.logger.warn(`No SMS is sent locally (to ${destination}).`);
  },
});
