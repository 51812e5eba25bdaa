import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { formatDuration, formatMoney, formatPercent, formatWhole, plural } from '../../../web/src/format/numbers.ts';
import { formatBucketLong } from '../../../web/src/format/time.ts';
import { chartOf, overflow, phone, screenshot, waitUntil, waitUntilIdle } from '../browser/browser.ts';
import { fixture, openSeeded, openSignedIn, readApi } from '../browser/fixture.ts';

const DAY_MS = 86_400_000;
const dayAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

interface Point {
  readonly time: string;
  readonly costNanoUsd: number | null;
  readonly requests: number;
  readonly latency?: { readonly requests: number; readonly p50Ms: number; readonly p95Ms: number } | null;
}
interface Report {
  readonly totals: Point;
  readonly series: readonly Point[];
  readonly groups: readonly { readonly model: string; readonly costNanoUsd: number | null }[];
}
interface AlertItem {
  readonly id: string;
  readonly unit: string;
  readonly period: { readonly end: string };
  readonly figure: number;
  readonly limit: number;
  readonly final: { readonly figure: number } | null;
}
interface List<Item> {
  readonly items: readonly Item[];
}

const rule = { type: 'cost_threshold', config: { threshold: 50, period: 'monthly' } };

/** What the API has; of days that are over, so that nothing changes meanwhile. */
const readFigures = async () => {
  const range = `from=${dayAgo(12)}&to=${dayAgo(2)}`;
  const isOver = ({ unit, period }: AlertItem) => unit === 'nanoUsd' && Date.parse(period.end) < Date.now();
  const alerts = (await readApi<List<AlertItem>>('/alerts?limit=100')).items.filter(isOver);
  return {
    range,
    spend: await readApi<Report>(`/spend?${range}&granularity=day&groupBy=model&limit=50&latency=true`),
    requests: (await readApi<List<Point>>(`/requests?${range}&limit=50`)).items,
    alert: await readApi<AlertItem>(`/alerts/${alerts.at(-1)?.id}`),
    budgets: (await readApi<List<{ name: string; state: { percentUsed: number; usedNanoUsd: number } }>>('/budgets'))
      .items,
    preview: await readApi<{ alerts: readonly { figure: number }[] }>('/alert-rules/preview', rule),
  };
};

const expectFigures = async (
  open: (path: string) => Promise<Page>,
  { range, spend, requests, alert, budgets, preview }: Awaited<ReturnType<typeof readFigures>>,
) => {
  const page = await open(`/?range=custom&${range}&by=model`);
  await page.getByRole('button', { name: 'Show as table' }).click();
  const rows = page.getByRole('region', { name: 'The figures of the chart' }).locator('tbody tr');
  await rows.first().waitFor();
  const shownRows = await rows.evaluateAll((all) =>
    all.map((row) => [...row.querySelectorAll('td')].slice(0, 3).map(({ textContent }) => textContent)),
  );
  expect(shownRows).toEqual(
    spend.series
      .toReversed()
      .map(({ time, costNanoUsd, requests: count }) => [
        formatBucketLong(time),
        formatMoney(costNanoUsd),
        String(count),
      ]),
  );
  const main = await page.locator('main').innerText();
  expect(main).toContain(formatMoney(spend.totals.costNanoUsd));
  for (const { model, costNanoUsd } of spend.groups.slice(0, 5))
    expect(
      await page.locator('tr', { has: page.getByRole('button', { name: model, exact: true }) }).innerText(),
    ).toContain(formatMoney(costNanoUsd));

  const latency = await open(`/?range=custom&${range}&show=latency`);
  await latency.getByRole('button', { name: 'Show as table' }).click();
  const latencyRows = latency.getByRole('region', { name: 'The figures of the chart' }).locator('tbody tr');
  await latencyRows.first().waitFor();
  expect(
    await latencyRows.evaluateAll((all) => all.map((row) => [...row.children].map((td) => td.textContent))),
  ).toEqual(
    spend.series
      .toReversed()
      .map(({ time, latency: of }) => [
        formatBucketLong(time),
        formatWhole(of?.requests ?? 0),
        formatDuration(of?.p50Ms ?? null),
        formatDuration(of?.p95Ms ?? null),
      ]),
  );

  await open(`/requests?${range}`);
  await page.locator('tbody a').first().waitFor();
  const costs = await page.locator('tbody td:last-child > span:first-child .num').allTextContents();
  expect(costs).toEqual(requests.map(({ costNanoUsd }) => formatMoney(costNanoUsd, 'call')));

  await open(`/alerts/${alert.id}`);
  const article = await page.locator('article').innerText();
  for (const figure of [alert.figure, alert.limit, alert.final?.figure ?? Number.NaN])
    expect(article).toContain(formatMoney(figure));

  await open('/limits');
  for (const { name, state } of budgets) {
    const budget = page.locator('li', { hasText: name }).first();
    await budget.getByText(formatPercent(state.percentUsed), { exact: true }).waitFor();
    expect(await budget.innerText()).toContain(formatMoney(state.usedNanoUsd));
  }

  await open('/limits/new');
  await page.getByText('Month', { exact: true }).click();
  await page.getByText(`It would have fired ${plural(preview.alerts.length, 'time')}.`).waitFor();
  // Until it is computed, the alerts of a day are shown: there may be as many.
  const list = page.locator('section', { hasText: 'The last 30 days' }).last();
  for (const { figure } of preview.alerts) await list.getByText(formatMoney(figure)).first().waitFor();
};

