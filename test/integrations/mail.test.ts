import { SESClient, SendEmailCommand } from '@aws-sdk/client-ses';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { MailError, openMail } from '../../lambda/integrations/mail.ts';

const ses = mockClient(SESClient);
const send = openMail({
  MAIL_FROM: 'alerts@example.com',
  MAIL_CONFIGURATION_SET: 'ai-spend-test',
  DASHBOARD_URL: 'https://example.com',
});
const mail = {
  accountId: 'account-1',
  to: ['ada@example.com', 'grace@example.com'],
  subject: 'Daily limit: 50 € ☃',
  text: 'plain',
  html: '<p>rich</p>',
};

beforeEach(() => {
  ses.reset();
});

describe('sending mail', () => {
  it('sends text and HTML in UTF-8 from the configured address to all recipients', async () => {
    ses.on(SendEmailCommand).resolves({ MessageId: '1' });
    await send(mail);
    expect(ses.commandCalls(SendEmailCommand).map(({ args }) => args[0].input)).toEqual([
      {
        Source: 'alerts@example.com',
        ConfigurationSetName: 'ai-spend-test',
        Tags: [{ Name: 'accountId', Value: 'account-1' }],
        Destination: { ToAddresses: mail.to },
        Message: {
          Subject: { Data: mail.subject, Charset: 'UTF-8' },
          Body: { Text: { Data: 'plain', Charset: 'UTF-8' }, Html: { Data: '<p>rich</p>', Charset: 'UTF-8' } },
        },
      },
    ]);
  });

  it('sends several mails where SES takes no more recipients in one', async () => {
    ses.on(SendEmailCommand).resolves({ MessageId: '1' });
    const to = Array.from({ length: 101 }, (_, index) => `user-${index}@example.com`);
    await send({ ...mail, to });
    const sent = ses.commandCalls(SendEmailCommand).map(({ args }) => args[0].input.Destination?.ToAddresses);
    expect(sent).toEqual([to.slice(0, 50), to.slice(50, 100), to.slice(100)]);
  });

  it('fails with the kind of error and without the addresses in the message of SES', async () => {
    const refusal = Object.assign(new Error('Email address is not verified: ada@example.com'), {
      name: 'MessageRejected',
    });
    ses.on(SendEmailCommand).rejects(refusal);
    const error = await send(mail).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(MailError);
    expect((error as Error).message).toBe('mail was not accepted (MessageRejected)');
  });
});
