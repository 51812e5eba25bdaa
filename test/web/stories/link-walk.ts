import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { waitUntil, waitUntilIdle } from '../browser/browser.ts';
import { fixture, openSignedIn } from '../browser/fixture.ts';

const DAY_MS = 86_400_000;
/** Each zone and each currency; the account's is the euro. */
const READERS = [
  ['UTC', 'EUR'],
  ['Pacific/Kiritimati', 'USD'],
  ['America/Los_Angeles', 'EUR'],
] as const;
const PAGES = ['/requests?orderBy=cost', '/sessions', '/alerts', '/keys', '/access'];
/** Pages of one thing or of a filter: they show the figure that a row of a list has. */
const DETAILS = /^\/(\?|requests\/|sessions\/|alerts\/)/;
/** Rows that are alike lead to pages that are alike. */
const LINKS_OF_A_PAGE = 2;
const FIGURE = /[$€][\d,]+(?:\.\d+)?/g;

const setCurrency = async (currency: object | null) => {
  const { dashboard, seeded } = fixture();
  const response = await fetch(`${dashboard.url}/api/prices/currency`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${seeded.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ currency }),
  });
  expect(response.status).toBe(200);
};

const amountOf = (figure: string): number => Number(figure.replaceAll(/[^\d.]/g, ''));
/** Half of a figure's last digit. */
const roundingOf = (figure: string): number => 0.5 * 10 ** -(figure.split('.')[1]?.length ?? 0);
/** Whether two figures can be of one amount: in one currency, and no further apart than rounding both explains. */
const isSame = (figure: string) => (other: string) =>
  figure[0] === other[0] &&
  Math.abs(amountOf(figure) - amountOf(other)) <= (roundingOf(figure) + roundingOf(other)) * (1 + 1e-6);

interface FigureLink {
  readonly href: string;
  readonly figure: string;
}

/** Links to details that are a figure, or whose row has one: the first of each row. */
const linksOf = async (page: Page): Promise<FigureLink[]> => {
  const found = await page
    .locator('main a[href]')
    .evaluateAll((links) =>
      links.map((link) => [
        link.getAttribute('href') ?? '',
        link.innerText,
        link.closest('tr, li, article')?.innerText ?? '',
      ]),
    );
  return found
    .flatMap(([href = '', text = '', row = '']) => {
      const [figure] = [...(text.match(FIGURE) ?? []), ...(row.match(FIGURE) ?? [])];
      return DETAILS.test(href) && figure !== undefined ? [{ href, figure }] : [];
    })
    .slice(0, LINKS_OF_A_PAGE);
};

/** The page shows the figure, once its own have loaded. */
const expectFigure = async (page: Page, from: string, { href, figure }: FigureLink) => {
  const shown = async () => (await page.locator('body').innerText()).match(FIGURE) ?? [];
  await waitUntil(`${figure} of ${from} on ${href}`, async () => (await shown()).some(isSame(figure)));
};

describe('a figure with a link', () => {
  beforeAll(() => {
    const from = new Date(Date.now() - 400 * DAY_MS).toISOString().slice(0, 10);
    return setCurrency({ code: 'EUR', rates: [{ from, perUsd: '0.5' }] });
  });
  afterAll(() => setCurrency(null));

  it.each(READERS)('leads to a page that shows it too, in %s and %s', async (timezoneId, currency) => {
    const choose = (code: string) => {
      if (code === 'USD') localStorage.setItem('currency', code);
    };
    const { page, open } = await openSignedIn(fixture().seeded, (tab) => tab.addInitScript(choose, currency), {
      timezoneId,
    });
    let followed = 0;
    for (const path of PAGES) {
      await open(path);
      await waitUntilIdle(page);
      for (const link of await linksOf(page)) {
        await open(link.href);
        await expectFigure(page, path, link);
        if (currency === 'EUR') expect(link.figure).toMatch(/^€/);
        followed += 1;
      }
    }
    expect(followed).toBeGreaterThan(PAGES.length);
    // A row of the overview narrows it to what the row says.
    await open('/?range=30d&by=model');
    const row = page.locator('tr:has(button)').first();
    await row.waitFor();
    const [figure = ''] = (await row.innerText()).match(FIGURE) ?? [];
    await row.getByRole('button').click();
    await waitUntil(`${figure} in the total`, async () => {
      const total = await page.locator('section', { has: page.locator('#trend') }).innerText();
      return (total.match(FIGURE) ?? []).slice(0, 1).some(isSame(figure));
    });
  });
});
