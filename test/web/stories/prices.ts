import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { look, overflow, screenshot, seriousFindings } from '../browser/browser.ts';
import { callApi, fixture, openSignedIn, readApi } from '../browser/fixture.ts';

const dayBefore = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);

describe('prices and bills', () => {
  it('have room for wide text on a small phone', async () => {
    const { open } = await openSignedIn(fixture().seeded, undefined, { viewport: { width: 320, height: 800 } });
    const page = await open('/prices');
    await page.getByRole('button', { name: 'Remove rate 1' }).waitFor();
    // WCAG 1.4.12.
    await page.evaluate(`(() => {
      const style = new CSSStyleSheet();
      style.replaceSync('* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important }');
      document.adoptedStyleSheets = [style];
    })()`);
    expect(await overflow(page)).toBe(0);
  });

  it('set a price of a model and a currency, compare an invoice, and find pages by name', async () => {
    const { open } = await openSignedIn(fixture().seeded);
    const model = `acme-${randomUUID().slice(0, 8)}`;
    let page = await open(`/prices?model=${model}&provider=together`);
    const form = page.getByRole('dialog');
    expect(await form.getByLabel('Model').inputValue()).toBe(model);
    await form.getByLabel('Input / 1M tokens').fill('1.25');
    await form.getByLabel('Output / 1M tokens').fill('5');
    await form.getByLabel('First day (UTC)').fill(dayBefore(3));
    await form.getByText('Requests since').waitFor();
    await look(page, 'price-form');
    await form.getByRole('button', { name: 'Add the price' }).click();
    await page.getByRole('row').filter({ hasText: model }).getByText('input $1.25 / 1M, output $5.00 / 1M').waitFor();
    await form.waitFor({ state: 'hidden' });

    await page.getByRole('button', { name: `Edit Price of ${model}` }).click();
    await form.getByLabel('Input / 1M tokens').fill('1.5');
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row').filter({ hasText: model }).getByText('input $1.50 / 1M').waitFor();
    // As it closes, it gives the focus back.
    await form.waitFor({ state: 'hidden' });

    const currency = page.getByRole('region', { name: 'Display currency' });
    await currency.getByLabel('Currency').fill('EUR');
    await currency.getByLabel('From day (UTC)').fill(dayBefore(70));
    await currency.getByLabel('For 1 US dollar').fill('0.9');
    await look(page, 'prices');
    await currency.getByRole('button', { name: 'Save' }).click();
    await currency.getByRole('button', { name: 'US dollars only' }).waitFor();
    page = await open('/');
    await page
      .getByText(/^€[\d,.]+$/)
      .first()
      .waitFor();
    await look(page, 'overview-in-euro');
    await page.getByRole('button', { name: 'Show as table' }).click();
    const bar = page.getByRole('region', { name: 'The figures of the chart' }).locator('tbody tr').last();
    await bar.getByText(/^€/).first().waitFor();
    expect(await bar.getByText(/^\$/).count()).toBe(0);

    page = await open(`/reconciliation?provider=anthropic&from=${dayBefore(20)}&to=${dayBefore(2)}`);
    await page.getByRole('button', { name: 'Import an invoice' }).click();
    const invoice = page.getByRole('dialog');
    const csv = `day,amount,model\n${dayBefore(10)},12.40,claude-unheard-of\n`;
    await invoice.getByLabel('CSV').fill('day,amount\nyesterday,1');
    await invoice.getByRole('button', { name: 'Import' }).click();
    await invoice.getByText('line 2').first().waitFor();
    await invoice.getByLabel('CSV').fill(csv);
    await invoice.getByRole('button', { name: 'Import' }).click();
    await page
      .getByText(/of your Anthropic bill came through here; €11\.16 did not, all of it claude-unheard-of on/)
      .waitFor();
    await look(page, 'reconciliation');
    await page.getByRole('button', { name: 'Connect Anthropic' }).click();
    await page.getByText('Nobody sees it again').waitFor();
    await look(page, 'connect-bill');

    const budget = {
      name: `Budget of ${model}`,
      amount: 1_000,
      period: 'monthly',
      filter: { model },
      block: {},
    };
    const { id } = await readApi<{ id: string }>('/budgets', budget);
    const budgets = await readApi<{ items: { id: string; state: object }[] }>('/budgets');
    const bound = { nanoUsd: 2e9, because: 'Requests cost $3.00 more than they had reserved.' };
    for (const { id: each, state } of budgets.items) if (each === id) Object.assign(state, { bound });
    await page.route('**/api/budgets', (route) => route.fulfill({ json: budgets }));
    page = await open(`/limits/${id}`);
    await page.getByText('Up to €1.80 more can be spent once it is used up. Requests cost €2.70 more than').waitFor();
    await page.unroute('**/api/budgets');
    await callApi('DELETE', `/budgets/${id}`);
    page = await open('/prices');
    await page.getByRole('button', { name: 'US dollars only' }).click();
    await page.getByRole('button', { name: 'US dollars only' }).waitFor({ state: 'detached' });

    const first = { source: 'models.dev', provider: 'mistral', model: 'm-1', why: 'oneSource', before: null };
    const waiting = [{ ...first, after: { input: 3 }, firstSeenAt: `${dayBefore(1)}T00:00:00.000Z` }];
    await page.route('**/api/price-changes', (route) =>
      route.fulfill({ json: { feed: { version: 7, checkedAt: null, waiting }, items: [] } }),
    );
    page = await open('/price-changes');
    await page.getByText('No recorded cost changed').waitFor();
    // A price of one source alone holds.
    await page.getByRole('row').filter({ hasText: 'm-1' }).getByText('input $3.00').nth(1).waitFor();
    await page.getByText('models.dev, in one source alone').waitFor();
    await look(page, 'price-changes');
    page = await open('/exports');
    await page.getByText('Programs fetch the same files').waitFor();
    await look(page, 'exports');

    await page.keyboard.press('Control+k');
    await page.getByLabel('Go to a page').fill('price ch');
    await page.getByRole('button', { name: /Price changes/ }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await screenshot(page, 'palette');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/price-changes$/);
  });

  it('say at its field why the API refuses a tier', async () => {
    const details = [
      { path: 'terms.tiers.1.percent', message: 'must be lower' },
      { path: 'terms.tiers', message: 'must be fewer' },
    ];
    const error = { code: 'VALIDATION_ERROR', message: 'It is not valid.', details };
    const { open } = await openSignedIn(fixture().seeded, (page) =>
      page.route('**/api/prices', (route) =>
        route.request().method() === 'POST' ? route.fulfill({ status: 400, json: { error } }) : route.continue(),
      ),
    );
    const page = await open('/prices');
    await page.getByRole('button', { name: 'New price' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Name').fill('Contract');
    await form.getByLabel('Kind').selectOption('Volume discount');
    await form.getByRole('button', { name: 'Another tier' }).click();
    await form.getByLabel('Tier 2: from').fill('100');
    const discounts = form.getByLabel('Discount');
    for (const index of [0, 1]) await discounts.nth(index).fill('5');
    await form.getByRole('button', { name: 'Add the price' }).click();
    await form.getByRole('alert').getByText('terms.tiers must be fewer').waitFor();
    await form.getByText('must be lower').waitFor();
    expect(await discounts.nth(1).getAttribute('aria-invalid')).toBe('true');
    const [from, discount] = await Promise.all(
      [form.getByLabel('Tier 2: from'), discounts.nth(1)].map((field) => field.boundingBox()),
    );
    expect(discount?.y).toBe(from?.y);
    await look(page, 'price-refused');
  });

  it('name months as other pages do', async () => {
    const month = { month: '2026-11', factor: '0.9', sum: '100000000000', isShared: true, isFinal: true };
    const price = { from: '2026-10-01T00:00:00.000Z', until: null, provider: 'openai', months: [month] };
    const terms = [{ kind: 'commitment', usd: 100, per: 'month' }, { kind: 'credit', usd: 100 }, { kind: 'volume' }];
    const items = terms.map((of, index) => ({ ...price, id: `p${index}`, name: 'P', terms: { tiers: [], ...of } }));
    const repricing = { months: ['2026-10', '2026-11'], changed: 3 };
    const { open } = await openSignedIn(fixture().seeded, (page) =>
      page.route('**/api/prices', (route) =>
        route.fulfill({ json: { items, repricing, lastRepricing: null, currency: null } }),
      ),
    );
    const page = await open('/prices');
    await page.getByText('Requests of Oct 2026, Nov 2026 (UTC) are being priced again').waitFor();
    for (const text of [
      '$100.00 shared by the requests of Nov 2026',
      'paid $100.00 in Nov 2026',
      'costs of Nov 2026 × 0.9',
    ])
      await page.getByText(text).waitFor();
  });
});
