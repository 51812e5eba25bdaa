import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { openAccounts } from '../../lambda/data/accounts/accounts.ts';
import { openServiceKeys } from '../../lambda/data/accounts/service-keys.ts';
import { openUsers } from '../../lambda/data/accounts/users.ts';
import { openRules } from '../../lambda/data/alerts/rules.ts';
import { openBillingAccounts } from '../../lambda/data/billing/billing-accounts.ts';
import { openOutbox } from '../../lambda/data/ledger/outbox.ts';
import { openRequests } from '../../lambda/data/requests/requests.ts';
import { openSpendCounters } from '../../lambda/data/spend/spend-counters.ts';
import {
  ACTIVE_RULE_SHARDS,
  accountKey,
  accountServiceKeyKey,
  accountUserKey,
  outboxKey,
  stripeCustomerKey,
  stripeCustomersIndexKey,
  userKey,
} from '../../lambda/data/table/keys.ts';
import { newAccountKey, serviceKeyHash } from '../../lambda/domain/accounts/account-key.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { tableForTests } from '../table-for-tests.ts';
import { closeEvent, priceOfTokens } from '../usage-recorder/events.ts';
import { runOps } from './run-command.ts';

const table = tableForTests();

const createdAt = '2026-11-01T00:00:00.000Z';
const NOW = '2026-11-20T12:00:00.000Z';

const put = (Item: Record<string, unknown>) => table.call('PutItem', { TableName: table.name, Item });

/** An account as version 0.1 stored it: under its account key, with its service keys in the clear. */
const accountOfVersion01 = async () => {
  const accountId = newAccountKey(randomBytes);
  const secondKey = newAccountKey(randomBytes);
  const userId = `user-of-${accountId.slice(-4)}`;
  const names = { email: `${userId}@example.com`, firstName: 'Ada' };
  await put({
    ...accountKey(accountId),
    accountId,
    status: 'active',
    plan: 'PRO',
    billingStatus: 'ACTIVE',
    ownerUserId: userId,
    activeKeys: 2,
    createdAt,
    stripeCustomerId: `cus_${userId}`,
  });
  for (const [keyId, serviceKey] of [
    ['key-1', accountId],
    ['key-2', secondKey],
  ] as const) {
    await put({ pk: `KEY#${serviceKey}`, sk: 'META', accountId, keyId, keyStatus: 'active', accountStatus: 'active' });
    await put({
      ...accountServiceKeyKey(accountId, keyId),
      keyId,
      name: keyId,
      serviceKey,
      status: 'active',
      createdAt,
    });
  }
  await put({ ...userKey(userId), ...names, userId, accountId, lastName: 'L', companyName: null, createdAt });
  await put({ ...accountUserKey(accountId, userId), ...names, userId });
  const customer = `cus_${userId}`;
  await put({ ...stripeCustomerKey(customer), ...stripeCustomersIndexKey(customer), accountId });
  await openRules(table).create({
    ruleId: '01930000-0000-7000-8000-000000000001',
    accountId,
    name: 'Daily limit',
    condition: { type: 'cost_threshold', config: { threshold: 50, period: 'daily' } },
    channels: ['email'],
    isActive: true,
    webhook: null,
    createdAt,
    updatedAt: createdAt,
    effectiveFrom: createdAt,
    revision: 1,
    conditionRevision: 1,
    firedPeriods: [],
  });
  const record = openRecorder(table, { logger: { error: () => {} }, price: priceOfTokens, now: () => Date.parse(NOW) });
  const events = [1, 2, 3].map((n) => closeEvent({ accountId, n, startedAt: '2026-11-19T12:00:00.000Z' }));
  const results = await record(events);
  if (results.some(({ kind }) => kind !== 'recorded')) throw new Error('The requests were not recorded.');
  const { accountId: _, ...unverified } = closeEvent({ n: 9 });
  await put({
    ...outboxKey(0, `req-${userId}`, 'close'),
    event: JSON.stringify({ ...unverified, accountId: null, unverifiedKey: secondKey }),
    parkedAt: NOW,
  });
  return { accountId, secondKey, userId, requestId: events[0]?.requestId ?? '' };
};

const itemsOf = async (): Promise<Record<string, unknown>[]> => {
  const { Items = [] } = await table.call('Scan', { TableName: table.name, ConsistentRead: true });
  return Items;
};

const migrate = (...args: string[]) =>
  runOps('migrate', [...args, '--table', table.name], { env: { AWS_ENDPOINT_URL_DYNAMODB: table.endpoint } });

const all = async <T>(values: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = [];
  for await (const value of values) found.push(value);
  return found;
};

