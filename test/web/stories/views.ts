import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { SEED_USER, seedData } from '../../local/seed/seed.ts';
import {
  desktop,
  openBrowser,
  openTab,
  overflow,
  phone,
  screenshot,
  seriousFindings,
  settled,
  type Tab,
  until,
} from './browser/browser.ts';
import { type Dashboard, startDashboard } from './browser/dashboard.ts';
import { type ApiSession, logIn, signedIn } from './browser/people.ts';

const SLOW_MS = 180_000;

let dashboard: Dashboard;
let browser: Browser;
let session: ApiSession;
let paths: Readonly<Record<string, string>>;

const firstId = async (path: string, idOf: (item: Record<string, string>) => string | undefined): Promise<string> => {
  const response = await fetch(`${dashboard.url}/api${path}`, {
    headers: { authorization: `Bearer ${session.token}` },
  });
  const { items } = (await response.json()) as { items: Record<string, string>[] };
  return idOf(items[0] as Record<string, string>) as string;
};

beforeAll(async () => {
  [dashboard, browser] = await Promise.all([startDashboard(), openBrowser()]);
  await seedData(dashboard.url, dashboard.stack.table);
  session = await logIn(dashboard, SEED_USER.email, SEED_USER.password);
  paths = {
    overview: '/',
    'overview-filtered': '/?span=7d&per=hour&by=tag&provider=%5B%22anthropic%22%5D',
    'overview-year': '/?span=12m&by=provider',
    requests: '/requests',
    request: `/requests/${await firstId('/requests?provenance=computed', ({ requestId }) => requestId)}`,
    alerts: '/alerts',
    alert: `/alerts/${await firstId('/alerts', ({ id }) => id)}`,
    rules: '/rules',
    'rule-new': '/rules/new',
    'rule-edit': `/rules/${await firstId('/alert-rules', ({ id }) => id)}`,
    keys: '/keys',
    billing: '/billing',
    more: '/more',
    missing: '/no/such/page',
  };
}, SLOW_MS);
afterAll(async () => {
  await browser?.close();
  await dashboard?.stop();
});

const visitorPaths = {
  'sign-in': '/sign-in?reason=expired',
  'sign-up': '/sign-up',
  'forgot-password': '/forgot-password',
  'reset-password': '/reset-password?email=ada%40example.com',
} as const;

const looks = [
  { name: 'light', options: { ...desktop, colorScheme: 'light' } },
  { name: 'dark', options: { ...desktop, colorScheme: 'dark' } },
  { name: 'phone', options: { ...phone, colorScheme: 'light' } },
] as const;

/** What is wrong with a page as it stands: nothing. */
const look = async ({ page, complaints }: Tab, name: string) => {
  await settled(page);
  await screenshot(page, name, true);
  return { findings: await seriousFindings(page), overflow: await overflow(page), complaints: complaints.splice(0) };
};
const good = { findings: [], overflow: 0, complaints: [] };

describe.each(looks)('in $name', ({ name: scheme, options }) => {
  it(
    'pages of a signed-in user',
    async () => {
      const tab = await openTab(browser, options);
      await signedIn(tab.page, dashboard, session);
      const found: Record<string, unknown> = {};
      for (const [name, path] of Object.entries(paths)) {
        await tab.page.goto(`${dashboard.url}${path}`);
        await tab.page.locator('h1, h2').first().waitFor();
        found[name] = await look(tab, `${scheme}-${name}`);
      }
      expect(found).toEqual(Object.fromEntries(Object.keys(paths).map((name) => [name, good])));
      await tab.page.context().close();
    },
    SLOW_MS,
  );

  it('pages of a visitor', async () => {
    const tab = await openTab(browser, options);
    const found: Record<string, unknown> = {};
    for (const [name, path] of Object.entries(visitorPaths)) {
      await tab.page.goto(`${dashboard.url}${path}`);
      await tab.page.locator('h1').waitFor();
      found[name] = await look(tab, `${scheme}-${name}`);
    }
    expect(found).toEqual(Object.fromEntries(Object.keys(visitorPaths).map((name) => [name, good])));
    await tab.page.context().close();
  });
});

const openSignedIn = async (path: string): Promise<Page> => {
  const { page } = await openTab(browser);
  await signedIn(page, dashboard, session);
  await page.goto(`${dashboard.url}${path}`);
  return page;
};

