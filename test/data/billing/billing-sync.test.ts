import { describe, expect, it } from '@jest/globals';
import { type Interception, interceptTable } from '../../../fixtures/intercept-table.ts';
import { newServiceKey, openServiceKeys } from '../../../lambda/data/accounts/service-keys.ts';
import { openBillingAccounts } from '../../../lambda/data/billing/billing-accounts.ts';
import { type CustomerBilling, openBillingSync } from '../../../lambda/data/billing/billing-sync.ts';
import { update } from '../../../lambda/data/table/actions.ts';
import { accountKey, serviceKeyKey } from '../../../lambda/data/table/keys.ts';
import { findItem } from '../../../lambda/data/table/read.ts';
import type { TableCommand } from '../../../lambda/data/table/table.ts';
import { write } from '../../../lambda/data/table/write.ts';
import { secretHash } from '../../../lambda/domain/accounts/issued-secret.ts';
import type { AccountStatus, BillingStatus, PlanName } from '../../../lambda/domain/billing/plans.ts';
import { UnavailableError } from '../../../lambda/domain/errors.ts';
import { tableForTests } from '../../table-for-tests.ts';
import { newAccount } from '../new-account.ts';

const table = tableForTests();

const period = { periodStart: '2026-11-05T10:00:00.000Z', periodEnd: '2026-12-05T10:00:00.000Z' };

const billing = (plan: PlanName, billingStatus: BillingStatus = 'ACTIVE', isDeleted = false): CustomerBilling => ({
  state: {
    plan,
    billingStatus,
    isSuspended: billingStatus === 'UNPAID',
    subscription: plan === 'FREE' ? null : { id: 'sub_1', ...period },
  },
  isDeleted,
});

const customerOf = ({ accountId }: { readonly accountId: string }) => `cus_${accountId}`;

/** An account with a customer and a number of additional keys. */
const billedAccount = async (moreKeys = 0) => {
  const account = await newAccount(table);
  const accounts = openBillingAccounts(table);
  const found = await accounts.find(account.accountId);
  if (!found) throw new Error('The account is missing.');
  await accounts.link(found, customerOf(account));
  const keys = openServiceKeys(table);
  const serviceKeys = [account.accountKey];
  for (let n = 0; n < moreKeys; n++) {
    const serviceKey = `${account.accountId}-${n}`;
    await keys.create({ accountId: account.accountId, status: 'active' }, keyOf(serviceKey), 1_000);
    serviceKeys.push(serviceKey);
  }
  return { ...account, serviceKeys };
};

const keyOf = (serviceKey: string) =>
  newServiceKey({ keyId: serviceKey, name: 'k', createdAt: '2026-11-01T00:00:00.000Z' }, serviceKey);

const accountItem = async (accountId: string) =>
  (await findItem(table, accountKey(accountId))) as Record<string, unknown>;

const copies = async (serviceKeys: readonly string[]): Promise<Set<unknown>> => {
  const statuses = new Set<unknown>();
  for (let at = 0; at < serviceKeys.length; at += 100) {
    const Keys = serviceKeys.slice(at, at + 100).map((key) => ({ ...serviceKeyKey(secretHash(key)) }));
    const { Responses } = await table.call('BatchGetItem', { RequestItems: { [table.name]: { Keys } } });
    const items = Responses?.[table.name] ?? [];
    expect(items).toHaveLength(Keys.length);
    for (const item of items) statuses.add(item['accountStatus']);
  }
  return statuses;
};

const setStatus = (accountId: string, status: AccountStatus) =>
  write(table, update(accountKey(accountId), 'SET #status = :status', null, { status }));

const isTransaction = (command: TableCommand) => command.operation === 'TransactWriteItems';

