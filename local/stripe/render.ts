import { findPrice, type LocalPrice } from './prices.ts';
import type { Checkout, Customer, Invoice, PortalSession, Store, Subscription } from './store.ts';

/** Stripe's JSON of what is stored: the members that are set here, under Stripe's names. */

export const listOf = (url: string, data: readonly object[], hasMore = false) => ({
  object: 'list',
  url,
  has_more: hasMore,
  data,
});

export const priceJson = ({ id, product, amount }: LocalPrice) => ({
  id,
  object: 'price',
  active: true,
  billing_scheme: 'per_unit',
  currency: 'usd',
  livemode: false,
  lookup_key: product.toLowerCase(),
  metadata: {},
  nickname: product,
  product: `prod_local_${product.toLowerCase()}`,
  recurring: { interval: 'month', interval_count: 1, usage_type: 'licensed' },
  type: 'recurring',
  unit_amount: amount,
});

export const customerJson = ({ id, created, email, name, metadata, isDeleted }: Customer) =>
  isDeleted
    ? { id, object: 'customer', deleted: true }
    : { id, object: 'customer', created, email, name, metadata, livemode: false };

export const subscriptionJson = (store: Store, subscription: Subscription) => {
  const { id, customer, status, created, metadata, cancelAtPeriodEnd, canceledAt, periodStart, periodEnd } =
    subscription;
  return {
    id,
    object: 'subscription',
    customer,
    status,
    created,
    start_date: created,
    billing_cycle_anchor: created,
    cancel_at: cancelAtPeriodEnd ? periodEnd : null,
    cancel_at_period_end: cancelAtPeriodEnd,
    canceled_at: canceledAt,
    ended_at: status === 'canceled' ? canceledAt : null,
    collection_method: 'charge_automatically',
    currency: 'usd',
    items: listOf(`/v1/subscription_items?subscription=${id}`, [
      {
        id: subscription.itemId,
        object: 'subscription_item',
        created,
        subscription: id,
        quantity: 1,
        price: priceJson(findPrice(subscription.price) as LocalPrice),
        current_period_start: periodStart,
        current_period_end: periodEnd,
      },
    ]),
    latest_invoice: store.invoices.findLast((invoice) => invoice.subscription === id)?.id ?? null,
    livemode: false,
    metadata,
  };
};

export const invoiceJson = ({
  id,
  created,
  customer,
  subscription,
  amount,
  status,
  attempts,
  nextAttempt,
}: Invoice) => ({
  id,
  object: 'invoice',
  created,
  customer,
  status,
  currency: 'usd',
  amount_due: amount,
  amount_paid: status === 'paid' ? amount : 0,
  attempt_count: attempts,
  next_payment_attempt: nextAttempt,
  parent: { type: 'subscription_details', subscription_details: { subscription } },
  livemode: false,
});

export const checkoutJson = (url: string, checkout: Checkout) => ({
  id: checkout.id,
  object: 'checkout.session',
  mode: 'subscription',
  created: checkout.created,
  expires_at: checkout.expiresAt,
  customer: checkout.customer,
  client_reference_id: checkout.clientReferenceId,
  metadata: checkout.metadata,
  status: checkout.status,
  payment_status: checkout.status === 'complete' ? 'paid' : 'unpaid',
  subscription: checkout.subscription,
  success_url: checkout.successUrl,
  cancel_url: checkout.cancelUrl,
  url: checkout.status === 'open' ? `${url}/checkout/${checkout.id}` : null,
  livemode: false,
});

export const portalJson = (url: string, { id, created, customer, returnUrl }: PortalSession) => ({
  id,
  object: 'billing_portal.session',
  created,
  customer,
  return_url: returnUrl,
  url: `${url}/portal/${id}`,
  livemode: false,
});