describe('the overview', () => {
  it('is there with less than 250 kB of compressed script', async () => {
    const { page } = await openTab(browser);
    await signedIn(page, dashboard, session);
    const sizes = new Map<string, Promise<number>>();
    page.on('requestfinished', (request) => {
      if (request.resourceType() !== 'script') return;
      const size = request.sizes().then(({ responseBodySize }) => responseBodySize);
      sizes.set(new URL(request.url()).pathname, size);
    });
    await page.goto(dashboard.url);
    await page.locator('canvas').waitFor();
    await settled(page);
    const bytes = await Promise.all([...sizes].map(async ([path, size]) => ({ path, size: await size })));
    const total = bytes.reduce((sum, { size }) => sum + size, 0);
    expect(total).toBeGreaterThan(50_000);
    if (total >= 250_000)
      throw new Error(`${total} bytes: ${JSON.stringify(bytes.filter(({ size }) => size > 4_000))}`);
  });

  it('has the figures of its chart as a table, which agree with the API', async () => {
    const page = await openSignedIn('/?span=7d');
    await page.getByRole('button', { name: 'As a table' }).click();
    const rows = page.getByRole('region', { name: 'The figures of the chart' }).locator('tbody tr');
    await rows.first().waitFor();
    const from = new Date(Date.now() - 6 * 86_400_000).toISOString().slice(0, 10);
    const response = await fetch(`${dashboard.url}/api/spend?from=${from}`, {
      headers: { authorization: `Bearer ${session.token}` },
    });
    const { series } = (await response.json()) as { series: { costNanoUsd: number }[] };
    const shown = await rows.locator('td:nth-child(2)').allTextContents();
    const usd = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
    expect(shown.slice(1)).toEqual(
      series
        .toReversed()
        .slice(1)
        .map(({ costNanoUsd }) => usd.format(costNanoUsd / 1e9)),
    );
  });

  it('looks closer by a click, and goes back', async () => {
    const page = await openSignedIn('/?by=provider');
    await page.getByRole('button', { name: 'Anthropic' }).click();
    await page.getByText('Provider: Anthropic').waitFor();
    await page.getByRole('button', { name: 'claude-sonnet-4-5' }).waitFor();
    expect(await page.getByRole('button', { name: 'gpt-4o-mini' }).count()).toBe(0);
    await page.goBack();
    await page.getByRole('button', { name: 'OpenAI' }).waitFor();
  });

  it('shows an unknown cost as unknown', async () => {
    const page = await openSignedIn('/?by=model&provider=%5B%22fireworks%22%5D');
    const row = page.locator('tr', { hasText: 'accounts/acme/models/support-v2' });
    expect(await row.locator('td').nth(1).textContent()).toBe('unknown');
    expect(await page.locator('section', { hasText: 'Spend by model' }).first().textContent()).toMatch(/unknown/);
  });

  it('downloads what it shows', async () => {
    const page = await openSignedIn('/?span=7d&by=provider');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^ai-spend-\d{4}-\d\d-\d\d-by-provider\.csv$/);
  });
});

describe('by keyboard alone', () => {
  it('one gets past the menu, into a request and out of it', async () => {
    const page = await openSignedIn('/requests');
    await page.locator('tbody a').first().waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    const row = page.locator('tbody a').first();
    for (
      let press = 0;
      press < 12 && !(await row.evaluate((node) => node === node.ownerDocument.activeElement));
      press++
    ) {
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    await page.getByText('Price, line by line').or(page.getByText('No usage is known')).first().waitFor();
    await page.keyboard.press('Escape');
    await page.waitForURL(`${dashboard.url}/requests`);
  });
});

describe('the request log', () => {
  it('filters, and pages without repeating or missing one', async () => {
    const page = await openSignedIn('/requests?provider=anthropic');
    await page.locator('tbody a').first().waitFor();
    await page.getByRole('button', { name: 'Older requests' }).click();
    await until('100 rows', async () => (await page.locator('tbody a').count()) === 100);
    const links = await page.locator('tbody a').evaluateAll((nodes) => nodes.map((node) => node.getAttribute('href')));
    expect(new Set(links).size).toBe(100);
    await page.getByLabel('Model').fill('claude-opus-4-1');
    await page.waitForURL(/model=claude-opus-4-1/);
    await settled(page);
    expect(new Set(await page.locator('tbody a > span:first-child').allTextContents())).toEqual(
      new Set(['claude-opus-4-1']),
    );
  });
});
