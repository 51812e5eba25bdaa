import type { BillingAccounts } from '../../data/billing/billing-accounts.ts';
import type { PeriodUsage } from '../../data/billing/billing-usage.ts';
import { billingPeriod } from '../../domain/billing/billing-period.ts';
import { plans } from '../../domain/billing/plans.ts';
import type { Implementation } from '../../http/operation.ts';
import { existingAccount } from './billing-account.ts';
import type * as operations from './operations.ts';

interface StatusDependencies {
  readonly accounts: Pick<BillingAccounts, 'find'>;
  readonly usage: PeriodUsage;
  readonly now: () => Date;
}

/** From the table alone: it answers also while the payment processor does not. */
export const billingStatus =
  ({ accounts, usage, now }: StatusDependencies): Implementation<typeof operations.billingStatus> =>
  async ({ caller: { accountId } }) => {
    const { plan, billingStatus, activeKeys, subscription } = await existingAccount(accounts, accountId);
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
