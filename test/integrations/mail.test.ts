import { SESClient, SendEmailCommand } from '@aws-sdk/client-ses';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { mailMembers } from '../../lambda/integrations/channels.ts';
import { MailError, openMail } from '../../lambda/integrations/mail.ts';

const ses = mockClient(SESClient);
const pauses: number[] = [];
const environment = {
  MAIL_FROM: 'alerts@example.com',
  MAIL_CONFIGURATION_SET: 'ai-spend-test',
  DASHBOARD_URL: 'https://example.com',
};
const pause = async (ms: number) => pauses.push(ms);
const send = openMail(environment, { pause });
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
  it('sends text and HTML in UTF-8 from the configured address, to each recipient in a mail of their own', async () => {
    ses.on(SendEmailCommand).resolves({ MessageId: '1' });
    await send(mail);
    expect(ses.commandCalls(SendEmailCommand).map(({ args }) => args[0].input)).toEqual(
      mail.to.map((address) => ({
        Source: 'alerts@example.com',
        ConfigurationSetName: 'ai-spend-test',
        Tags: [{ Name: 'accountId', Value: 'account-1' }],
        Destination: { ToAddresses: [address] },
        Message: {
          Subject: { Data: mail.subject, Charset: 'UTF-8' },
          Body: { Text: { Data: 'plain', Charset: 'UTF-8' }, Html: { Data: '<p>rich</p>', Charset: 'UTF-8' } },
        },
      })),
    );
  });

  it('waits where SES takes no more at the moment, and sends nobody a mail twice', async () => {
    const to = people(25);
    const [slow, slower] = [to[4], to[12]] as [string, string];
    const refusing = (address: string, times: number) => {
      const mails = ses.on(SendEmailCommand, { Destination: { ToAddresses: [address] } });
      for (let i = 0; i < times; i++) mails.rejectsOnce(throttled);
      mails.resolves({});
    };
    ses.on(SendEmailCommand).resolves({});
    refusing(slow, 1);
    refusing(slower, 4);
    await send({ ...mail, to });
    const times = Map.groupBy(attempts(), (address) => String(address));
    expect([...times].map(([address, { length }]) => [address, length])).toEqual(
      to.map((address) => [address, address === slow ? 2 : address === slower ? 5 : 1]),
    );
    // While others get it the first pause is enough.
    expect(pauses).toEqual([1_000, 1_000, 1_000, 2_000, 3_000]);
  });

  const members = (count: number) => ({
    accountId: 'account-1',
    recipients: people(count).map((email) => ({ userId: email, email })),
    now: new Date(),
  });
  const { to: _, ...letter } = mail;

  it('says who did not get it where others did, and is tried again as a whole where nobody did', async () => {
    const reason = 'mail was not accepted (Throttling)';
    const mails = ses.on(SendEmailCommand);
    for (let i = 0; i < 50; i++) mails.resolvesOnce({});
    mails.rejects(throttled);
    const notSent = await mailMembers(send, members(75), letter);
    expect(attempts()).toHaveLength(50 + 5 * 10);
    const named = people(70).slice(50);
    expect(notSent).toEqual({
      isTemporary: true,
      error: [...named.map((email) => `not sent to ${email} (${reason})`), 'and 5 more'].join(', '),
    });
    ses.reset();
    ses.on(SendEmailCommand).rejects(throttled);
    await expect(mailMembers(send, members(75), letter)).rejects.toThrow(reason);
    expect(attempts()).toHaveLength(10);
    // The mail was sent all the same where somebody has it from an earlier attempt.
    const progress = { mailed: new Set(people(1)), note: async () => {} };
    expect(await mailMembers(send, members(2), letter, progress)).toMatchObject({ isTemporary: true });
    const { recipients, ...others } = members(2);
    const unverified = { ...others, recipients: recipients.map((each) => ({ ...each, emailVerifiedAt: null })) };
    expect(await mailMembers(send, unverified, letter, progress)).toEqual({
      isTemporary: false,
      error: 'not sent to user-1@example.com (the address is not verified)',
    });
  });

  it.each([
    ['its run is killed, and leaves the others to another run', { pause, maxMs: 45_000 }, 450],
    ['a response of the API is due', { pause }, 80],
  ])('ends before %s', async (_, options, count) => {
    let nowMs = 0;
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => nowMs);
    ses.on(SendEmailCommand).callsFake(() => {
      nowMs += 100;
    });
    const noted: string[] = [];
    const progress = { mailed: new Set<string>(), note: async (ids: readonly string[]) => void noted.push(...ids) };
    const { error, isTemporary } = await mailMembers(openMail(environment, options), members(2_000), letter, progress);
    clock.mockRestore();
    expect([noted, isTemporary]).toEqual([people(count), true]);
    expect(error).toContain(`not sent to user-${count}@example.com (mail was not accepted (TimeoutError)), `);
    expect(error).toContain(`, and ${2_000 - count - 20} more`);
  });

  it.each([
    ['as in its sandbox, where it takes verified addresses alone', 'MessageRejected'],
    ['since it is none', 'InvalidParameterValue'],
  ])('reaches all others where SES refuses an address, %s', async (_why, name) => {
    ses.on(SendEmailCommand).resolves({});
    ses
      .on(SendEmailCommand, { Destination: { ToAddresses: ['user-0@example.com'] } })
      .rejects(Object.assign(new Error('user-0@example.com'), { name }));
    expect(await mailMembers(send, members(3), letter)).toEqual({
      isTemporary: false,
      error: `not sent to user-0@example.com (mail was not accepted (${name}))`,
    });
    expect(attempts()).toEqual(people(3).map((address) => [address]));
    expect(pauses).toEqual([]);
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
