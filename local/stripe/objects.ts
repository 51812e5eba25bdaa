import { randomBytes } from 'node:crypto';
import type { SubscriptionStatus } from '../../lambda/domain/billing/subscription.ts';

/** Stripe's objects in the shape of its API, with the members that our functions and the pages here read. Instants are epoch seconds. */

const newObject = (object: string, prefix: string, created: number) => {
  const id = `${prefix}_local_${randomBytes(9).toString('hex')}`;
  return { id, object, created };
};

const priceOf = (plan: string, cents: number) => ({
  id: `price_local_${plan.toLowerCase()}`,
  object: 'price',
  active: true,
  nickname: plan,
  currency: 'usd',
  unit_amount: cents,
  recurring: { interval: 'month', interval_count: 1, usage_type: 'licensed' },
});
export type Price = ReturnType<typeof priceOf>;

export const localPrices = [priceOf('STARTER', 2_900), priceOf('PRO', 19_900), priceOf('SCALE', 99_900)];

/** Stripe's test cards, and what happens to them here. @see https://docs.stripe.com/testing */
export const testCards = [
  { number: '4242424242424242', says: 'is charged', isAccepted: true, pays: true },
  { number: '4000000000000341', says: 'is accepted, but declined when charged', isAccepted: true, pays: false },
  { number: '4000000000000002', says: 'is declined at once', isAccepted: false, pays: false },
];

export const newCustomer = (created: number, email: string | null, name: string | null, userId: string | null) => ({
  ...newObject('customer', 'cus', created),
  email,
  name,
  metadata: { userId },
  deleted: false,
  /** The number of the test card that is charged. */
  card: '4242424242424242',
});
export type Customer = ReturnType<typeof newCustomer>;

interface Purchase {
  readonly customer: string;
  readonly price: Price;
  readonly client_reference_id: string | null;
  readonly success_url: string;
  readonly cancel_url: string | null;
}

export const newCheckout = (created: number, origin: string, purchase: Purchase) => {
  const session = newObject('checkout.session', 'cs_test', created);
  const status = 'open' as 'open' | 'complete' | 'expired';
  return { ...session, ...purchase, status, url: `${origin}/checkout/${session.id}` };
};
export type Checkout = ReturnType<typeof newCheckout>;

interface PortalVisit {
  readonly customer: string;
  readonly return_url: string;
  /** A plan that the customer is asked to confirm, and where the portal leads then. */
  readonly change: { readonly price: Price; readonly doneUrl: string } | null;
}

export const newPortal = (created: number, origin: string, visit: PortalVisit) => {
  const session = newObject('billing_portal.session', 'bps', created);
  return { ...session, ...visit, url: `${origin}/portal/${session.id}` };
};
export type Portal = ReturnType<typeof newPortal>;

export const newInvoice = (created: number, customer: string, price: Price) => ({
  ...newObject('invoice', 'in', created),
  customer,
  status: 'open' as 'open' | 'paid',
  amount_due: price.unit_amount,
  attempt_count: 0,
});

export const newSubscription = (created: number, periodEnd: number, customer: string, price: Price) => {
  const period = { current_period_start: created, current_period_end: periodEnd };
  const item = { ...newObject('subscription_item', 'si', created), price, ...period };
  return {
    ...newObject('subscription', 'sub', created),
    customer,
    status: 'active' as SubscriptionStatus,
    cancel_at: null,
    cancel_at_period_end: false,
    schedule: null,
    items: { data: [item] as [typeof item] },
    /** No other invoice can be due: an unpaid subscription gets no further ones. */
    latest_invoice: newInvoice(created, customer, price),
  };
};
export type Subscription = ReturnType<typeof newSubscription>;

export const newEvent = (created: number, type: string, object: object) => {
  const event = newObject('event', 'evt', created);
  return {
    id: event.id,
    type,
    /** Every delivery has the same bytes. */
    payload: JSON.stringify({ ...event, type, data: { object } }),
    delivery: 'pending' as 'pending' | 'delivered' | 'given up',
  };
};
export type StripeEvent = ReturnType<typeof newEvent>;
