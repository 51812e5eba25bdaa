import { DAY_SECONDS } from '../../lambda/domain/calendar/units.ts';
import {
  type Checkout,
  type Customer,
  newEvent,
  newInvoice,
  newSubscription,
  type Price,
  type StripeEvent,
  type Subscription,
  testCards,
} from './objects.ts';
import { find, type Store } from './store.ts';

/** A payment that fails is tried again each day; after the last attempt the subscription is unpaid. */
const MAX_ATTEMPTS = 6;

/** The same day of the next month, or its last one where it is too short. Both are epoch seconds. */
const monthAfter = (start: number): number => {
  const date = new Date(start * 1_000);
  const day = date.getUTCDate();
  date.setUTCMonth(date.getUTCMonth() + 1);
  if (date.getUTCDate() !== day) date.setUTCDate(0);
  return date.getTime() / 1_000;
};

const cardWith = (number: string) => testCards.find((card) => card.number === number.replaceAll(' ', ''));

/**
 * The life of a subscription, as with Stripe's settings "retry a few times, then mark as unpaid".
 *
 * @param send takes every event
 */
export const lifecycle = (store: Store, send: (event: StripeEvent) => void) => {
  const publish = (type: string, object: object): void => {
    const event = newEvent(store.now(), type, object);
    store.events.push(event);
    send(event);
  };

  const change = (subscription: Subscription, changes: Partial<Subscription>, event = 'updated'): void => {
    Object.assign(subscription, changes);
    publish(`customer.subscription.${event}`, subscription);
  };

  const cancel = (subscription: Subscription): void => change(subscription, { status: 'canceled' }, 'deleted');

  /** Pays what is due. @returns false if the card is declined, and nothing has happened */
  const pay = (subscription: Subscription): boolean => {
    if (!cardWith(find(store.customers, subscription.customer).card)?.pays) return false;
    subscription.latest_invoice.status = 'paid';
    publish('invoice.paid', subscription.latest_invoice);
    change(subscription, { status: 'active' });
    return true;
  };

  const charge = (subscription: Subscription): void => {
    if (pay(subscription)) return;
    const { latest_invoice: invoice } = subscription;
    invoice.attempt_count += 1;
    publish('invoice.payment_failed', invoice);
    change(subscription, { status: invoice.attempt_count < MAX_ATTEMPTS ? 'past_due' : 'unpaid' });
  };

  const renew = (subscription: Subscription): void => {
    const [item] = subscription.items.data;
    item.current_period_start = item.current_period_end;
    item.current_period_end = monthAfter(item.current_period_start);
    subscription.latest_invoice = newInvoice(store.now(), subscription.customer, item.price);
    charge(subscription);
  };

  return {
    change,
    cancel,
    pay,

    /** @returns false if the card is declined, and nothing has happened */
    sell: (checkout: Checkout, customer: Customer, card: string): boolean => {
      if (!cardWith(card)?.pays) return false;
      customer.card = card;
      const subscription = newSubscription(store.now(), monthAfter(store.now()), customer.id, checkout.price);
      store.subscriptions.push(subscription);
      checkout.status = 'complete';
      publish('checkout.session.completed', checkout);
      change(subscription, {}, 'created');
      return pay(subscription);
    },

    expire: (checkout: Checkout): void => {
      checkout.status = 'expired';
      publish('checkout.session.expired', checkout);
    },

    /** From now on this card is charged. @returns false if it is declined */
    setCard: (customer: Customer, card: string): boolean => {
      if (!cardWith(card)?.isAccepted) return false;
      customer.card = card;
      return true;
    },

    changePrice: (subscription: Subscription, price: Price): void => {
      subscription.items.data[0].price = price;
      change(subscription, {});
    },

    deleteCustomer: (customer: Customer): void => {
      for (const subscription of store.subscriptions)
        if (subscription.customer === customer.id && subscription.status !== 'canceled') cancel(subscription);
      publish('customer.deleted', customer);
      Object.assign(customer, { deleted: true, email: null, name: null });
    },

    /** Moves the clock on, day by day. Nothing happens to paused and unpaid subscriptions. */
    advance: (days: number): void => {
      for (let day = 0; day < days; day += 1) {
        store.aheadSeconds += DAY_SECONDS;
        for (const subscription of store.subscriptions) {
          const { status, cancel_at_period_end: isEnding, items } = subscription;
          const isOver = items.data[0].current_period_end <= store.now();
          if (status === 'past_due') charge(subscription);
          else if (status === 'active' && isOver && isEnding) cancel(subscription);
          else if (status === 'active' && isOver) renew(subscription);
        }
      }
    },
  };
};

export type Lifecycle = ReturnType<typeof lifecycle>;
