import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import type { SpendReport } from '../../../web/src/api/responses.ts';
import { formatDuration, plural } from '../../../web/src/format/numbers.ts';
import { register, sendRequest } from '../browser/accounts.ts';
import { changeResponses, chartOf, screenshot, waitUntil, waitUntilIdle } from '../browser/browser.ts';
import { addTrackingGap, callApi, fixture, openSignedIn, readApi } from '../browser/fixture.ts';

const openOverview = async (path: string) => (await openSignedIn(fixture().seeded)).open(path);

it('a page that stays open says how long ago something was, and compares the days that its periods are named by', async () => {
  const yesterday = Date.now() - 24 * 3_600_000;
  const { open } = await openSignedIn(fixture().seeded, (page) => page.clock.install({ time: yesterday }));
  let page = await open('/compare?periods=day');
  const title = page.locator('#change');
  const first = await title.innerText();
  await page.clock.fastForward('24:00:00');
  await waitUntil('the next day', async () => (await title.innerText()) !== first);
  await page.route('**/api/tokens', async (route) => {
    // By the clock of the page, whatever it took to come here.
    const lastUsedAt = new Date((await page.evaluate<number>('Date.now()')) - 600_000).toISOString();
    const token = { id: 't', name: 'nightly', maskedToken: 'sat_1…2', role: 'viewer', expiresAt: lastUsedAt };
    await route.fulfill({ json: { items: [{ ...token, lastUsedAt }] } });
  });
  page = await open('/tokens');
  await page.getByText('10 minutes ago').waitFor();
  await page.clock.fastForward('05:00');
  await page.getByText('15 minutes ago').waitFor();
});

