import { dollars, findPrice, localPrices } from '../prices.ts';
import type { Invoice, PortalSession, Subscription } from '../store.ts';
import { cardField } from './card-field.ts';
import { day, type Html, html, layout } from './layout.ts';

const nameOf = (price: string): string => findPrice(price)?.product ?? price;
const amountOf = (price: string): string => dollars(findPrice(price)?.amount ?? 0);

const back = (url: string): Html => html`<p class="note"><a href="${url}">Back</a></p>`;

const action = (session: PortalSession, name: string, label: string, fields?: Html, style = ''): Html =>
  html`<form method="post" action="/portal/${session.id}">
    <input type="hidden" name="action" value="${name}">${fields}
    <button class="${style}">${label}</button>
  </form>`;

/** Asks for consent to a change of plan. */
const confirmPage = (session: PortalSession, subscription: Subscription, price: string): string =>
  layout(
    'Confirm your change',
    html`<div class="card">
        <h1>Change from ${nameOf(subscription.price)} to ${nameOf(price)}</h1>
        <p class="price">${amountOf(price)} <small>per month</small></p>
        ${action(session, 'confirm', 'Confirm')}
      </div>
      ${back(session.returnUrl)}`,
  );

const subscriptionCard = (session: PortalSession, subscription: Subscription, due: readonly Invoice[]): Html => {
  const { status, price, periodEnd, cancelAtPeriodEnd: isEnding } = subscription;
  const owed = due.reduce((sum, { amount }) => sum + amount, 0);
  const others = localPrices.filter(({ id }) => id !== price);
  return html`<div class="card">
    <h1>${nameOf(price)}</h1>
    <p class="price">${amountOf(price)} <small>per month</small></p>
    <dl>
      <dt>Status</dt><dd>${status}</dd>
      <dt>${isEnding ? 'Ends' : 'Renews'}</dt><dd>${day(periodEnd)}</dd>
      ${owed > 0 ? html`<dt>Due</dt><dd class="error">${dollars(owed)}</dd>` : undefined}
    </dl>
    ${owed > 0 ? action(session, 'pay', `Pay ${dollars(owed)}`) : undefined}
    ${
      isEnding
        ? action(session, 'renew', 'Renew')
        : html`${action(
            session,
            'change',
            'Change plan',
            html`<label for="price" style="margin-top: 1.25rem">Another plan</label>
              <select id="price" name="price">${others.map((other) => html`<option value="${other.id}">${other.product}, ${dollars(other.amount)}</option>`)}</select>`,
            'plain',
          )}
          ${action(session, 'cancel', `Cancel on ${day(periodEnd)}`, undefined, 'plain')}
          ${action(session, 'cancel-now', 'Cancel at once', undefined, 'plain')}`
    }
  </div>`;
};

/** Where a customer manages a subscription, or consents to a change of it. */
export const portalPage = (
  session: PortalSession,
  subscriptions: readonly Subscription[],
  due: readonly Invoice[],
  card: { readonly number: string; readonly error?: string | undefined },
): string => {
  const [subscription] = subscriptions;
  if (session.change && subscription) return confirmPage(session, subscription, session.change.price);
  return layout(
    'Your subscription',
    html`${
      subscription
        ? subscriptionCard(session, subscription, due)
        : html`<div class="card"><h1>There is no subscription.</h1></div>`
    }
      <div class="card">${action(session, 'card', 'Save card', cardField(card.number, card.error), 'plain')}</div>
      ${back(session.returnUrl)}`,
  );
};
