import { DAY_SECONDS } from '../../../lambda/domain/calendar/units.ts';
import { findPrice } from '../prices.ts';
import type { Store } from '../store.ts';
import { day, type Html, html, layout } from './layout.ts';

const EVENTS_SHOWN = 30;

const clockButton = (seconds: number, label: string): Html =>
  html`<form method="post" action="/clock"><input type="hidden" name="to" value="${seconds}"><button class="plain">${label}</button></form>`;

const rows = (heads: readonly string[], body: readonly Html[]): Html =>
  html`<table><thead><tr>${heads.map((head) => html`<th>${head}</th>`)}</tr></thead><tbody>${body}</tbody></table>`;

/** What there is, and a clock to move it on. */
export const overviewPage = (store: Store, nextDueAt: number | undefined): string => {
  const mailOf = (customer: string) => store.customers.find(({ id }) => id === customer)?.email ?? customer;
  return layout(
    'Local Stripe',
    html`<div class="card">
        <h2>The clock: ${new Date(store.now() * 1_000).toISOString().slice(0, 16).replace('T', ' ')} UTC</h2>
        <div class="row">
          ${nextDueAt === undefined ? undefined : clockButton(nextDueAt, `To what is due next, ${day(nextDueAt)}`)}
          ${clockButton(store.now() + DAY_SECONDS, 'A day on')}
          ${clockButton(store.now() + 31 * DAY_SECONDS, '31 days on')}
        </div>
      </div>
      <div class="card">
        <h2>Subscriptions</h2>
        ${rows(
          ['Customer', 'Plan', 'Status', 'Period ends'],
          store.subscriptions.map(
            ({ customer, price, status, periodEnd, cancelAtPeriodEnd }) => html`<tr>
              <td>${mailOf(customer)}</td><td>${findPrice(price)?.product}</td>
              <td>${status}${cancelAtPeriodEnd ? ', ending' : ''}</td><td>${day(periodEnd)}</td>
            </tr>`,
          ),
        )}
      </div>
      <div class="card">
        <h2>Events, newest first</h2>
        ${rows(
          ['Type', 'Delivery', 'Attempts', 'Id'],
          store.events
            .slice(-EVENTS_SHOWN)
            .reverse()
            .map(
              ({ type, delivery, attempts, id }) =>
                html`<tr><td>${type}</td><td>${delivery}</td><td>${attempts}</td><td><code>${id}</code></td></tr>`,
            ),
        )}
      </div>`,
    'wide',
  );
};
