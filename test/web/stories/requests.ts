import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { formatMoney } from '../../../web/src/format/numbers.ts';
import { chartOf, openTab, phone, waitUntil, waitUntilIdle } from '../browser/browser.ts';
import { fixture, openSeeded, openSignedIn, readApi } from '../browser/fixture.ts';

const hasFocus = (part: Locator) => part.evaluate((node) => node === node.ownerDocument.activeElement);
/** More tab stops than any page has before its contents. */
const MAX_TAB_STOPS = 60;

describe('with only a keyboard', () => {
  it('a user can skip the menu, open a request and close it', async () => {
    const page = await openSeeded('/requests');
    const row = page.locator('tbody a').first();
    await row.waitFor();
    // What loads later must not take the focus away, nor move the row.
    await waitUntilIdle(page);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
    await page.keyboard.press('Enter');
    for (let stop = 0; stop < MAX_TAB_STOPS && !(await hasFocus(row)); stop++) await page.keyboard.press('Tab');
    expect(await hasFocus(row)).toBe(true);
    await page.keyboard.press('Enter');
    // All requests have it, with a price or without.
    await page.getByRole('dialog').getByRole('heading', { name: 'Usage', exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.waitForURL(`${fixture().dashboard.url}/requests`);
    await waitUntil('the row has the focus again', () => hasFocus(row));
  });

  it('a user can show the password that is typed', async () => {
    const { page } = await openTab(fixture().browser);
    await page.goto(`${fixture().dashboard.url}/sign-in`);
    const password = page.getByLabel('Password', { exact: true });
    await password.pressSequentially('Plausible');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    expect(await password.getAttribute('type')).toBe('text');
  });

  it('a user can choose range and grouping, and show the chart as a table', async () => {
    const page = await openSeeded('/');
    await chartOf(page).waitFor();
    // As in Safari, where no radio button is after an arrow key.
    await page.evaluate(
      'Element.prototype.matches = ((own) => function (what) { return !what.includes(":focus-visible") && own.call(this, what); })(Element.prototype.matches)',
    );
    await page.getByRole('radio', { name: '30 days' }).focus();
    const before = await page.evaluate<number>('history.length');
    await page.keyboard.press('ArrowLeft');
    await page.waitForURL(/range=7d/);
    expect(await page.evaluate<number>('history.length')).toBe(before);
    await page.getByLabel('Group by').focus();
    await page.keyboard.press('p');
    await page.getByRole('button', { name: 'Show as table' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'The figures of the chart' }).waitFor();
  });
});

describe('the request log', () => {
  it('shows the filter of a key that is in no list any more', async () => {
    const page = await openSeeded('/requests?key=01a227d7-0000-7000-8000-000000000000');
    await page.getByText('No request matches').waitFor();
    expect(await page.getByRole('combobox', { name: 'Service key' }).inputValue()).toMatch(/^01a227d7/);
  });

  it('filters, and pages without repeating a request', async () => {
    const page = await openSeeded('/requests?provider=anthropic');
    await page.locator('tbody a').first().waitFor();
    await page.getByRole('button', { name: 'Older requests' }).click();
    await waitUntil('100 rows', async () => (await page.locator('tbody a').count()) === 100);
    const links = await page.locator('tbody a').evaluateAll((nodes) => nodes.map((node) => node.getAttribute('href')));
    expect(new Set(links).size).toBe(100);
    await page.getByRole('combobox', { name: 'Model' }).fill('claude-opus-4-1');
    await page.waitForURL(/model=claude-opus-4-1/);
    // The address comes before the page.
    const models = page.locator('tbody a > span:first-child');
    await waitUntil('all rows are of the model', async () => {
      const shown = await models.allTextContents();
      return shown.length > 0 && shown.every((model) => model === 'claude-opus-4-1');
    });
  });

  it('has room for its heads on a phone while it loads', async () => {
    const { open } = await openSignedIn(fixture().seeded, (page) => page.route('**/api/requests?*', () => {}), phone);
    const page = await open('/requests');
    await page.locator('.mantine-Skeleton-root').first().waitFor();
    expect((await page.locator('th').first().boundingBox())?.width).toBeGreaterThan(150);
  });

  it('keeps the focus in a filter that is typed, and shows the filters of a page that Back leads to', async () => {
    const page = await openSeeded('/requests?model=gpt-4o');
    await page.getByRole('button', { name: 'Clear', exact: true }).click();
    const [model, tag] = ['Model', 'Tag'].map((name) => page.getByRole('combobox', { name })) as [Locator, Locator];
    await tag.click();
    await page.keyboard.type('sea');
    await page.waitForURL(/tag=sea$/);
    await waitUntilIdle(page);
    await page.keyboard.type('rch');
    await page.waitForURL(/tag=search$/);
    await page.getByLabel('Order').first().click();
    await page.getByRole('option', { name: 'Costliest' }).click();
    await page.waitForURL(/orderBy=cost/);
    // Back undoes one filter after the other, and what was typed in one go at once.
    for (const address of [/requests\?tag=search$/, /requests$/, /model=gpt-4o$/]) {
      await page.goBack();
      await page.waitForURL(address);
    }
    await waitUntil('the filters of the page', async () => (await model.inputValue()) === 'gpt-4o');
    expect(await tag.inputValue()).toBe('');
  });

  it('finds a part of a name, has the costliest first, and downloads what it shows', async () => {
    const page = await openSeeded('/requests');
    await page.locator('tbody a').first().waitFor();
    await page.getByRole('combobox', { name: 'Name or id' }).fill('OPUS');
    await page.waitForURL(/contains=OPUS/);
    // Filters that were changed have it: it moves the others.
    await page.getByRole('button', { name: 'Clear', exact: true }).waitFor();
    await page.getByLabel('Order').first().click();
    await page.getByRole('option', { name: 'Costliest' }).click();
    await page.waitForURL(/orderBy=cost/);
    const query = 'contains=opus&orderBy=cost&limit=50';
    const { items } = await readApi<{ items: { requestId: string; costNanoUsd: number }[] }>(`/requests?${query}`);
    const expected = items.map(({ costNanoUsd }) => formatMoney(costNanoUsd, 'call'));
    const shown = page.locator('tbody td:last-child > span:first-child .num');
    await waitUntil(`the rows are ${expected}`, async () => `${await shown.allTextContents()}` === `${expected}`);
    const costs = items.map(({ costNanoUsd }) => costNanoUsd);
    expect(costs).toEqual(costs.toSorted((a, b) => b - a));
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV' }).click(),
    ]);
    const lines = (await readFile(await download.path(), 'utf8')).split('\r\n');
    expect(lines[0]).toMatch(/^\ufeffstarted_at,request_id,.*cost_usd/);
    expect(lines.slice(1, 51).map((line) => line.split(',')[1])).toEqual(items.map(({ requestId }) => requestId));
  });

  it.each(['/requests', '/sessions', '/access'])(
    '%s: a click opens what its row shows, where rows take no position',
    async (path) => {
      const page = await openSeeded(path);
      const row = page.locator('tbody tr').first();
      await row.waitFor();
      await waitUntilIdle(page);
      // As in Safari.
      await page.evaluate("document.styleSheets[0].insertRule('tr { position: static !important }')");
      const href = await row.locator('a').first().getAttribute('href');
      await row.click();
      await page.waitForURL(`${fixture().dashboard.url}${href}`);
    },
  );

  it('reports that nothing matches', async () => {
    const page = await openSeeded('/requests?model=no-such-model');
    await page.getByText('No match among the newest requests.').or(page.getByText('No request matches')).waitFor();
  });
});
