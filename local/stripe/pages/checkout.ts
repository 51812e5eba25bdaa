import { dollars, type LocalPrice } from '../prices.ts';
import type { Checkout, Customer } from '../store.ts';
import { cardField } from './card-field.ts';
import { html, layout } from './layout.ts';

/** Where a plan is bought. */
export const checkoutPage = (
  { id, cancelUrl }: Checkout,
  { email }: Customer,
  { product, amount }: LocalPrice,
  attempt?: { readonly card: string; readonly error: string },
): string =>
  layout(
    `Subscribe to ${product}`,
    html`<div class="card">
        <h1>Subscribe to ${product}</h1>
        <p class="price">${dollars(amount)} <small>per month</small></p>
        <form method="post" action="/checkout/${id}">
          <p class="note" style="text-align: left">For ${email ?? 'you'}</p>
          ${cardField(attempt?.card ?? '4242424242424242', attempt?.error)}
          <button>Pay and subscribe</button>
        </form>
      </div>
      ${cancelUrl === null ? undefined : html`<p class="note"><a href="${cancelUrl}">Back, without buying</a></p>`}`,
  );

export const closedCheckoutPage = (status: Checkout['status']): string =>
  layout(
    'Checkout',
    html`<div class="card">
      <h1>${status === 'complete' ? 'This has been paid.' : 'This checkout has run out.'}</h1>
      <p>Start another one with <code>POST /api/billing/checkout</code>.</p>
    </div>`,
  );
