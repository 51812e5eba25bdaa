import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { emulatedObjects } from '../../fixtures/emulated-objects.ts';
import { interceptTable } from '../../fixtures/intercept-table.ts';
import { openAccountHolds } from '../../lambda/data/accounts/account-holds.ts';
import { auditEntry, openAuditLog } from '../../lambda/data/accounts/audit-log.ts';
import { openBillingSync } from '../../lambda/data/billing/billing-sync.ts';
import { remove, update } from '../../lambda/data/table/actions.ts';
import { accountKey, auditHeadKey, auditPartition, serviceKeyKey } from '../../lambda/data/table/keys.ts';
import { findItem, queryItems } from '../../lambda/data/table/read.ts';
import { write } from '../../lambda/data/table/write.ts';
import { newAccountKey, secretHash } from '../../lambda/domain/accounts/issued-secret.ts';
import { auditHeadObjectKey } from '../../lambda/domain/object-keys.ts';
import { newAccount, newKey } from '../data/new-account.ts';
import { tableForTests } from '../table-for-tests.ts';
import { runOps } from './run-command.ts';

const table = tableForTests();

const run = (...args: string[]) =>
  runOps('account', ['--table', table.name, ...args], { env: { AWS_ENDPOINT_URL_DYNAMODB: table.endpoint } });

const accountWithKeys = async (count: number) => {
  const { accountId, accountKey: firstKey } = await newAccount(table, 'SCALE');
  const serviceKeys = [firstKey];
  for (let n = 1; n < count; n++) {
    const serviceKey = newAccountKey(randomBytes);
    serviceKeys.push(serviceKey);
    await newKey(table, accountId, { keyId: `key-${n}` }, serviceKey);
  }
  const statuses = async () => {
    const read = async (key: { pk: string; sk: string }, attribute: string) =>
      (await table.call('GetItem', { TableName: table.name, Key: key, ConsistentRead: true })).Item?.[attribute];
    return {
      account: await read(accountKey(accountId), 'status'),
      keys: new Set(await Promise.all(serviceKeys.map((key) => read(serviceKeyKey(secretHash(key)), 'accountStatus')))),
    };
  };
  const set = (values: Record<string, unknown>) =>
    write(
      table,
      update(accountKey(accountId), `SET ${Object.keys(values).map((name) => `#${name} = :${name}`)}`, null, values),
    );
  return { accountId, firstKey, statuses, set };
};

describe('npm run account', () => {
  it('checks the audit log, also against what exported days say of it', async () => {
    const objects = await emulatedObjects();
    try {
      const { accountId, firstKey } = await accountWithKeys(2);
      const check = () =>
        runOps('account', ['audit-check', firstKey, '--table', table.name, '--bucket', 'objects'], {
          env: { AWS_ENDPOINT_URL_DYNAMODB: table.endpoint, AWS_ENDPOINT_URL_S3: objects.endpoint },
        });
      const log = openAuditLog(table);
      const registered = () => auditEntry(accountId, {}, { action: 'account.registered' }, new Date());
      await log.record(registered());
      const exported = JSON.stringify(await log.findLast(accountId));
      await objects.put(auditHeadObjectKey(accountId, '2026-11-20'), exported, { contentType: 'application/json' });
      // Of an entry that has expired since.
      const expired = JSON.stringify({ hash: 'expired', until: 1 });
      await objects.put(auditHeadObjectKey(accountId, '2025-01-01'), expired, { contentType: 'application/json' });
      expect(await check()).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('Compared with 1 exported days.'),
      });

      for await (const item of queryItems(table, {
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': auditPartition(accountId) },
      }))
        if (item['auditId'] !== undefined) await write(table, remove(item as { pk: string; sk: string }));
      expect(await run('audit-check', firstKey)).toMatchObject({
        ...{ code: 1, stdout: expect.stringContaining('The last entry was changed or removed.') },
      });

      // Whoever may write the table rewrites it from its beginning.
      await write(table, remove(auditHeadKey(accountId)));
      await log.record(registered());
      const found = await check();
      expect(found).toMatchObject({ code: 1, stdout: expect.stringContaining('1 entries are as they were written.') });
      expect(found.stdout).toContain('The log was rewritten: it lacks the last entry of 2026-11-20.');
    } finally {
      await objects.stop();
    }
  });

  it('suspends and restores an account and all of a hundred keys', async () => {
    const { accountId, firstKey, statuses } = await accountWithKeys(100);
    expect(await run('suspend', firstKey, '--reason', 'abuse', '--dry-run')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('It would be suspended.'),
    });
    expect(await statuses()).toEqual({ account: 'active', keys: new Set(['active']) });

    const suspended = await run('suspend', firstKey, '--reason', 'abuse');
    expect(suspended.stdout).toMatch(/Now it is suspended .*suspended by hand since .*: abuse/);
    expect(suspended.stdout).not.toContain(firstKey);
    expect(await statuses()).toEqual({ account: 'suspended', keys: new Set(['suspended']) });
    expect((await run('show', accountId)).stdout).toContain('suspended by hand');

    expect((await run('restore', accountId)).stdout).toContain('Now it is active');
    expect(await statuses()).toEqual({ account: 'active', keys: new Set(['active']) });
    expect((await run('show', accountId)).stdout).not.toContain('by hand');
  });

  it('leaves suspended who owes, and brings back who was cancelled', async () => {
    const owing = await accountWithKeys(1);
    await owing.set({ billingStatus: 'UNPAID', status: 'suspended' });
    expect((await run('restore', owing.accountId)).stdout).toContain(
      'Now it is suspended (plan SCALE, billing UNPAID)',
    );
    const gone = await accountWithKeys(2);
    await gone.set({ status: 'cancelled' });
    const suspend = ['suspend', gone.accountId, '--reason', 'x'];
    expect((await run(...suspend, '--dry-run')).stdout).toContain('It would be cancelled.');
    expect((await run(...suspend)).stdout).toContain('Now it is cancelled');
    expect(await gone.statuses()).toEqual({ account: 'cancelled', keys: new Set(['cancelled']) });
    expect((await run('restore', gone.accountId)).stdout).toContain('Now it is active');
    expect(await gone.statuses()).toEqual({ account: 'active', keys: new Set(['active']) });
  });

  it('says of an account that is none', async () => {
    expect(await run('show', newAccountKey(randomBytes))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There is no such account.'),
    });
    expect(await run('show', 'svc_typo')).toMatchObject({ code: 2, stderr: expect.stringContaining('no account key') });
    expect(await run('suspend', newAccountKey(randomBytes))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--reason is needed'),
    });
  });
});

