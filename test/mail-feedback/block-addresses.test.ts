import { describe, expect, it } from '@jest/globals';
import { openUsers } from '../../lambda/data/accounts/users.ts';
import { accountUserKey } from '../../lambda/data/table/keys.ts';
import { blockAddresses } from '../../lambda/mail-feedback/block-addresses.ts';
import { newAccount } from '../data/new-account.ts';
import { tableForTests } from '../table-for-tests.ts';

const table = tableForTests();

const NOW = Date.parse('2026-11-20T12:00:00Z');
const take = blockAddresses({ users: openUsers(table), logger: { info: () => {} }, now: () => NOW });
const block = (report: object) => take(JSON.stringify(report));

const mail = (accountId: string) => ({ tags: { accountId: [accountId], 'ses:configuration-set': ['mail'] } });
const bounce = (emailAddress: string, bounceType = 'Permanent') => ({
  bounceType,
  bouncedRecipients: [{ emailAddress, status: '5.1.1' }],
});
const blockOf = async (accountId: string) => (await openUsers(table).recipients(accountId))[0]?.mailBlock;

describe('reports of SES', () => {
  it('block an address that bounces for a month, in whatever case SES writes it', async () => {
    const { accountId, email } = await newAccount(table);
    await block({ eventType: 'Bounce', mail: mail(accountId), bounce: bounce(email.toUpperCase()) });
    expect(await blockOf(accountId)).toEqual({ reason: 'bounce', until: '2026-12-20T12:00:00.000Z' });
  });

  it('block an address that complains for a year', async () => {
    const { accountId, email } = await newAccount(table);
    const complaint = { complainedRecipients: [{ emailAddress: email }] };
    await block({ eventType: 'Complaint', mail: mail(accountId), complaint });
    expect(await blockOf(accountId)).toEqual({ reason: 'complaint', until: '2027-11-20T12:00:00.000Z' });
  });

  it.each(['complaint first', 'bounce first'])(
    'block it for the longest time, in whatever order they come: %s',
    async (order) => {
      const { accountId, email } = await newAccount(table);
      const reports = [
        { eventType: 'Complaint', complaint: { complainedRecipients: [{ emailAddress: email }] } },
        { eventType: 'Bounce', bounce: bounce(email) },
      ];
      for (const report of order === 'bounce first' ? reports.reverse() : reports)
        await block({ ...report, mail: mail(accountId) });
      expect(await blockOf(accountId)).toEqual({ reason: 'complaint', until: '2027-11-20T12:00:00.000Z' });
    },
  );

  it('block nobody who was removed meanwhile, and are no error', async () => {
    const { accountId, userId, email } = await newAccount(table);
    const users = openUsers(table);
    const removed = blockAddresses({
      users: {
        ...users,
        recipients: async (id) => {
          const found = await users.recipients(id);
          await table.call('DeleteItem', { TableName: table.name, Key: { ...accountUserKey(accountId, userId) } });
          return found;
        },
      },
      logger: { info: () => {} },
      now: () => NOW,
    });
    await removed(JSON.stringify({ eventType: 'Bounce', mail: mail(accountId), bounce: bounce(email) }));
    expect(await users.recipients(accountId)).toEqual([]);
  });

  it('are about the address that bounced: another gets mail as soon as its user proves it', async () => {
    const { accountId, userId, email } = await newAccount(table);
    await block({ eventType: 'Bounce', mail: mail(accountId), bounce: bounce(email) });
    const other = `new-${email}`;
    await openUsers(table).verifyEmail({ userId, accountId }, other, new Date(NOW).toISOString());
    await block({ eventType: 'Bounce', mail: mail(accountId), bounce: bounce(email) });
    expect(await blockOf(accountId)).toBeUndefined();
  });

  it('leave an address alone of which its provider says that the mail is no spam', async () => {
    const { accountId, email } = await newAccount(table);
    const complaint = { complainedRecipients: [{ emailAddress: email }], complaintFeedbackType: 'not-spam' };
    await block({ eventType: 'Complaint', mail: mail(accountId), complaint });
    expect(await blockOf(accountId)).toBeUndefined();
  });

  it('change nothing when the mailbox is full for the moment, the address is nobody’s, or the mail is not ours', async () => {
    const { accountId, email } = await newAccount(table);
    await block({ eventType: 'Bounce', mail: mail(accountId), bounce: bounce(email, 'Transient') });
    await block({ eventType: 'Bounce', mail: mail(accountId), bounce: bounce('else@example.com') });
    await block({ eventType: 'Bounce', mail: {}, bounce: bounce(email) });
    expect(await blockOf(accountId)).toBeUndefined();
  });

  it('begin with a sentence that is no report, and any other text is an error', async () => {
    await take('Successfully validated SNS topic for Amazon SES event publishing.');
    await expect(take('Something else.')).rejects.toThrow(SyntaxError);
  });
});