describe('npm run migrate', () => {
  it('moves what version 0.1 stored to internal account ids and hashed keys', async () => {
    const olds = [await accountOfVersion01(), await accountOfVersion01()];
    const before = await itemsOf();

    expect(await migrate('move', '--dry-run')).toMatchObject({ code: 0, stdout: expect.stringContaining('would be') });
    expect(await itemsOf()).toHaveLength(before.length);

    expect(await migrate('prepare')).toMatchObject({ code: 0, stdout: '2 accounts prepared.\n' });
    // Plain keys still admit, for gateways of 0.1; hashed ones do, too.
    expect(await itemsOf()).toHaveLength(before.length + 4);

    // Version 0.1 revokes a key meanwhile.
    const revokedKey = olds[0]?.secondKey ?? '';
    const revoked = before.find(({ pk }) => pk === `KEY#${revokedKey}`) ?? {};
    await put({ ...revoked, keyStatus: 'revoked' });
    expect(await migrate('move')).toMatchObject({ code: 0, stderr: '' });
    // Gateways of 0.1 still find their keys.
    expect(JSON.stringify(await itemsOf())).toContain(revokedKey);
    expect(await migrate('finish')).toMatchObject({ code: 0, stdout: '4 keys in the clear removed.\n' });
    const after = await itemsOf();
    expect(after.find(({ pk }) => pk === `KEY#${serviceKeyHash(revokedKey)}`)).toMatchObject({ keyStatus: 'revoked' });
    expect(after).toHaveLength(before.length);
    for (const { accountId: accountKeyOfOld, secondKey, userId, requestId } of olds) {
      const holders = after.filter((item) => JSON.stringify(item).includes(accountKeyOfOld));
      expect(holders).toEqual([expect.objectContaining({ sk: 'META', accountKey: accountKeyOfOld })]);
      expect(JSON.stringify(after)).not.toContain(secondKey);

      const accountId = (await openUsers(table).find(userId))?.accountId ?? '';
      expect(accountId).toMatch(/^[0-9a-f-]{36}$/);
      expect(await openAccounts(table).find(accountId)).toMatchObject({ accountId, accountKey: accountKeyOfOld });
      expect(await openServiceKeys(table).list(accountId)).toMatchObject([
        { keyId: 'key-1', keyHash: serviceKeyHash(accountKeyOfOld) },
        { keyId: 'key-2', keyHash: serviceKeyHash(secondKey), maskedKey: expect.stringMatching(/^svc_....….{4}$/) },
      ]);
      expect(await openBillingAccounts(table).ownerOf(`cus_${userId}`)).toBe(accountId);
      expect(await openRequests(table).find(accountId, requestId)).toMatchObject({ accountId, requestId });
      const days = await all(openSpendCounters(table).days(accountId, '2026-11-19', '2026-11-19'));
      expect(days).toMatchObject([{ counters: { requests: 3 } }]);
      expect(await openRules(table).list(accountId)).toMatchObject([{ accountId, name: 'Daily limit' }]);
    }
    const active = [];
    for (let shard = 0; shard < ACTIVE_RULE_SHARDS; shard++)
      active.push(...(await all(openRules(table).activeInShard(shard))));
    expect(active.map(({ accountId }) => accountId).every((id) => /^[0-9a-f-]{36}$/.test(id))).toBe(true);
    expect(active).toHaveLength(2);
    const [waiting] = (await all(openOutbox(table).pages(0, 10))).flat();
    expect(JSON.parse(waiting?.event ?? '')).toMatchObject({ unverifiedKeyHash: expect.any(String) });
  });

  it('does nothing the second time', async () => {
    const before = await itemsOf();
    for (const action of ['prepare', 'move', 'finish'])
      expect(await migrate(action)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^0 /) });
    expect(await itemsOf()).toEqual(before);
  });

  it('is taken up where a run was interrupted, and leaves alone what both versions have written', async () => {
    const old = await accountOfVersion01();
    await migrate('prepare');
    const hashed = (await itemsOf()).find(({ pk }) => pk === `KEY#${serviceKeyHash(old.accountId)}`);
    const accountId = String(hashed?.['accountId']);
    await put({ ...accountUserKey(accountId, old.userId), userId: old.userId, email: 'other@example.com' });
    expect(await migrate('move')).toMatchObject({ code: 1, stderr: expect.stringContaining('1 items were not moved') });
    expect(await openAccounts(table).find(accountId)).toMatchObject({ accountKey: old.accountId });
    const [left] = (await itemsOf()).filter(({ pk }) => pk === accountKey(old.accountId).pk);
    expect(left).toMatchObject({ sk: `USER#${old.userId}` });
  });
});