describe('a hold', () => {
  const paid = async () => ({
    state: { plan: 'PRO', billingStatus: 'ACTIVE', isSuspended: false, subscription: null } as const,
    isDeleted: false,
  });
  const hold = { at: '2026-11-20T12:00:00.000Z', reason: 'abuse' };

  it('is not lifted by a payment, also one that was being read when it began', async () => {
    const { accountId, statuses, set } = await accountWithKeys(3);
    await set({ stripeCustomerId: 'cus_1', billingStatus: 'UNPAID', status: 'suspended' });
    let readings = 0;
    const sync = openBillingSync(table, async () => {
      if (readings++ === 0) await openAccountHolds(table).hold(accountId, hold);
      return paid();
    });
    await sync(accountId);
    expect(readings).toBe(2);
    expect(await statuses()).toEqual({ account: 'suspended', keys: new Set(['suspended']) });
    expect(await openAccountHolds(table).find(accountId)).toMatchObject({ plan: 'PRO', heldReason: 'abuse' });
    await openAccountHolds(table).release(accountId);
    await openBillingSync(table, paid)(accountId);
    expect(await statuses()).toEqual({ account: 'active', keys: new Set(['active']) });
  });

  it('reaches a key that is made at the same moment', async () => {
    const { accountId } = await accountWithKeys(2);
    const serviceKey = newAccountKey(randomBytes);
    let made = false;
    const slow = interceptTable(table, async (command, send) => {
      if (command.operation === 'TransactWriteItems' && !made) {
        made = true;
        await newKey(table, accountId, { keyId: 'late' }, serviceKey);
      }
      return send();
    });
    await openAccountHolds(slow).hold(accountId, hold);
    const copy = await findItem(table, serviceKeyKey(secretHash(serviceKey)));
    expect(copy).toMatchObject({ accountStatus: 'suspended' });
  });
});