describe('syncing an account', () => {
  it('writes plan, status, period and the status of every key, and returns the change', async () => {
    const { accountId, serviceKeys } = await billedAccount(2);
    const change = await openBillingSync(table, async () => billing('PRO', 'UNPAID'))(accountId);
    expect(change).toMatchObject({
      before: { plan: 'FREE', billingStatus: 'ACTIVE', status: 'active', subscription: null },
      after: { plan: 'PRO', billingStatus: 'UNPAID', status: 'suspended', subscription: { id: 'sub_1', ...period } },
    });
    expect(await accountItem(accountId)).toMatchObject({ plan: 'PRO', billingStatus: 'UNPAID', status: 'suspended' });
    expect(await copies(serviceKeys)).toEqual(new Set(['suspended']));
    await openBillingSync(table, async () => billing('PRO'))(accountId);
    expect(await copies(serviceKeys)).toEqual(new Set(['active']));
  });

  it('writes the hundred keys of the largest plan, which exceed one transaction', async () => {
    const { accountId, serviceKeys } = await billedAccount(99);
    expect(serviceKeys).toHaveLength(100);
    await openBillingSync(table, async () => billing('SCALE', 'UNPAID'))(accountId);
    expect(await copies(serviceKeys)).toEqual(new Set(['suspended']));
    await openBillingSync(table, async () => billing('SCALE'))(accountId);
    expect(await copies(serviceKeys)).toEqual(new Set(['active']));
  });

  it('may be interrupted anywhere; the next sync completes it', async () => {
    const { accountId, serviceKeys } = await billedAccount(99);
    for (const failing of [1, 2]) {
      let transactions = 0;
      const fault: Interception = async (command, send) => {
        if (isTransaction(command) && ++transactions === failing) throw new Error('The function died.');
        return send();
      };
      const read = async () => billing('SCALE', 'UNPAID');
      await expect(openBillingSync(interceptTable(table, fault), read)(accountId)).rejects.toThrow(
        'The function died.',
      );
      // At no point is the account suspended while one of its keys is admitted.
      expect((await accountItem(accountId))['status']).toBe('active');
    }
    await openBillingSync(table, async () => billing('SCALE', 'UNPAID'))(accountId);
    expect(await copies(serviceKeys)).toEqual(new Set(['suspended']));
  });

  it.each([
    ['ended the plan', 'CANCELED'],
    ['changed nothing', 'ACTIVE'],
  ] as const)('does not overwrite a newer state that %s with an older one', async (_, billingStatus) => {
    const { accountId } = await billedAccount();
    const { promise: asked, resolve: resolveAsked } = Promise.withResolvers<void>();
    const { promise: slowBilling, resolve: resolveBilling } = Promise.withResolvers<CustomerBilling>();
    let readings = 0;
    const slow = openBillingSync(table, async () => {
      if (++readings > 1) return billing('FREE', billingStatus);
      resolveAsked();
      return slowBilling;
    })(accountId);
    await asked;
    // It is written first.
    await openBillingSync(table, async () => billing('FREE', billingStatus))(accountId);
    resolveBilling(billing('PRO', 'PAST_DUE'));
    await slow;
    expect(readings).toBe(2);
    expect(await accountItem(accountId)).toMatchObject({ plan: 'FREE', billingStatus });
  });

  it('updates a key that is created at the same moment', async () => {
    const { accountId, serviceKeys } = await billedAccount();
    const late = `${accountId}-late`;
    let made = false;
    const fault: Interception = async (command, send) => {
      if (isTransaction(command) && !made) {
        made = true;
        await openServiceKeys(table).create({ accountId, status: 'active' }, keyOf(late), 100);
      }
      return send();
    };
    const change = await openBillingSync(interceptTable(table, fault), async () => billing('PRO', 'UNPAID'))(accountId);
    expect(change?.before.status).toBe('active');
    expect(await copies([...serviceKeys, late])).toEqual(new Set(['suspended']));
  });

  it('keeps a cancelled account cancelled', async () => {
    const { accountId } = await billedAccount();
    await setStatus(accountId, 'cancelled');
    await openBillingSync(table, async () => billing('PRO'))(accountId);
    expect(await accountItem(accountId)).toMatchObject({ plan: 'PRO', status: 'cancelled' });
  });

  it('removes a deleted customer and keeps its id as the former one', async () => {
    const account = await billedAccount();
    const { accountId } = account;
    await openBillingSync(table, async () => billing('FREE', 'CANCELED', true))(accountId);
    const item = await accountItem(accountId);
    expect(item).not.toHaveProperty('stripeCustomerId');
    expect(item).toMatchObject({
      formerStripeCustomerId: customerOf(account),
      plan: 'FREE',
      billingStatus: 'CANCELED',
    });
    expect(await openBillingAccounts(table).ownerOf(customerOf(account))).toBe(accountId);
    // Later events of it change nothing.
    expect(await openBillingSync(table, async () => billing('PRO'))(accountId)).toBeUndefined();
  });

  it('does nothing without a customer, or if Stripe cannot be read', async () => {
    const { accountId } = await newAccount(table);
    expect(await openBillingSync(table, async () => billing('PRO'))(accountId)).toBeUndefined();
    expect(await openBillingSync(table, async () => billing('PRO'))('unknown-account')).toBeUndefined();
    const billed = await billedAccount();
    const unreadable = openBillingSync(table, async () => {
      throw new UnavailableError('Stripe does not respond.');
    });
    await expect(unreadable(billed.accountId)).rejects.toThrow(UnavailableError);
    expect(await accountItem(billed.accountId)).toMatchObject({ plan: 'FREE' });
  });

  it('gives up if others keep writing', async () => {
    const { accountId } = await billedAccount();
    const busy = openBillingSync(table, async () => {
      await openBillingSync(table, async () => billing('FREE'))(accountId);
      return billing('PRO');
    });
    await expect(busy(accountId)).rejects.toThrow(UnavailableError);
  });
});

