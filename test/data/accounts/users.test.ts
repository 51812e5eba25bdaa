import { expect, it } from '@jest/globals';
import pMap from 'p-map';
import { openAddressCodes } from '../../../lambda/data/accounts/address-codes.ts';
import { auditEntry } from '../../../lambda/data/accounts/audit-log.ts';
import { openMembers } from '../../../lambda/data/accounts/members.ts';
import { newUserItems, openUsers } from '../../../lambda/data/accounts/users.ts';
import { put } from '../../../lambda/data/table/actions.ts';
import { write } from '../../../lambda/data/table/write.ts';
import { HOUR_MS } from '../../../lambda/domain/calendar/units.ts';
import { tableForTests } from '../../table-for-tests.ts';
import { newAccount } from '../new-account.ts';

const table = tableForTests();

it('the members of an account are all found, where they have more than a page of the table', async () => {
  const id = (kind: string, number: number) => `${kind}${'0'.repeat(31)}${1_000 + number}`;
  const accountId = id('a', 0);
  const users = Array.from({ length: 70 }, (_, number) => ({
    userId: id('u', number),
    accountId,
    role: 'viewer' as const,
    projects: Array.from({ length: 500 }, (__, project) => id('p', project)),
    email: `user-${number}@example.com`,
    emailVerifiedAt: null,
    firstName: 'Ada',
    lastName: 'Lovelace',
    companyName: null,
    createdAt: '2026-11-20T12:00:00.000Z',
  }));
  await pMap(users.flatMap(newUserItems), (item) => write(table, put(item)), { concurrency: 16 });
  expect(await openUsers(table).recipients(accountId)).toHaveLength(70);
  expect(await openMembers(table).list(accountId)).toHaveLength(70);
});

it('an address gets ten codes a day, counted from the first', async () => {
  const { issue } = openAddressCodes(table);
  const issueAt = (hours: number) => issue('user', 'ada@example.com', '1', hours * HOUR_MS);
  for (let n = 0; n < 10; n++) await issueAt(2 * n);
  await expect(issueAt(20)).rejects.toThrow('Ten codes');
  await issueAt(24);
});

it('an invitation that has expired takes no room', async () => {
  const { accountId, userId } = await newAccount(table);
  const members = openMembers(table);
  const sentAt = '2026-11-20T12:00:00.000Z';
  const validUntil = '2026-11-27T12:00:00.000Z';
  const ids = { invitationId: 'i', accountId, email: 'ada@example.com', tokenHash: 'h', invitedBy: userId };
  const invitation = { ...ids, role: 'viewer' as const, createdAt: sentAt, sentAt, validUntil };
  await members.invite(invitation, auditEntry(accountId, {}, { action: 'invitation.sent' }, new Date(sentAt)));
  await expect(members.requireRoom(accountId, sentAt, 1_999)).rejects.toThrow('has 2.');
  await members.requireRoom(accountId, validUntil, 1_999);
});
