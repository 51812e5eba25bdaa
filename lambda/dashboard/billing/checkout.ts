import { hash } from 'node:crypto';
import { requireAccount } from '../../data/accounts/accounts.ts';
import type { BillingAccount } from '../../data/billing/billing-accounts.ts';
import { bestOf } from '../../domain/billing/billing-state.ts';
import type { PaidPlanName, PriceList } from '../../domain/billing/price-list.ts';
import { isOver, type Subscription } from '../../domain/billing/subscription.ts';
import { ConflictError, UnauthenticatedError } from '../../domain/errors.ts';
import type { Implementations } from '../../http/operation.ts';
import type { SubscriptionChange } from '../../integrations/stripe-billing.ts';
import type { Billing } from '../open-billing.ts';
import type * as operations from './operations.ts';

/**
 * The account's Stripe customer. Creates one if the account has none, or if its customer was deleted. Concurrent and repeated
 * calls create the same customer: the idempotency key stands for what is sent, since Stripe refuses a key with anything else, and
 * for the hour, since it repeats a failure of its own to a key for a day.
 *
 * @returns its id
 */
const liveCustomer = async ({ accounts, users, stripe, now }: Billing, account: BillingAccount): Promise<string> => {
  const { stripeCustomerId: current, ownerUserId: userId } = account;
  if (current !== undefined && !(await stripe.isDeleted(current))) return current;
  const user = await users.find(userId);
  if (user === undefined) throw new UnauthenticatedError('The owner of this account no longer exists.');
  const replaced = current ?? account.formerStripeCustomerId ?? 'none';
  const customer = { email: user.email, name: user.companyName ?? `${user.firstName} ${user.lastName}`, userId };
  const idempotencyKey = hash('sha256', JSON.stringify([replaced, customer, now().toISOString().slice(0, 13)]));
  const customerId = await stripe.createCustomer({ ...customer, idempotencyKey });
  await accounts.link(account, customerId);
  return customerId;
};

const PORTAL = 'POST /billing/portal returns its URL.';

/**
 * The change that moves a subscription to another price.
 *
 * @throws ConflictError if the subscription's state does not allow it; the message says what to do in the portal first
 */
const changeOf = (
  { id, status, isEnding, isScheduled, items }: Subscription,
  plan: PaidPlanName,
  priceId: string,
  prices: PriceList,
): Omit<SubscriptionChange, 'doneUrl'> => {
  const item = items.find((each) => prices.planOf(each.priceId) !== undefined) ?? items[0];
  const hasPlan = item !== undefined && prices.planOf(item.priceId) === plan;
  if (status === 'past_due' || status === 'unpaid')
    throw new ConflictError(`An invoice is due. Pay it in the portal first. ${PORTAL}`);
  if (status === 'incomplete' || item === undefined)
    throw new ConflictError(`The first payment is in progress or has failed. Finish it in the portal. ${PORTAL}`);
  if (status === 'paused') throw new ConflictError(`The subscription is paused. Resume it in the portal. ${PORTAL}`);
  if (isEnding)
    throw new ConflictError(`The subscription is cancelled and will end. Renew it in the portal. ${PORTAL}`);
  if (isScheduled) throw new ConflictError(`A change is planned already. Cancel it in the portal first. ${PORTAL}`);
  if (hasPlan) throw new ConflictError(`The account already has the plan ${plan}.`);
  return { subscriptionId: id, itemId: item.id, priceId };
};

/** The address with further parameters. It may have Stripe's placeholder `{CHECKOUT_SESSION_ID}`, which must stay as it is. */
const withParameters = (url: string, parameters: string): string =>
  `${url}${url.includes('?') ? '&' : '?'}${parameters}`;

export const buyPlan = (billing: Billing): Implementations<typeof operations, 'portal' | 'checkout'> => ({
  portal: async ({ caller: { accountId } }) => {
    const { stripeCustomerId: customerId } = await requireAccount(billing.accounts, accountId);
    const { stripe, returnUrl } = billing;
    if (customerId === undefined || (await stripe.isDeleted(customerId)))
      throw new ConflictError('The account has never bought a plan. Buy one first.');
    const { url } = await stripe.openPortal(customerId, returnUrl);
    return { url };
  },

  /** Reads existing subscriptions from Stripe, because the event of a purchase may not have arrived yet. */
  checkout: async ({ caller: { accountId }, body: { plan } }) => {
    const { stripe, prices, successUrl, cancelUrl, returnUrl } = billing;
    const priceId = prices.soldAt(plan);
    if (priceId === undefined) throw new ConflictError(`The plan ${plan} is not sold here. It has no price.`);
    const account = await requireAccount(billing.accounts, accountId);
    const customerId = await liveCustomer(billing, account);
    // Before the subscriptions are listed, so that a checkout that completes at this moment is among them.
    await stripe.closeCheckouts(customerId);
    const subscriptions = await stripe.subscriptionsOf(customerId);
    const subscription = bestOf(subscriptions, prices) ?? subscriptions.find((each) => !isOver(each));
    const { id, url } =
      subscription === undefined
        ? await stripe.openCheckout({
            customerId,
            priceId,
            userId: account.ownerUserId,
            successUrl: withParameters(successUrl, `plan=${plan}`),
            cancelUrl,
          })
        : await stripe.openPortal(customerId, returnUrl, {
            ...changeOf(subscription, plan, priceId, prices),
            doneUrl: withParameters(returnUrl, `checkout=completed&plan=${plan}`),
          });
    return { url, sessionId: id };
  },
});
