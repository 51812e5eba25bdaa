import { DAY_SECONDS } from '../../lambda/domain/calendar/units.ts';
import { findPrice } from './prices.ts';
import { invoiceJson } from './render.ts';
import type { Invoice, Store, Subscription } from './store.ts';

/** Days after a failed payment at which it is tried again; after the last, the subscription is unpaid. */
const RETRY_DAYS = [1, 3, 5];

/**
 * What becomes of invoices, each of one period of one subscription.
 *
 * @param publish takes every event
 */
export const invoicing = (store: Store, publish: (type: string, object: object) => void) => ({
  newInvoice: (subscription: Subscription): Invoice => {
    const invoice: Invoice = {
      id: store.newId('in'),
      created: store.now(),
      customer: subscription.customer,
      subscription: subscription.id,
      amount: findPrice(subscription.price)?.amount ?? 0,
      status: 'open',
      attempts: 0,
      nextAttempt: null,
    };
    store.invoices.push(invoice);
    publish('invoice.created', invoiceJson(invoice));
    return invoice;
  },

  pay: (invoice: Invoice): void => {
    invoice.status = 'paid';
    invoice.nextAttempt = null;
    publish('invoice.paid', invoiceJson(invoice));
    publish('invoice.payment_succeeded', invoiceJson(invoice));
  },

  /** The attempt that `attempts` counts last has failed. @returns whether there will be another */
  fail: (invoice: Invoice): boolean => {
    const days = RETRY_DAYS[invoice.attempts - 1];
    invoice.nextAttempt = days === undefined ? null : store.now() + days * DAY_SECONDS;
    publish('invoice.payment_failed', invoiceJson(invoice));
    return days !== undefined;
  },

  openOf: (subscription: Subscription): Invoice[] =>
    store.invoices.filter(({ subscription: id, status }) => id === subscription.id && status === 'open'),

  /** Nobody owes it any more. */
  makeVoid: (invoice: Invoice): void => {
    invoice.status = 'void';
    invoice.nextAttempt = null;
  },
});
