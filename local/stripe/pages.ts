import { Hono } from 'hono';
import { html } from 'hono/html';
import { HTTPException } from 'hono/http-exception';
import type { Lifecycle } from './lifecycle.ts';
import { type Customer, type Portal, type Price, type Subscription, testCards } from './objects.ts';
import { find, type Store } from './store.ts';

type Html = ReturnType<typeof html>;

const METHODS = ['GET', 'POST'];
const DECLINED = ['Your card was declined.'];
const SAVE_CARD = 'Save card';
const EVENTS_SHOWN = 30;

const page = (title: string, lines: readonly string[], forms: readonly Html[], back: string | null = null) =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8">
        <title>${title}</title>
        <style>body { max-width: 40rem; margin: 3rem auto; font: 1rem/1.5 system-ui, sans-serif; }</style>
      </head>
      <body>
        <h1>${title}</h1>
        ${lines.map((line) => html`<p>${line}</p>`)}
        ${forms}
        ${back && html`<p><a href="${back}">Back</a></p>`}
        <p><small>A fake of Stripe on this machine: no money moves.</small></p>
      </body>
    </html>`;

const field = (label: string, name: string, value: string): Html =>
  html`<label>${label} <input name="${name}" value="${value}" required></label>`;

/** It is sent to the address of its page, with the label of its button as `action`. */
const form = (label: string, content?: Html): Html =>
  html`<form method="post">${content} <button name="action" value="${label}">${label}</button></form>`;

const dollars = (cents: number): string => `$${(cents / 100).toFixed(2)}`;
const day = (seconds: number): string => new Date(seconds * 1_000).toISOString().slice(0, 10);
const costOf = ({ nickname, unit_amount: cents }: Price): string => `${nickname}: ${dollars(cents)} per month`;

const cards = testCards.map(({ number, says }) => `Card ${number} ${says}.`);
const cardField = ({ card }: Customer): Html => field('Card number', 'card', card);

const stateOf = ({ status, cancel_at_period_end: isEnding, items }: Subscription): string => {
  const [{ price, current_period_end: end }] = items.data;
  return `${costOf(price)}, ${status}, ${isEnding ? 'ends' : 'renews'} on ${day(end)}`;
};

/** The pages that Stripe hosts, and a page that shows what there is and moves the clock. */
export const hostedPages = (store: Store, life: Lifecycle) => {
  const pages = new Hono();

  pages.on(METHODS, '/', async (context) => {
    const { days } = await context.req.parseBody();
    if (days) life.advance(Number(days));
    const owners = store.subscriptions.map((each) => `${find(store.customers, each.customer).email}: ${stateOf(each)}`);
    const events = store.events.slice(-EVENTS_SHOWN).map(({ type, delivery }) => `${type}: ${delivery}`);
    const lines = [`The clock: ${day(store.now())}`, ...owners, ...events];
    return context.html(page('Local Stripe', lines, [form('Move the clock', field('Days', 'days', '31'))]));
  });

  pages.on(METHODS, '/checkout/:id', async (context) => {
    const { card } = await context.req.parseBody();
    const checkout = find(store.checkouts, context.req.param('id'));
    if (checkout.status !== 'open') throw new HTTPException(410, { message: `The checkout is ${checkout.status}.` });
    const { price, success_url: successUrl, cancel_url: cancelUrl } = checkout;
    const customer = find(store.customers, checkout.customer);
    if (card && life.sell(checkout, customer, String(card)))
      return context.redirect(successUrl.replace('{CHECKOUT_SESSION_ID}', checkout.id), 303);
    const lines = [costOf(price), `For ${customer.email}`, ...(card ? DECLINED : []), ...cards];
    const forms = [form('Pay and subscribe', cardField(customer))];
    return context.html(page(`Subscribe to ${price.nickname}`, lines, forms, cancelUrl), card ? 402 : 200);
  });

  /** Actions of the customer, by the label of its button. The functions return false if the card is declined. */
  const actionsOf = ({ change }: Portal, customer: Customer, subscription: Subscription | undefined) => {
    const actions = new Map<string, (card: string) => unknown>();
    if (change && subscription) return actions.set('Confirm', () => life.changePrice(subscription, change.price));
    actions.set(SAVE_CARD, (card) => life.setCard(customer, card));
    if (subscription === undefined) return actions;
    const { status, latest_invoice: invoice, cancel_at_period_end: isEnding } = subscription;
    if (invoice.status === 'open') actions.set(`Pay ${dollars(invoice.amount_due)}`, () => life.pay(subscription));
    if (status === 'active') actions.set('Pause', () => life.change(subscription, { status: 'paused' }, 'paused'));
    if (status === 'paused') actions.set('Resume', () => life.change(subscription, { status: 'active' }, 'resumed'));
    if (isEnding) actions.set('Renew', () => life.change(subscription, { cancel_at_period_end: false }));
    else actions.set('Cancel at period end', () => life.change(subscription, { cancel_at_period_end: true }));
    return actions.set('Cancel at once', () => life.cancel(subscription));
  };

  pages.on(METHODS, '/portal/:id', async (context) => {
    const { action, card } = await context.req.parseBody();
    const portal = find(store.portals, context.req.param('id'));
    const customer = find(store.customers, portal.customer);
    const subscription = store.subscriptions.find(
      (each) => each.customer === customer.id && each.status !== 'canceled',
    );
    const actions = actionsOf(portal, customer, subscription);
    const run = actions.get(String(action));
    const isDeclined = run?.(String(card)) === false;
    if (run && !isDeclined) return context.redirect(portal.change?.doneUrl ?? context.req.path, 303);
    const title = portal.change ? `Change to ${portal.change.price.nickname}` : 'Your subscription';
    const state = subscription ? stateOf(subscription) : 'There is no subscription.';
    const lines = [state, ...(isDeclined ? DECLINED : [])];
    const forms = [...actions.keys()].map((label) =>
      form(label, label === SAVE_CARD ? cardField(customer) : undefined),
    );
    return context.html(page(title, lines, forms, portal.return_url), isDeclined ? 402 : 200);
  });

  return pages;
};
