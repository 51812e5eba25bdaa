import { z } from 'zod';
import { CardDeclinedError, type Lifecycle } from './lifecycle.ts';
import { checkoutPage, closedCheckoutPage } from './pages/checkout.ts';
import { overviewPage } from './pages/overview.ts';
import { portalPage } from './pages/portal.ts';
import { findPrice, type LocalPrice } from './prices.ts';
import type { Checkout, Customer, PortalSession, Store } from './store.ts';

/** A page, or where to go instead. */
export type PageResponse = { readonly html: string; readonly status: number } | { readonly redirect: string };

const cardForm = z.object({ card: z.string() });
const portalForm = z.discriminatedUnion('action', [
  z.object({ action: z.enum(['confirm', 'pay', 'renew', 'cancel', 'cancel-now']) }),
  z.object({ action: z.literal('change'), price: z.string() }),
  z.object({ action: z.literal('card'), card: z.string() }),
]);
const clockForm = z.object({ to: z.coerce.number().int() });

const page = (html: string, status = 200): PageResponse => ({ html, status });

/** The pages that Stripe hosts, and one to look at everything and to move the clock. */
export const hostedPages = (store: Store, life: Lifecycle) => {
  const customerOf = ({ customer }: { readonly customer: string }) =>
    store.customers.find(({ id }) => id === customer) as Customer;

  const checkout = (found: Checkout, form: URLSearchParams | undefined): PageResponse => {
    if (found.status !== 'open') return page(closedCheckoutPage(found.status), 410);
    const price = findPrice(found.price) as LocalPrice;
    if (form === undefined) return page(checkoutPage(found, customerOf(found), price));
    const card = cardForm.parse(Object.fromEntries(form)).card.replaceAll(' ', '');
    try {
      life.pay(found, card);
    } catch (error) {
      if (!(error instanceof CardDeclinedError)) throw error;
      return page(checkoutPage(found, customerOf(found), price, { card, error: error.message }), 402);
    }
    return { redirect: found.successUrl.replace('{CHECKOUT_SESSION_ID}', found.id) };
  };

  const showPortal = (session: PortalSession, error?: string): PageResponse => {
    const subscriptions = store.subscriptions.filter(
      ({ customer, status }) => customer === session.customer && status !== 'canceled',
    );
    const due = store.invoices.filter(({ customer, status }) => customer === session.customer && status === 'open');
    const number = customerOf(session).card ?? '4242424242424242';
    return page(portalPage(session, subscriptions, due, { number, error }), error === undefined ? 200 : 402);
  };

  const submitPortal = (session: PortalSession, form: URLSearchParams): PageResponse => {
    const asked = portalForm.parse(Object.fromEntries(form));
    const subscription = store.subscriptions.find(
      ({ customer, status }) => customer === session.customer && status !== 'canceled',
    );
    try {
      if (asked.action === 'card') life.setCard(customerOf(session), asked.card.replaceAll(' ', ''));
      else if (subscription === undefined) return showPortal(session);
      else if (asked.action === 'change')
        life.changePrice(subscription, findPrice(asked.price)?.id ?? subscription.price);
      else if (asked.action === 'pay') life.payDue(subscription);
      else if (asked.action === 'cancel-now') life.cancel(subscription);
      else if (asked.action === 'confirm' && session.change) {
        life.changePrice(subscription, session.change.price);
        return { redirect: session.change.doneUrl };
      } else life.cancelAtPeriodEnd(subscription, asked.action === 'cancel');
    } catch (error) {
      if (!(error instanceof CardDeclinedError)) throw error;
      return showPortal(session, error.message);
    }
    return { redirect: `/portal/${session.id}` };
  };

  /** @param form what was sent, of a POST. @returns undefined where there is no such page */
  return (path: string, form: URLSearchParams | undefined): PageResponse | undefined => {
    const [, kind = '', id] = path.split('/');
    if (kind === '') return page(overviewPage(store, life.nextDueAt()));
    if (kind === 'clock' && form) {
      life.advanceTo(clockForm.parse(Object.fromEntries(form)).to);
      return { redirect: '/' };
    }
    if (kind === 'checkout') {
      const found = store.checkouts.find((each) => each.id === id);
      return found && checkout(found, form);
    }
    if (kind === 'portal') {
      const session = store.portals.find((each) => each.id === id);
      return session && (form ? submitPortal(session, form) : showPortal(session));
    }
    return undefined;
  };
};
