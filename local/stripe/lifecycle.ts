import { invoicing } from './invoicing.ts';
import { findCard } from './prices.ts';
import { checkoutJson, customerJson, subscriptionJson } from './render.ts';
import type { Checkout, Customer, Invoice, Store, Subscription } from './store.ts';

/** The same day of the month, so many months on; the last one where the month is too short. */
const monthsAfter = (start: number, months: number): number => {
  const at = new Date(start * 1_000);
  const lastDay = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + months + 1, 0)).getUTCDate();
  const month = new Date(at);
  month.setUTCDate(1);
  month.setUTCMonth(at.getUTCMonth() + months);
  month.setUTCDate(Math.min(at.getUTCDate(), lastDay));
  return month.getTime() / 1_000;
};

/** The card does not pay. */
export class CardDeclinedError extends Error {
  override readonly name = 'CardDeclinedError';
}

/**
 * What becomes of subscriptions, as with Stripe's settings "retry a few times, then mark as unpaid".
 *
 * @param publish takes every event
 */
export const lifecycle = (store: Store, url: string, publish: (type: string, object: object) => void) => {
  const { newInvoice, pay, fail, openOf, makeVoid } = invoicing(store, publish);

  const tell = (type: string, subscription: Subscription) =>
    publish(`customer.subscription.${type}`, subscriptionJson(store, subscription));

  const charge = (subscription: Subscription, invoice: Invoice): void => {
    const customer = store.customers.find(({ id }) => id === subscription.customer);
    invoice.attempts += 1;
    if (findCard(customer?.card ?? null)?.pays) {
      pay(invoice);
      subscription.status = 'active';
    } else {
      subscription.status = fail(invoice) ? 'past_due' : 'unpaid';
    }
    tell('updated', subscription);
  };

  const cancel = (subscription: Subscription): void => {
    subscription.status = 'canceled';
    subscription.canceledAt = store.now();
    for (const invoice of openOf(subscription)) makeVoid(invoice);
    tell('deleted', subscription);
  };

  const expire = (checkout: Checkout): void => {
    checkout.status = 'expired';
    publish('checkout.session.expired', checkoutJson(url, checkout));
  };

  const renew = (subscription: Subscription): void => {
    if (subscription.cancelAtPeriodEnd) {
      cancel(subscription);
      return;
    }
    subscription.months += 1;
    subscription.periodStart = subscription.periodEnd;
    subscription.periodEnd = monthsAfter(subscription.created, subscription.months + 1);
    // Of an unpaid or paused subscription nothing is charged.
    if (subscription.status === 'active' || subscription.status === 'past_due')
      charge(subscription, newInvoice(subscription));
    else tell('updated', subscription);
  };

  /** The next thing that happens by itself. */
  const nextDue = (): { readonly at: number; readonly happen: () => void } | undefined => {
    const renewals = store.subscriptions
      .filter(({ status }) => status !== 'canceled')
      .map((subscription) => ({ at: subscription.periodEnd, happen: () => renew(subscription) }));
    const retries = store.invoices.flatMap((invoice) => {
      const subscription = store.subscriptions.find(({ id }) => id === invoice.subscription);
      return invoice.nextAttempt === null || !subscription
        ? []
        : [{ at: invoice.nextAttempt, happen: () => charge(subscription, invoice) }];
    });
    const closings = store.checkouts
      .filter(({ status }) => status === 'open')
      .map((checkout) => ({ at: checkout.expiresAt, happen: () => expire(checkout) }));
    return [...renewals, ...retries, ...closings].sort((a, b) => a.at - b.at)[0];
  };

  return {
    /** @throws CardDeclinedError, and nothing has happened */
    pay: (checkout: Checkout, card: string): Subscription => {
      if (!findCard(card)?.pays) throw new CardDeclinedError('Your card was declined.');
      const customer = store.customers.find(({ id }) => id === checkout.customer) as Customer;
      customer.card = card;
      const created = store.now();
      const subscription: Subscription = {
        id: store.newId('sub'),
        itemId: store.newId('si'),
        created,
        customer: customer.id,
        metadata: checkout.subscriptionMetadata,
        status: 'active',
        price: checkout.price,
        months: 0,
        periodStart: created,
        periodEnd: monthsAfter(created, 1),
        cancelAtPeriodEnd: false,
        canceledAt: null,
      };
      store.subscriptions.push(subscription);
      checkout.status = 'complete';
      checkout.subscription = subscription.id;
      const invoice = newInvoice(subscription);
      invoice.attempts = 1;
      publish('checkout.session.completed', checkoutJson(url, checkout));
      tell('created', subscription);
      pay(invoice);
      return subscription;
    },

    /** From now on this card is charged. @throws CardDeclinedError */
    setCard: (customer: Customer, card: string): void => {
      if (!findCard(card)?.isAccepted) throw new CardDeclinedError('Your card was declined.');
      customer.card = card;
    },

    /** Pays what is due. @throws CardDeclinedError */
    payDue: (subscription: Subscription): void => {
      const customer = store.customers.find(({ id }) => id === subscription.customer);
      if (!findCard(customer?.card ?? null)?.pays) throw new CardDeclinedError('Your card was declined.');
      for (const invoice of openOf(subscription)) pay(invoice);
      subscription.status = 'active';
      tell('updated', subscription);
    },

    changePrice: (subscription: Subscription, price: string): void => {
      subscription.price = price;
      tell('updated', subscription);
    },

    cancel,

    cancelAtPeriodEnd: (subscription: Subscription, isEnding: boolean): void => {
      subscription.cancelAtPeriodEnd = isEnding;
      tell('updated', subscription);
    },

    pause: (subscription: Subscription): void => {
      subscription.status = 'paused';
      tell('paused', subscription);
      tell('updated', subscription);
    },

    resume: (subscription: Subscription): void => {
      subscription.status = 'active';
      tell('resumed', subscription);
      tell('updated', subscription);
    },

    expire,

    deleteCustomer: (customer: Customer): void => {
      for (const subscription of store.subscriptions)
        if (subscription.customer === customer.id && subscription.status !== 'canceled') cancel(subscription);
      const before = customerJson(customer);
      customer.isDeleted = true;
      publish('customer.deleted', before);
    },

    /** Moves the clock on, and lets everything happen that falls due until then, in its order and at its time. */
    advanceTo: (target: number): void => {
      for (let due = nextDue(); due && due.at <= target; due = nextDue()) {
        store.aheadSeconds += Math.max(0, due.at - store.now());
        due.happen();
      }
      store.aheadSeconds += Math.max(0, target - store.now());
    },

    /** When the next thing happens by itself; undefined where nothing will. */
    nextDueAt: (): number | undefined => nextDue()?.at,
  };
};

export type Lifecycle = ReturnType<typeof lifecycle>;