describe('the overview', () => {
  it.each(['range=year', 'show=colour', 'by=colour', 'range=custom&to=2026-99-01', 'from=yesterday'])(
    'of a link with %s is as without it',
    async (search) => {
      const page = await openOverview(`/?${search}`);
      await chartOf(page).waitFor();
      await page.waitForURL((url) => !url.search.includes(search));
    },
  );

  it('filters with a click, and goes back', async () => {
    const page = await openOverview('/?by=provider');
    await page.getByRole('button', { name: 'Anthropic' }).click();
    await page.getByText('Provider: Anthropic').waitFor();
    await page.getByRole('button', { name: 'claude-sonnet-4-5' }).waitFor();
    expect(await page.getByRole('button', { name: 'gpt-4o-mini' }).count()).toBe(0);
    await page.goBack();
    await page.getByRole('button', { name: 'OpenAI' }).waitFor();
  });

  it('names the amount of a budget as it was set', async () => {
    const { id } = await readApi<{ readonly id: string }>('/budgets', {
      name: 'Contract',
      amount: 1234.56,
      period: 'monthly',
    });
    const { open } = await openSignedIn(fixture().seeded, (page) =>
      changeResponses(page, '**/api/budgets', ({ items }) => ({
        items: items.filter((budget: { readonly id: string }) => budget.id === id),
      })),
    );
    await (await open('/')).getByText(/% of \$1,234\.56/).waitFor();
    await callApi('DELETE', `/budgets/${id}`);
  });

  it('shows hundreds of millions within their tiles', async () => {
    const { page, open } = await openSignedIn(
      fixture().seeded,
      (page) =>
        changeResponses(page, '**/api/spend?*', ({ series }) => ({
          series: series.map((point: object) => ({ ...point, costNanoUsd: 9e15 })),
        })),
      { viewport: { width: 1024, height: 860 } },
    );
    await open('/');
    const month = page.getByText(/^\$\d{3},000,000\.00$/);
    await month.first().waitFor();
    const [text, tile] = [
      await month.first().boundingBox(),
      await page.locator('.card', { has: month }).first().boundingBox(),
    ];
    expect(text && tile && text.x + text.width < tile.x + tile.width).toBe(true);
  });

  it('shows an unknown cost as unknown', async () => {
    const page = await openOverview('/?by=model&provider=%5B%22fireworks%22%5D');
    const row = page.locator('tr', { hasText: 'accounts/acme/models/support-v2' });
    expect(await row.locator('td').nth(1).textContent()).toBe('unknown');
    expect(await page.locator('section', { hasText: 'Spend by model' }).first().textContent()).toMatch(/unknown/);
    await page.getByText('No cost is known.').waitFor();
  });

  it('shows how many requests went untracked, and when', async () => {
    await addTrackingGap();
    const page = await openOverview('/');
    await page.getByText('Up to 17 requests went untracked').waitFor();
    await page.getByText('has untracked requests').waitFor();
    await page.getByText('≤ 17').waitFor();
  });

  it('names the cost that it compares, where that of the tile is newer', async () => {
    const { open } = await openSignedIn(fixture().seeded, (page) =>
      changeResponses(page, '**/api/spend/compare?*', ({ totals }) => ({
        totals: { ...totals, costNanoUsd: 3_550_000_000, costBeforeNanoUsd: 4_280_000_000 },
        to: new Date(Date.now() - 3_600_000).toISOString(),
      })),
    );
    const page = await open('/');
    const tile = page.locator('.card', { hasText: 'Today' }).first();
    await tile.getByText('$4.28').waitFor();
    expect(await tile.textContent()).toMatch(/\$3\.55 until .+, −17% vs \$4\.28 yesterday until /);
  });

  it('shows the figures of the hovered bar; clicks lead to its day, its hour and its requests', async () => {
    const page = await openOverview('/?range=7d');
    const chart = chartOf(page);
    await chart.waitFor();
    await waitUntilIdle(page);
    const { width, height } = (await chart.boundingBox()) as { width: number; height: number };
    await chart.hover({ position: { x: width * 0.5, y: height * 0.6 } });
    await page.getByText('(UTC day)').first().waitFor();
    const ofOneModel = chart.locator('[data-segment="0"]');
    const heights = await ofOneModel.evaluateAll((all) => all.map(({ clientHeight }) => clientHeight));
    await ofOneModel.nth(heights.indexOf(Math.max(...heights))).click();
    await page.waitForURL(/range=custom&from=/);
    await page.getByRole('button', { name: /^Remove Model: / }).waitFor();
    await page.locator('[aria-label="Bars"] input[value="hour"]:checked').waitFor({ state: 'attached' });
    await waitUntilIdle(page);
    await chart.click({ position: { x: width * 0.5, y: height * 0.6 } });
    await page.waitForURL(/\/requests\?.*from=.*&to=/);
    expect(new URL(page.url()).searchParams.get('model')).not.toBeNull();
  });

  it('explains a change by pairs of names, with the figures of the API', async () => {
    const { dashboard, seeded } = fixture();
    const page = await openOverview('/?range=7d&by=model&and=tag');
    await page.getByRole('link', { name: 'Why?' }).click();
    await page.waitForURL(/\/compare\?/);
    const { searchParams } = new URL(page.url());
    const query = new URLSearchParams({ groupBy: 'model,tag', limit: '50' });
    for (const name of ['from', 'to', 'compareFrom', 'compareTo'])
      query.set(name, (searchParams.get(name) ?? '').replaceAll('"', ''));
    const response = await fetch(`${dashboard.url}/api/spend/compare?${query}`, {
      headers: { authorization: `Bearer ${seeded.token}` },
    });
    const change = (await response.json()) as {
      totals: { costChangeNanoUsd: number };
      effects: Record<string, number>;
      groups: { model: string; tag: string | null; costChangeNanoUsd: number | null }[];
    };
    const usd = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
    const shown = (nano: number) => `${nano > 0 ? '+' : nano < 0 ? '−' : ''}${usd.format(Math.abs(nano) / 1e9)}`;
    const card = page.locator('section', { has: page.locator('#change') });
    await card.getByText(shown(change.totals.costChangeNanoUsd), { exact: true }).first().waitFor();
    const { volumeNanoUsd = 0, mixNanoUsd = 0, priceNanoUsd = 0 } = change.effects;
    // Cents that rounding would lose are in one of the effects: what is shown adds up.
    const cents = (text: string) => Math.round(Number(text.replace('−', '-').replace(/[$,+]/g, '')) * 100);
    const effects = (await card.locator('dd').allTextContents()).map(cents);
    for (const [index, nano] of [volumeNanoUsd, mixNanoUsd, priceNanoUsd].entries())
      expect(Math.abs((effects[index] as number) - nano / 1e7)).toBeLessThanOrEqual(1.5);
    expect(effects.reduce((sum, effect) => sum + effect)).toBe(cents(shown(change.totals.costChangeNanoUsd)));
    expect(volumeNanoUsd + mixNanoUsd + priceNanoUsd).toBe(change.totals.costChangeNanoUsd);
    const largest = change.groups.find(({ costChangeNanoUsd }) => costChangeNanoUsd !== null);
    const row = page.locator('tr', { hasText: `${largest?.model} / ${largest?.tag ?? 'untagged'}` }).first();
    expect(await row.locator('td').nth(1).textContent()).toBe(shown(largest?.costChangeNanoUsd ?? 0));
    await row.getByRole('button').click();
    await page.getByRole('button', { name: `Remove Model: ${largest?.model}` }).waitFor();
    await page.getByRole('button', { name: /^Remove Tag: / }).waitFor();
    // The period before ends at the time of day that it is now, and in the first hour with a day.
    const instants = page.getByRole('button', { name: /^Choose days instead of/ }).last();
    const lastDay = page.getByLabel('Last day of the period before (UTC)');
    await instants.or(lastDay).waitFor();
    if ((await instants.count()) > 0) await instants.click();
    await lastDay.fill('2026-01-01');
    await lastDay.press('Enter');
    await page.getByText('The last day is before the first.').waitFor();
  });

  it('draws the marks of unknown costs of what it shows only', async () => {
    const dayAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
    const page = await openOverview(`/?by=provider&range=custom&from=${dayAgo(30)}&to=${dayAgo(5)}`);
    const marks = async () => {
      await chartOf(page).waitFor();
      await waitUntilIdle(page);
      return chartOf(page).locator('i').count();
    };
    expect(await marks()).toBeGreaterThan(0);
    // Nothing else says what they say: they stay on paper, and where the system forces its own colours.
    const parts = ['[data-segment]', '.swatch', '.mantine-SegmentedControl-root'];
    const colours = `${JSON.stringify(parts)}.map((part) => getComputedStyle(document.querySelector(part)))
      .map(({ forcedColorAdjust, printColorAdjust }) => [forcedColorAdjust, printColorAdjust])`;
    expect(await page.evaluate(colours)).toEqual(parts.map(() => ['none', 'exact']));
    await page.getByRole('button', { name: 'Anthropic' }).click();
    await page.getByText('Provider: Anthropic').waitFor();
    await page.getByRole('button', { name: 'claude-sonnet-4-5' }).waitFor();
    expect(await marks()).toBe(0);
  });

  it('compares the same days whatever the bars are, and gives a month one comparison', async () => {
    const page = await openOverview('/?range=7d&per=day');
    const comparison = page.locator('section', { hasText: 'Spend by model' }).first().getByText(' vs ');
    const chosen = (name: string, value: string) =>
      page.locator(`[aria-label="${name}"] input[value="${value}"]:checked`);
    const ofDays = await comparison.textContent();
    await page.getByText('Hours', { exact: true }).click();
    await page.waitForURL(/per=hour/);
    // The address changes before the page does.
    await chosen('Bars', 'hour').waitFor({ state: 'attached' });
    await waitUntilIdle(page);
    expect(await comparison.textContent()).toBe(ofDays);
    await page.getByRole('radiogroup', { name: 'Range' }).getByText('This month').click();
    await page.waitForURL(/range=month/);
    await chosen('Range', 'month').waitFor({ state: 'attached' });
    await waitUntilIdle(page);
    expect(await comparison.count()).toBe(0);
  });

  it('takes typed days with Enter, and refuses those out of order', async () => {
    const page = await openOverview('/?range=custom&from=2026-01-05&to=2026-01-20');
    const first = page.getByLabel('First day (UTC)');
    await first.fill('2026-01-25');
    expect(page.url()).toContain('from=2026-01-05');
    await first.press('Enter');
    await page.getByText('The last day is before the first.').waitFor();
    expect(page.url()).toContain('from=2026-01-05');
    await first.fill('2026-01-10');
    await first.press('Enter');
    await page.waitForURL(/from=2026-01-10/);
  });

  it('tells names apart that two keys share', async () => {
    const { dashboard } = fixture();
    const session = await register(dashboard);
    const { key } = await readApi<{ key: string }>('/keys', { name: 'default' }, session);
    await sendRequest(dashboard, session);
    await sendRequest(dashboard, { ...session, accountId: key });
    const { open } = await openSignedIn(session);
    const page = await open('/');
    const buttons = page.getByRole('button', { name: 'default', exact: true });
    // A request is recorded some seconds after its response.
    await waitUntil('both keys have spend', async () => {
      await page.goto(`${dashboard.url}/?range=7d&by=key`);
      await waitUntilIdle(page);
      return (await buttons.count()) === 2;
    });
    await page.getByRole('button', { name: 'Show as table' }).click();
    const heads = page.getByRole('region', { name: 'The figures of the chart' }).locator('th');
    await heads.first().waitFor();
    expect(await heads.allTextContents()).toEqual(['Time', 'Total', 'Requests', 'default', 'default']);
    await page.getByLabel('Group by').selectOption('tag');
    await page.getByRole('button', { name: 'untagged' }).waitFor();
    expect(await heads.allTextContents()).toEqual(['Time', 'Total', 'Requests', 'untagged']);
  });

  it('compares days, also in a zone whose days begin within an hour', async () => {
    const { open } = await openSignedIn(
      fixture().seeded,
      (page) => page.addInitScript("localStorage.setItem('time-zone', 'Asia/Kathmandu')"),
      { timezoneId: 'Asia/Kathmandu' },
    );
    const page = await open('/compare');
    await page.getByLabel('First day of the period (Kathmandu)').waitFor();
    await page.getByText(/^\w+ \d+ – [\w ]*\d+ against \w+ \d+ – [\w ]*\d+$/).waitFor();
  });

  it('downloads its report', async () => {
    const page = await openOverview('/?range=7d&by=provider');
    await page.getByRole('button', { name: 'Anthropic' }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^ai-spend-\d{4}-\d\d-\d\d-by-provider\.csv$/);
  });

  it('draws p50 and p95 of latency as lines, and says over how many requests', async () => {
    const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
    const range = `from=${day(12)}&to=${day(2)}`;
    const { totals } = await readApi<SpendReport>(`/spend?${range}&granularity=day&latency=true`);
    const page = await openOverview(`/?range=custom&${range}`);
    await page.getByRole('combobox', { name: 'Bars show' }).selectOption('Latency');
    await page.getByRole('heading', { name: 'Median latency' }).waitFor();
    const { p50Ms = null, p95Ms = null, requests = 0 } = totals.latency ?? {};
    await page.getByText(`p95 ≈ ${formatDuration(p95Ms)} of ${plural(requests, 'request')}`).waitFor();
    await page.locator('section', { hasText: 'Median latency' }).getByText(formatDuration(p50Ms)).first().waitFor();
    await chartOf(page).waitFor();
    for (const color of ['--accent-ink', '--ink'])
      expect(await chartOf(page).locator(`g[stroke="var(${color})"]`).boundingBox()).toMatchObject({
        width: expect.any(Number),
      });
    await screenshot(page, 'overview-latency');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV' }).click(),
    ]);
    const [head] = (await readFile(await download.path(), 'utf8')).split('\n');
    expect(head).toMatch(/^\ufefftime,/);
    expect(head).toContain(',latency_requests,latency_p50_ms,latency_p95_ms');
    await page.getByRole('button', { name: 'Show as table' }).click();
    const cells = page.getByRole('region', { name: 'The figures of the chart' }).locator('thead th');
    await cells.first().waitFor();
    expect(await cells.allTextContents()).toEqual(['Time', 'Requests', 'p50', 'p95']);
  });
});
