import type { MessageSender } from 'cognito-local/lib/services/messageDelivery/messageSender.js';

const FROM = 'no-reply@verificationemail.com';

/**
 * Delivers Cognito's mail (confirmation codes) to the SES emulator's inbox, where a person finds it. Without an inbox it
 * goes to the log.
 */
export const mailSender = (mailEndpoint: string | undefined): MessageSender => ({
  async sendEmail(context, _user, destination, message) {
    const subject = message.emailSubject ?? 'Your confirmation code';
    const text = message.emailMessage ?? `Your confirmation code is ${message.__code ?? ''}`;
    if (!mailEndpoint) {
      context.logger.warn(`Mail to ${destination}: ${text}`);
      return;
    }
    await fetch(`${mailEndpoint}/v2/email/outbound-emails`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'AWS4-HMAC-SHA256 Credential=local' },
      body: JSON.stringify({
        FromEmailAddress: FROM,
        Destination: { ToAddresses: [destination] },
        Content: { Simple: { Subject: { Data: subject }, Body: { Text: { Data: text } } } },
      }),
    });
  },
  async sendSms(context, _user, destination) {
    context.logger.warn(`No SMS is sent locally (to ${destination}).`);
  },
});