describe('figures', () => {
  it('are the API’s on every page, in every time zone', async () => {
    const figures = await readFigures();
    expect(figures.spend.series.length).toBe(11);
    expect(figures.alert.final).not.toBeNull();
    await Promise.all(
      ['UTC', 'Pacific/Kiritimati', 'America/Los_Angeles'].map(async (timezoneId) => {
        const { open } = await openSignedIn(fixture().seeded, undefined, { timezoneId });
        await expectFigures(open, figures);
      }),
    );
  });

  it('of a rule say that nothing matches; its form shows the API’s message at the field and asks before it is left', async () => {
    const page = await openSeeded('/limits/new');
    await page.getByText(/^It would (not )?have fired/).waitFor();
    await page.getByRole('combobox', { name: 'Tag' }).fill('no-such-tag');
    await page.getByText('No request matches.').waitFor();
    await screenshot(page, 'rule-of-nothing');
    const error = {
      ...{ type: 'gateway_error', code: 'VALIDATION_ERROR', message: 'The request is invalid.', requestId: 'r' },
      details: [{ path: 'config.threshold', message: 'must be less' }],
    };
    await page.route('**/api/alert-rules', (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({ status: 400, contentType: 'application/json', body: JSON.stringify({ error }) })
        : route.continue(),
    );
    await page.getByLabel('Name').fill('Too much');
    await page.getByRole('button', { name: 'Create the rule' }).click();
    await page.getByText('must be less').waitFor();
    expect(await page.getByLabel('Limit', { exact: true }).getAttribute('aria-invalid')).toBe('true');
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Alerts' }).first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    expect(page.url()).toContain('/limits/new');
    await page.getByRole('link', { name: 'Alerts' }).first().click();
    await page.getByRole('button', { name: 'Discard the changes' }).click();
    await page.waitForURL(/\/alerts/);
  });

  it('stay while the API is down, with their age', async () => {
    const { open, page } = await openSignedIn(fixture().seeded, (tab) => tab.clock.install());
    await open('/requests');
    await page.locator('tbody a').first().waitFor();
    await page.route('**/api/requests?*', (route) => route.abort());
    // The list refreshes by itself; failed attempts come again first.
    const note = page.getByText('The figures shown are of');
    await waitUntil('the problem is shown', async () => {
      await page.clock.fastForward(31_000);
      return (await note.count()) > 0;
    });
    expect(await page.locator('tbody a').count()).toBe(50);
  });

  it('of millions fit a phone, whose first tap shows those of a bar and whose second opens its day', async () => {
    const { open } = await openSignedIn(
      fixture().seeded,
      (page) =>
        page.route('**/api/spend?*', async (route) => {
          const response = await route.fetch();
          const body = (await response.text()).replace(
            /"costNanoUsd":(\d+)/g,
            (_, cost: number) => `"costNanoUsd":${cost * 100_000}`,
          );
          await route.fulfill({ response, body });
        }),
      { ...phone, hasTouch: true, isMobile: true },
    );
    const page = await open('/?range=7d');
    const chart = chartOf(page);
    await chart.waitFor();
    await waitUntilIdle(page);
    await screenshot(page, 'millions', true);
    expect(await overflow(page)).toBe(0);
    await chart.scrollIntoViewIfNeeded();
    const tap = async () => {
      const { width, height } = (await chart.boundingBox()) as { width: number; height: number };
      await chart.tap({ position: { x: width * 0.5, y: height * 0.6 } });
    };
    await tap();
    await page.getByText('(UTC day)').first().waitFor();
    expect(page.url()).toContain('range=7d');
    await tap();
    await page.waitForURL(/range=custom&from=/);
  });
});
