import { type BillingState, billingStateOf } from './billing-state.ts';
import type { AccountStatus, BillingStatus, PlanName } from './plans.ts';
import type { PriceList } from './price-list.ts';
import type { Subscription } from './subscription.ts';

/** An account's billing as recorded in the table. */
export interface RecordedBilling {
  readonly plan: PlanName;
  readonly billingStatus: BillingStatus;
  readonly status: AccountStatus;
  readonly subscription: BillingState['subscription'];
  /** Since when an operator has suspended it. ISO 8601. */
  readonly heldAt?: string | undefined;
}

/** Without a live subscription, it does not matter whether there ever was one. */
const isSameStatus = (recorded: BillingStatus, expected: BillingStatus): boolean =>
  recorded === expected || (expected === 'ACTIVE' && recorded === 'CANCELED');

/**
 * True where an account differs from what its customer's subscriptions make it.
 *
 * @param live those that are not over
 * @throws UnknownPriceError
 */
export const differs = (recorded: RecordedBilling, live: readonly Subscription[], prices: PriceList): boolean => {
  const expected = billingStateOf(live, prices);
  const { subscription: has } = recorded;
  const { subscription: should } = expected;
  return (
    recorded.plan !== expected.plan ||
    !(should === null
      ? isSameStatus(recorded.billingStatus, expected.billingStatus)
      : recorded.billingStatus === expected.billingStatus) ||
    (recorded.status !== 'cancelled' &&
      recorded.heldAt === undefined &&
      (recorded.status === 'suspended') !== expected.isSuspended) ||
    has?.id !== should?.id ||
    has?.periodStart !== should?.periodStart ||
    has?.periodEnd !== should?.periodEnd
  );
};

/** How many subscriptions are for one of our plans. With more than one, the customer pays twice. */
export const paidSubscriptions = (live: readonly Subscription[], prices: PriceList): number =>
  live.filter(({ items }) => items.some(({ priceId }) => prices.planOf(priceId) !== undefined)).length;
