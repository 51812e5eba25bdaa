import { afterAll, describe, expect, it } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { SEED_USER } from '../../../local/seed/seed.ts';
import { formatMoney } from '../../../web/src/format/numbers.ts';
import { screenshot, waitUntilIdle } from '../browser/browser.ts';
import { fixture, openSeeded, openSignedIn, readApi, setCalendar, setCurrency } from '../browser/fixture.ts';
import { readMail } from '../browser/mails.ts';

const trend = (page: Page) => page.locator('section', { has: page.locator('#trend') });
/** `+92%` or `13×`, of the first comparison in a part of a page. */
const changeIn = async (part: Locator): Promise<string> =>
  (await part.locator('[title^="Before: "]').first().textContent()) ?? '';

interface Compared {
  readonly totals: { readonly costNanoUsd: number | null; readonly costBeforeNanoUsd: number | null };
  readonly to: string;
}

describe('one figure', () => {
  afterAll(() => setCalendar('UTC'));

  it('for the change of a period: in the tile, under the range, and in Compare', async () => {
    const { open } = await openSignedIn(fixture().seeded);
    const now = new Date().toISOString();
    const [today, monthStart] = [now.slice(0, 10), `${now.slice(0, 7)}-01`];
    for (const [tile, from] of [
      ['Today', today],
      ['so far', monthStart],
    ] as const) {
      const page = await open(`/?range=custom&from=${from}&to=${today}`);
      await waitUntilIdle(page);
      const card = page.locator('.card', { hasText: tile }).first();
      // In the first hour of a period there is nothing to compare yet, nor after one without a cost.
      const period = `from=${from}${tile === 'Today' ? `&to=${today}` : ''}`;
      const { totals, to } = await readApi<Compared>(`/spend/compare?${period}`);
      if (totals.costNanoUsd === null || !totals.costBeforeNanoUsd || Date.parse(to) > Date.now()) {
        expect(await card.locator('[title^="Before: "]').count()).toBe(0);
        continue;
      }
      const shown = await changeIn(card);
      expect(shown).toMatch(/^[+−]?<?[\d.]+[%×K]/);
      // The first day of a month is compared as a day.
      if (tile === 'Today' || today !== monthStart) expect(await changeIn(trend(page))).toBe(shown);
      await screenshot(page, `one-figure-${tile}`, true);
      await page.goto(`${fixture().dashboard.url}/compare?periods=${tile === 'Today' ? 'day' : 'month'}`);
      await page.locator('#change').waitFor();
      await waitUntilIdle(page);
      expect(await changeIn(page.locator('section', { has: page.locator('#change') }))).toBe(shown);
    }
  });

  it('for what one spent this month: on My access as in the API, at the rates of its days', async () => {
    const today = new Date().toISOString().slice(0, 10);
    const rates = [
      { from: '2026-01-01', perUsd: '0.5' },
      { from: today, perUsd: '2' },
    ];
    await setCurrency({ code: 'EUR', rates });
    try {
      const page = await openSeeded('/access');
      const { totals } = await readApi<{ totals: { displayCost: string } }>(`/spend?member=${fixture().seeded.userId}`);
      const spend = page.getByRole('region', { name: 'Spend' }).locator('p:has(> .dim) > :first-child');
      expect(await spend.textContent()).toBe(formatMoney(Number(totals.displayCost) * 1e9, 'sum', 'EUR'));
    } finally {
      await setCurrency(null);
    }
  });

  it('for a report: in its mail, on the page its link opens, and in Compare', async () => {
    const tab = await openSignedIn(fixture().seeded);
    await setCalendar('Pacific/Auckland');
    const body = { name: 'Week of Auckland', schedule: { every: 'weekly', hour: 8 }, groupBy: ['model'] };
    const { id } = await readApi<{ id: string }>('/reports', body);
    const page = await tab.open(`/reports/${id}`);
    await page.getByRole('button', { name: 'Send me one now' }).click();
    await page.getByText('E-mail: sent.').waitFor();
    await setCalendar('UTC');
    const mail = await readMail(tab, SEED_USER.email, 'weekly');
    const [, cost = '', requests = '', percent = ''] =
      /(\$[\d,.]+) was spent on ([\d,]+) requests, .* \((\d+)%\) (?:more|less) than the week before/.exec(mail) ?? [];
    expect(cost).not.toBe('');
    // Pages show less than half a percent as less than one.
    const change = new RegExp(`^[+−]${percent === '0' ? '<1' : percent}%$`);
    await page.goto(/See the spend: (\S+)/.exec(mail)?.[1] ?? 'about:blank');
    await waitUntilIdle(page);
    await screenshot(page, 'report-link', true);
    const card = await trend(page).innerText();
    expect(card).toContain(cost);
    expect(card).toContain(`${requests} requests`);
    expect(await changeIn(trend(page))).toMatch(change);
    await page.getByRole('link', { name: 'Why?' }).click();
    await page.locator('#change').waitFor();
    await waitUntilIdle(page);
    const compared = page.locator('section', { has: page.locator('#change') });
    expect(await compared.innerText()).toContain(`to ${cost}`);
    expect(await changeIn(compared)).toMatch(change);
  });
});
