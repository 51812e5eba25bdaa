import type { BillingAccounts } from '../../data/billing/billing-accounts.ts';
import type { PeriodUsage } from '../../data/billing/billing-usage.ts';
import { plans } from '../../domain/billing/plans.ts';
import { billingPeriod } from '../../domain/billing/subscription.ts';
import type { Implementation } from '../../http/operation.ts';
import { requireAccount } from './billing-account.ts';
import type * as operations from './operations.ts';

interface StatusDependencies {
  readonly accounts: Pick<BillingAccounts, 'find'>;
  readonly usage: PeriodUsage;
  readonly now: () => Date;
}

/** Reads the table only, so it works while the payment processor is unavailable. */
export const billingStatus =
  ({ accounts, usage, now }: StatusDependencies): Implementation<typeof operations.billingStatus> =>
  async ({ caller: { accountId } }) => {
    const { plan, billingStatus, activeKeys, subscription } = await requireAccount(accounts, accountId);
    const at = now();
    const period = billingPeriod(subscription, at);
    return {
      plan,
      billingStatus,
      usage: {
        trackedRequests: await usage(accountId, period, at),
        limit: plans[plan].trackedRequests,
        keys: activeKeys,
        keyLimit: plans[plan].keys,
      },
      currentPeriodEnd: period.end,
    };
  };
