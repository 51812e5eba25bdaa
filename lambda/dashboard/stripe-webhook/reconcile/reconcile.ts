import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '@aws-lambda-powertools/logger';
import { MetricUnit } from '@aws-lambda-powertools/metrics';
import type { BillingAccount, BillingAccounts } from '../../../data/billing/billing-accounts.ts';
import type { SyncBilling } from '../../../data/billing/billing-sync.ts';
import { differs, paidSubscriptions } from '../../../domain/billing/billing-state.ts';
import type { PriceList } from '../../../domain/billing/price-list.ts';
import type { StripeBilling } from '../../../integrations/stripe-billing.ts';
import type { CustomerSubscription } from '../../../integrations/stripe-objects.ts';

export interface ReconcileDependencies {
  readonly accounts: Pick<BillingAccounts, 'all'>;
  readonly stripe: Pick<StripeBilling, 'liveSubscriptions'>;
  readonly sync: SyncBilling;
  readonly prices: PriceList;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly metrics: { addMetric(name: string, unit: typeof MetricUnit.Count, value: number): unknown };
}

/** Longest time to repair one account. */
const ACCOUNT_MS = 30_000;

/** Time ran out before every account was checked. The next run starts from the beginning. */
class UnfinishedReconciliationError extends Error {
  override readonly name = 'UnfinishedReconciliationError';
}

/**
 * Compares every account that has a customer with Stripe's subscriptions and repairs differences. They come from events that
 * never arrived or failed here. It reads Stripe in pages of a hundred and the table in batches, so accounts without a difference
 * cost almost nothing. Problems that need a person are logged and counted. Does nothing if no plan has a price.
 */
export const reconcile =
  ({ accounts, stripe, sync, prices, logger, metrics }: ReconcileDependencies) =>
  async (remainingMs: () => number): Promise<void> => {
    const count = (name: string) => metrics.addMetric(name, MetricUnit.Count, 1);

    const repair = async (account: BillingAccount): Promise<void> => {
      const change = await sync(account.accountId);
      // The difference may be gone by now, because an event arrived in the meantime.
      if (change === undefined) return;
      const { plan, billingStatus, status, subscription } = change.before;
      const [was, is] = [{ plan, billingStatus, status, subscription }, change.after];
      if (isDeepStrictEqual(was, is)) return;
      count('RepairedAccounts');
      const { stripeCustomerId: customerId, ownerUserId: userId } = account;
      logger.warn('account repaired', { userId, customerId, was, is });
    };

    const check = async (account: BillingAccount, live: readonly CustomerSubscription[]): Promise<void> => {
      // Logs name the owner and the customer, which is what support looks up.
      const fields = { userId: account.ownerUserId, customerId: account.stripeCustomerId };
      if (paidSubscriptions(live, prices) > 1) {
        count('DuplicateSubscriptions');
        logger.error('account pays twice', { ...fields, subscriptions: live.map(({ id }) => id) });
      }
      try {
        if (differs(account, live, prices)) await repair(account);
      } catch (error) {
        count('UnreconciledAccounts');
        logger.error('account not reconciled', { ...fields, error: error as Error });
      }
    };

    if (prices.isEmpty) return;
    const byCustomer = new Map<string, CustomerSubscription[]>();
    for await (const subscription of stripe.liveSubscriptions()) {
      const { customerId } = subscription;
      byCustomer.set(customerId, [...(byCustomer.get(customerId) ?? []), subscription]);
    }
    for await (const batch of accounts.all()) {
      for (const account of batch) {
        if (remainingMs() < ACCOUNT_MS) throw new UnfinishedReconciliationError('Not every account was checked.');
        if (account.stripeCustomerId === undefined) continue;
        await check(account, byCustomer.get(account.stripeCustomerId) ?? []);
        byCustomer.delete(account.stripeCustomerId);
      }
    }
    for (const [customerId, live] of byCustomer) {
      if (paidSubscriptions(live, prices) === 0) continue;
      count('UnownedSubscriptions');
      logger.error('subscription without account', { customerId, subscriptions: live.map(({ id }) => id) });
    }
  };
