import { SESClient, SendEmailCommand } from '@aws-sdk/client-ses';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { mailMembers } from '../../lambda/integrations/channels.ts';
import { MailError, openMail } from '../../lambda/integrations/mail.ts';

const ses = mockClient(SESClient);
const pauses: number[] = [];
const send = openMail(
  {
    MAIL_FROM: 'alerts@example.com',
    MAIL_CONFIGURATION_SET: 'ai-spend-test',
    DASHBOARD_URL: 'https://example.com',
  },
  async (ms) => pauses.push(ms),
);
const mail = {
  accountId: 'account-1',
  to: ['ada@example.com', 'grace@example.com'],
  subject: 'Daily limit: 50 € ☃',
  text: 'plain',
  html: '<p>rich</p>',
};

beforeEach(() => {
  ses.reset();
  pauses.length = 0;
});
/** Those that SES got, mail by mail. */
const attempts = () => ses.commandCalls(SendEmailCommand).map(({ args }) => args[0].input.Destination?.ToAddresses);
const throttled = Object.assign(new Error('Maximum sending rate exceeded.'), { name: 'Throttling' });
const people = (count: number) => Array.from({ length: count }, (_, index) => `user-${index}@example.com`);

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
    const to = people(101);
    await send({ ...mail, to });
    expect(attempts()).toEqual([to.slice(0, 50), to.slice(50, 100), to.slice(100)]);
  });

  it('waits where SES takes no more at the moment, and sends nobody a mail twice', async () => {
    const mails = ses.on(SendEmailCommand).resolvesOnce({}).rejectsOnce(throttled).rejectsOnce(throttled);
    mails.resolvesOnce({}).rejectsOnce(throttled).resolves({});
    const to = people(101);
    await send({ ...mail, to });
    const [first, second, third] = [to.slice(0, 50), to.slice(50, 100), to.slice(100)];
    expect(attempts()).toEqual([first, second, second, second, third, third]);
    expect(pauses).toEqual([1_000, 2_000, 1_000]);
  });

  it('says who did not get it where others did, and is tried again as a whole where nobody did', async () => {
    const members = { accountId: 'account-1', recipients: people(75).map((email) => ({ email })), now: new Date() };
    const { to: _, ...letter } = mail;
    const reason = 'mail was not accepted (Throttling)';
    ses.on(SendEmailCommand).resolvesOnce({}).rejects(throttled);
    const notSent = await mailMembers(send, members, letter);
    expect(attempts()).toHaveLength(6);
    const named = people(70).slice(50);
    expect(notSent).toBe([...named.map((email) => `not sent to ${email} (${reason})`), 'and 5 more'].join(', '));
    ses.reset();
    ses.on(SendEmailCommand).rejects(throttled);
    await expect(mailMembers(send, members, letter)).rejects.toThrow(reason);
    expect(attempts()).toHaveLength(1);
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
