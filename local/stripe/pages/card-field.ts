import { testCards } from '../prices.ts';
import { type Html, html } from './layout.ts';

const grouped = (number: string): string => number.replace(/(\d{4})(?=\d)/g, '$1 ');

/** Where a card is entered, with the cards there are. */
export const cardField = (value: string, error: string | undefined): Html => html`
  <label for="card">Card number</label>
  <input id="card" name="card" value="${grouped(value)}" inputmode="numeric" autocomplete="off" required>
  ${error === undefined ? undefined : html`<p class="error" role="alert">${error}</p>`}
  <ul class="cards">${testCards.map(({ number, says }) => html`<li><code>${grouped(number)}</code> ${says}</li>`)}</ul>`;
