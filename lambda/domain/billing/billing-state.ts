import { isDeepStrictEqual } from 'node:util';
import type { AccountStatus, BillingStatus, PlanName } from './plans.ts';
import { type PaidPlanName, type PriceList, paidPlanNames } from './price-list.ts';
import { isOver, type Subscription, type SubscriptionStatus } from './subscription.ts';

/** Meaning of the payment processor's state for an account. */
export interface BillingState {
  readonly plan: PlanName;
  readonly billingStatus: BillingStatus;
  /** Its proxy requests are rejected. */
  readonly isSuspended: boolean;
  /** The subscription that pays for the plan, and its period (ISO 8601 UTC); null where the plan is FREE. */
  readonly subscription: { readonly id: string; readonly periodStart: string; readonly periodEnd: string } | null;
}

/** A subscription has no price of the configuration, so its plan is unknown and nothing is changed. */
export class UnknownPriceError extends Error {
  override readonly name = 'UnknownPriceError';

  constructor(subscriptions: readonly Subscription[]) {
    const prices = subscriptions.map(({ id, items }) => `${id}: ${items.map(({ priceId }) => priceId).join(', ')}`);
    super(`No plan has the price of a subscription (${prices.join('; ')}).`);
  }
}

/**
 * The states that are not over, the best first, and whether each pays for its plan. Nobody pays for a paused or incomplete
 * subscription, and nothing is owed for it: the account has the FREE plan.
 */
const meanings = {
  active: { billingStatus: 'ACTIVE', paysForPlan: true },
  trialing: { billingStatus: 'TRIALING', paysForPlan: true },
  past_due: { billingStatus: 'PAST_DUE', paysForPlan: true },
  unpaid: { billingStatus: 'UNPAID', paysForPlan: true },
  paused: { billingStatus: 'PAUSED', paysForPlan: false },
  incomplete: { billingStatus: 'INCOMPLETE', paysForPlan: false },
} as const satisfies Partial<Record<SubscriptionStatus, { billingStatus: BillingStatus; paysForPlan: boolean }>>;
type LiveStatus = keyof typeof meanings;

const order = Object.keys(meanings);

interface Candidate {
  readonly subscription: Subscription;
  readonly status: LiveStatus;
  readonly plan: PaidPlanName;
  readonly periodStart: string;
  readonly periodEnd: string;
}

/** The best state first, then the larger plan, then the newer one: an account that bought twice has the better plan. */
const byWorth = (a: Candidate, b: Candidate): number =>
  order.indexOf(a.status) - order.indexOf(b.status) ||
  paidPlanNames.indexOf(b.plan) - paidPlanNames.indexOf(a.plan) ||
  b.subscription.createdAt.localeCompare(a.subscription.createdAt) ||
  a.subscription.id.localeCompare(b.subscription.id);

const candidatesOf = (subscriptions: readonly Subscription[], prices: PriceList): Candidate[] =>
  subscriptions
    .filter((subscription) => !isOver(subscription))
    .flatMap((subscription) => {
      const [known] = subscription.items.flatMap(({ priceId, periodStart, periodEnd }) => {
        const plan = prices.planOf(priceId);
        return plan === undefined ? [] : [{ plan, periodStart, periodEnd }];
      });
      return known === undefined ? [] : [{ subscription, status: subscription.status as LiveStatus, ...known }];
    })
    .sort(byWorth);

const free = (billingStatus: BillingStatus): BillingState => ({
  plan: 'FREE',
  billingStatus,
  isSuspended: false,
  subscription: null,
});

/**
 * The billing state of an account, from all subscriptions of its customer in any order. It depends on nothing else, in
 * particular not on the event that caused the update.
 *
 * @throws UnknownPriceError where there are subscriptions, and none is for a known price
 */
export const billingStateOf = (subscriptions: readonly Subscription[], prices: PriceList): BillingState => {
  const [best] = candidatesOf(subscriptions, prices);
  if (best === undefined) {
    const live = subscriptions.filter((subscription) => !isOver(subscription));
    if (live.length > 0) throw new UnknownPriceError(live);
    const hasHadOne = subscriptions.some(({ status }) => status === 'canceled');
    return free(hasHadOne ? 'CANCELED' : 'ACTIVE');
  }
  const { billingStatus, paysForPlan } = meanings[best.status];
  if (!paysForPlan) return free(billingStatus);
  const { plan, periodStart, periodEnd } = best;
  return {
    plan,
    billingStatus,
    isSuspended: best.status === 'unpaid',
    subscription: { id: best.subscription.id, periodStart, periodEnd },
  };
};

/** The subscription that the state follows: a change of plan changes this one. Undefined where none is live, or none for a plan. */
export const bestOf = (subscriptions: readonly Subscription[], prices: PriceList): Subscription | undefined =>
  candidatesOf(subscriptions, prices)[0]?.subscription;

/** The state when the customer was deleted, and its subscriptions with it. */
export const billingStateWithoutCustomer = free('CANCELED');

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
const isSameStatus = (recorded: BillingStatus, { billingStatus, subscription }: BillingState): boolean =>
  recorded === billingStatus || (subscription === null && billingStatus === 'ACTIVE' && recorded === 'CANCELED');

/**
 * True where an account differs from what its customer's subscriptions make it.
 *
 * @param live those that are not over
 * @throws UnknownPriceError
 */
export const differs = (recorded: RecordedBilling, live: readonly Subscription[], prices: PriceList): boolean => {
  const expected = billingStateOf(live, prices);
  return (
    recorded.plan !== expected.plan ||
    !isSameStatus(recorded.billingStatus, expected) ||
    (recorded.status !== 'cancelled' &&
      recorded.heldAt === undefined &&
      (recorded.status === 'suspended') !== expected.isSuspended) ||
    !isDeepStrictEqual(recorded.subscription, expected.subscription)
  );
};

/** How many subscriptions pay for one of our plans. With more than one, the customer pays twice. */
export const paidSubscriptions = (subscriptions: readonly Subscription[], prices: PriceList): number =>
  candidatesOf(subscriptions, prices).filter(({ status }) => meanings[status].paysForPlan).length;