describe('customers of accounts', () => {
  it('are linked once; concurrent links never result in two', async () => {
    const account = await newAccount(table);
    const accounts = openBillingAccounts(table);
    const found = await accounts.find(account.accountId);
    if (!found) throw new Error('The account is missing.');
    const results = await Promise.allSettled(
      ['cus_a', 'cus_b', 'cus_a', 'cus_b'].map((id) => accounts.link(found, `${id}_${account.accountId}`)),
    );
    const linked = (await accounts.find(account.accountId))?.stripeCustomerId ?? '';
    expect(results.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThanOrEqual(1);
    for (const result of results)
      if (result.status === 'rejected')
        expect(result.reason).toMatchObject({ name: expect.stringMatching(/ConflictError|UnavailableError/) });
    expect(await accounts.ownerOf(linked)).toBe(account.accountId);
    await accounts.link(found, linked);
  });

  it('are replaced after Stripe has deleted them', async () => {
    const account = await billedAccount();
    const accounts = openBillingAccounts(table);
    const before = await accounts.find(account.accountId);
    if (!before) throw new Error('The account is missing.');
    await accounts.link(before, `new_${account.accountId}`);
    expect(await accounts.find(account.accountId)).toMatchObject({
      stripeCustomerId: `new_${account.accountId}`,
      formerStripeCustomerId: customerOf(account),
    });
  });

  it('list every account that has one once, in batches, however many customers it has had', async () => {
    const accounts = openBillingAccounts(table);
    const twice = await billedAccount();
    const linked = await accounts.find(twice.accountId);
    if (!linked) throw new Error('The account is missing.');
    // Sorts behind the customers of the others, and so into another batch than the first customer.
    await accounts.link(linked, `zzz_${twice.accountId}`);
    const mine = [twice.accountId];
    for (let n = 0; n < 105; n++) mine.push((await billedAccount()).accountId);
    const found: string[] = [];
    const sizes: number[] = [];
    for await (const batch of accounts.all()) {
      sizes.push(batch.length);
      for (const { accountId } of batch) found.push(accountId);
    }
    expect(Math.max(...sizes)).toBeLessThanOrEqual(100);
    expect(mine.filter((accountId) => !found.includes(accountId))).toEqual([]);
    expect(found.filter((accountId) => accountId === twice.accountId)).toHaveLength(1);
  });
});
