import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { reconcile } from '../../../lambda/dashboard/stripe-webhook/reconcile/reconcile.ts';
import { openBillingAccounts } from '../../../lambda/data/billing/billing-accounts.ts';
import type { SyncBilling } from '../../../lambda/data/billing/billing-sync.ts';
import { update } from '../../../lambda/data/table/actions.ts';
import { accountKey } from '../../../lambda/data/table/keys.ts';
import { write } from '../../../lambda/data/table/write.ts';
import { priceList } from '../../../lambda/domain/billing/price-list.ts';
import { newAccount } from '../../data/new-account.ts';
import { silentLogger } from '../../http/invoke.ts';
import { tableForTests } from '../../table-for-tests.ts';
import { type BillingHost, billingHost, prices } from './billing-host.ts';
import { open, press } from './browser.ts';

const table = tableForTests();
let host: BillingHost;
beforeEach(async () => {
  host = await billingHost(table, { delivers: false });
});
afterEach(() => host.stop());

/** An account that buys a plan whose events never arrive. */
const silentBuyer = async (plan = 'PRO') => {
  const account = await newAccount(table);
  const me = host.as(account);
  await press(await open((await me.checkout(plan)).body.url), 'Pay and subscribe');
  const customer = (await openBillingAccounts(table).find(account.accountId))?.stripeCustomerId ?? '';
  return { account, me, customer };
};

const run = async (
  changed: { prices?: typeof prices; sync?: SyncBilling; accountIds?: string[] } = {},
  remainingMs = 900_000,
) => {
  const logger = silentLogger();
  const counts: Record<string, number> = {};
  const all = openBillingAccounts(table).all;
  await reconcile({
    // Excludes accounts of other tests, whose customers belong to another Stripe.
    accounts: {
      all: async function* () {
        for await (const batch of all())
          yield batch.filter(({ accountId }) => changed.accountIds?.includes(accountId) ?? true);
      },
    },
    stripe: host.stripe,
    sync: changed.sync ?? host.sync,
    prices: changed.prices ?? prices,
    logger,
    metrics: {
      addMetric: (name, _, value) => {
        counts[name] = (counts[name] ?? 0) + value;
      },
    },
  })(() => remainingMs);
  return { counts, logger };
};

describe('the daily reconciliation', () => {
  it('repairs and reports a missed event, and then finds no difference', async () => {
    const bought = await silentBuyer();
    const ended = await silentBuyer('SCALE');
    const accountIds = [bought.account.accountId, ended.account.accountId];
    const first = await run({ accountIds });
    expect(first.counts).toEqual({ RepairedAccounts: 2 });
    expect(await bought.me.status()).toMatchObject({ plan: 'PRO', billingStatus: 'ACTIVE' });

    await press(await open((await ended.me.portal()).body.url), 'Cancel at once');
    const { counts, logger } = await run({ accountIds });
    expect(counts).toEqual({ RepairedAccounts: 1 });
    expect(logger.warn.mock.calls).toEqual([
      [
        'account repaired',
        {
          userId: ended.account.userId,
          customerId: ended.customer,
          was: expect.objectContaining({ plan: 'SCALE', billingStatus: 'ACTIVE' }),
          is: expect.objectContaining({ plan: 'FREE', billingStatus: 'CANCELED' }),
        },
      ],
    ]);
    expect(await ended.me.status()).toMatchObject({ plan: 'FREE', billingStatus: 'CANCELED' });
    expect((await run({ accountIds })).counts).toEqual({});
  });

  it('restores an account that is suspended without reason', async () => {
    const { account, me } = await silentBuyer();
    const accountIds = [account.accountId];
    await run({ accountIds });
    const suspended = { suspended: 'suspended' };
    await write(table, update(accountKey(account.accountId), 'SET #status = :suspended', null, suspended));
    expect((await run({ accountIds })).counts).toEqual({ RepairedAccounts: 1 });
    expect(await openBillingAccounts(table).find(account.accountId)).toMatchObject({ status: 'active' });
    expect(await me.status()).toMatchObject({ plan: 'PRO' });
  });

  it('reports accounts that pay twice and subscriptions without an account', async () => {
    const twice = await silentBuyer();
    const session = await host.api.checkout.sessions.create({
      mode: 'subscription',
      customer: twice.customer,
      line_items: [{ price: 'price_local_scale', quantity: 1 }],
      success_url: 'https://app.acme.dev',
    });
    await press(await open(session.url ?? ''), 'Pay and subscribe');
    const stranger = await silentBuyer();
    const { counts, logger } = await run({ accountIds: [twice.account.accountId] });
    expect(counts).toEqual({ DuplicateSubscriptions: 1, RepairedAccounts: 1, UnownedSubscriptions: 1 });
    expect(await twice.me.status()).toMatchObject({ plan: 'SCALE' });
    expect(logger.error.mock.calls).toEqual([
      ['account pays twice', expect.objectContaining({ customerId: twice.customer })],
      ['subscription without account', expect.objectContaining({ customerId: stranger.customer })],
    ]);
  });

  it('skips and reports an account with an unknown price, and continues', async () => {
    const unknown = await silentBuyer('STARTER');
    const known = await silentBuyer('PRO');
    const accountIds = [unknown.account.accountId, known.account.accountId];
    const { counts, logger } = await run({ accountIds, prices: priceList({ PRO: ['price_local_pro'] }) });
    expect(counts).toEqual({ UnreconciledAccounts: 1, RepairedAccounts: 1 });
    expect(logger.error.mock.calls).toEqual([
      [
        'account not reconciled',
        expect.objectContaining({ error: expect.objectContaining({ name: 'UnknownPriceError' }) }),
      ],
    ]);
    expect(await unknown.me.status()).toMatchObject({ plan: 'FREE' });
  });

  it('logs only the owner and the customer of an account', async () => {
    const { account } = await silentBuyer();
    const failing = async () => {
      throw new Error('The table is down.');
    };
    const { counts, logger } = await run({ accountIds: [account.accountId], sync: failing });
    expect(counts).toEqual({ UnreconciledAccounts: 1 });
    expect(JSON.stringify(logger.error.mock.calls)).not.toContain(account.accountKey);
  });

  it('fails if its time runs out, so that an alarm is raised', async () => {
    const { account } = await silentBuyer();
    await expect(run({ accountIds: [account.accountId] }, 10_000)).rejects.toMatchObject({
      name: 'UnfinishedReconciliationError',
    });
  });

  it('calls nothing if no plan is sold', async () => {
    await host.stop();
    expect((await run({ prices: priceList({}) })).counts).toEqual({});
  });
});
