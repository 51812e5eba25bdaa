import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { waitUntil, waitUntilIdle } from '../browser/browser.ts';
import { callApi, fixture, openSignedIn, readApi, setCurrency } from '../browser/fixture.ts';

const DAY_MS = 86_400_000;
/** Each zone and each currency; the account's is the euro. */
const READERS = [
  ['UTC', 'EUR'],
  ['Pacific/Kiritimati', 'USD'],
  ['America/Los_Angeles', 'EUR'],
] as const;
const PAGES = ['/', '/requests?orderBy=cost', '/sessions', '/alerts', '/keys', '/access', '/limits'];
/** Pages of one thing or of a filter: they show the figure that a row of a list has. */
const DETAILS = /^\/(\?|requests\/|sessions\/|alerts\/|limits\/(?!new))/;
/** Rows that are alike lead to pages that are alike. */
const LINKS_OF_A_PAGE = 2;
const FIGURE = /[$€][\d,]+(?:\.\d+)?/g;
/** What is used of a limit: its share, and the amount. The limit's own amount is in US dollars for all readers. */
const USED = /[\d,.]+%|(?<=used: )[$€][\d,]+(?:\.\d+)?/g;
const isOfLimit = (href: string): boolean => href.startsWith('/limits/');
/** Too high to fire an alert. */
const BUDGETS = [
  { name: 'All requests', amount: 9_000, period: 'monthly' },
  { name: 'Of OpenAI', amount: 5_000, period: 'monthly', filter: { provider: 'openai' } },
];

const amountOf = (figure: string): number => Number(figure.replaceAll(/[^\d.]/g, ''));
/** Half of a figure's last digit. */
const roundingOf = (figure: string): number => 0.5 * 10 ** -(figure.split('.')[1]?.length ?? 0);
const unitOf = (figure: string): string => figure.replaceAll(/[\d,.]/g, '');
/** Whether two figures can be of one amount: in one unit, and no further apart than rounding both explains. */
const isSame = (figure: string) => (other: string) =>
  unitOf(figure) === unitOf(other) &&
  Math.abs(amountOf(figure) - amountOf(other)) <= (roundingOf(figure) + roundingOf(other)) * (1 + 1e-6);

interface FigureLink {
  readonly href: string;
  readonly figure: string;
}

/** Links to details that are a figure, or whose row has one: the first of each row. */
const linksOf = async (page: Page): Promise<FigureLink[]> => {
  const found = await page.locator('main a[href]').evaluateAll((links) =>
    links.map((link) => [
      link.getAttribute('href') ?? '',
      link.innerText,
      // The percentages of an alert are those of its names, not what is used of its limit.
      link.closest(`tr, li, dl > div${link.getAttribute('href')?.startsWith('/limits/') ? '' : ', article'}`)
        ?.innerText ?? '',
    ]),
  );
  return found
    .flatMap(([href = '', text = '', row = '']) => {
      if (!DETAILS.test(href)) return [];
      if (isOfLimit(href)) return (`${text} ${row}`.match(USED) ?? []).map((figure) => ({ href, figure }));
      const [figure] = [...(text.match(FIGURE) ?? []), ...(row.match(FIGURE) ?? [])];
      return figure === undefined ? [] : [{ href, figure }];
    })
    .slice(0, LINKS_OF_A_PAGE);
};

/** The links of a page that is open, once it shows them in the reader's currency: the rate may come last. */
const shownLinks = async (page: Page, path: string, currency: string): Promise<readonly FigureLink[]> => {
  const unit = currency === 'EUR' ? /^€|%$/ : /^\$|%$/;
  let links: readonly FigureLink[] = [];
  await waitUntilIdle(page);
  await waitUntil(`the links of ${path} in ${currency}`, async () => {
    links = await linksOf(page);
    return links.every(({ figure }) => unit.test(figure));
  });
  return links;
};

/** What the overview shows as the spend of its range. */
const totalOf = async (page: Page): Promise<string> =>
  (await page.locator('section', { has: page.locator('#trend') }).innerText()).match(FIGURE)?.[0] ?? '';

/** The page shows the figure, once its own have loaded. */
const expectFigure = async (page: Page, from: string, { href, figure }: FigureLink) => {
  // An alert's figure is that of when it triggered: the spend of its period may have grown since.
  if (from === '/alerts' && href.startsWith('/?')) {
    const hasGrown = (total: string) => unitOf(total) === unitOf(figure) && amountOf(total) > amountOf(figure);
    const isShown = async () => {
      const total = await totalOf(page);
      return isSame(figure)(total) || hasGrown(total);
    };
    return await waitUntil(`${figure} of ${from}, or more, on ${href}`, isShown);
  }
  const kind = isOfLimit(href) ? USED : FIGURE;
  const shown = async () => (await page.locator('body').innerText()).match(kind) ?? [];
  await waitUntil(`${figure} of ${from} on ${href}`, async () => (await shown()).some(isSame(figure)));
};

describe('a figure with a link', () => {
  const made: string[] = [];
  beforeAll(async () => {
    const from = new Date(Date.now() - 400 * DAY_MS).toISOString().slice(0, 10);
    await setCurrency({ code: 'EUR', rates: [{ from, perUsd: '0.5' }] });
    for (const budget of BUDGETS) made.push((await readApi<{ id: string }>('/budgets', budget)).id);
  });
  afterAll(async () => {
    await setCurrency(null);
    await Promise.all(made.map((id) => callApi('DELETE', `/budgets/${id}`)));
  });

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
      for (const link of await shownLinks(page, path, currency)) {
        await open(link.href);
        await expectFigure(page, path, link);
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
    await waitUntil(`${figure} in the total`, async () => isSame(figure)(await totalOf(page)));
  });
});
