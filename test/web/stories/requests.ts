import { describe, expect, it } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { settled, until } from '../browser/browser.ts';
import { house, openSignedIn } from '../browser/house.ts';

const hasFocus = (part: Locator) => part.evaluate((node) => node === node.ownerDocument.activeElement);
/** More stops than any page has before its contents. */
const MOST_STOPS = 60;

describe('by keyboard alone', () => {
  it('one gets past the menu, into a request and out of it', async () => {
    const { open } = await openSignedIn(house().seeded);
    const page = await open('/requests');
    const row = page.locator('tbody a').first();
    await row.waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    for (let stop = 0; stop < MOST_STOPS && !(await hasFocus(row)); stop++) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('Price, line by line').or(page.getByText('No usage is known')).first().waitFor();
    await page.keyboard.press('Escape');
    await page.waitForURL(`${house().dashboard.url}/requests`);
  });

  it('one chooses range and grouping, and reads the chart as a table', async () => {
    const { open } = await openSignedIn(house().seeded);
    const page = await open('/');
    await page.locator('canvas').waitFor();
    await page.getByRole('radio', { name: '30 days' }).focus();
    await page.keyboard.press('ArrowLeft');
    await page.waitForURL(/span=7d/);
    await page.getByLabel('Group by').focus();
    await page.keyboard.press('p');
    await page.getByRole('button', { name: 'As a table' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'The figures of the chart' }).waitFor();
  });
});

describe('the request log', () => {
  it('filters, and pages without repeating or missing one', async () => {
    const { open } = await openSignedIn(house().seeded);
    const page = await open('/requests?provider=anthropic');
    await page.locator('tbody a').first().waitFor();
    await page.getByRole('button', { name: 'Older requests' }).click();
    await until('100 rows', async () => (await page.locator('tbody a').count()) === 100);
    const links = await page.locator('tbody a').evaluateAll((nodes) => nodes.map((node) => node.getAttribute('href')));
    expect(new Set(links).size).toBe(100);
    await page.getByLabel('Model').fill('claude-opus-4-1');
    await page.waitForURL(/model=claude-opus-4-1/);
    await settled(page);
    expect(new Set(await page.locator('tbody a > range:first-child').allTextContents())).toEqual(
      new Set(['claude-opus-4-1']),
    );
  });

  it('says when nothing matches', async () => {
    const { open } = await openSignedIn(house().seeded);
    const page = await open('/requests?model=no-such-model');
    await page.getByText('None among the newest.').or(page.getByText('No request matches')).waitFor();
  });
});
