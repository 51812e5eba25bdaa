import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { openUsers } from '../../../lambda/data/accounts/users.ts';
import { openTrackingGaps } from '../../../lambda/data/ledger/tracking-gaps.ts';
import {
  desktop,
  openTab,
  overflow,
  phone,
  type Rules,
  screenshot,
  seriousFindings,
  type Tab,
  waitUntilDrawn,
  waitUntilIdle,
} from '../browser/browser.ts';
import { fixture, openSignedIn } from '../browser/fixture.ts';

const firstId = async (path: string, idOf: (item: Record<string, string>) => string | undefined): Promise<string> => {
  const { dashboard, seeded } = fixture();
  const response = await fetch(`${dashboard.url}/api${path}`, { headers: { authorization: `Bearer ${seeded.token}` } });
  const { items } = (await response.json()) as { items: Record<string, string>[] };
  return idOf(items[0] as Record<string, string>) as string;
};

const post = async (path: string, body: object): Promise<void> => {
  const { dashboard, seeded } = fixture();
  const response = await fetch(`${dashboard.url}/api${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${seeded.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(201);
};

const COMPANY = { name: 'Company', amount: 600, period: 'monthly' };
/** It is announced on every page. */
const USED_UP = { name: 'Batch jobs', amount: 1, period: 'monthly', filter: { provider: 'anthropic' }, block: {} };
const TOKEN = { name: 'Prometheus', role: 'viewer' };

/** Pages of signed-in users. Those with an id in their path ask the API for one. */
const membersPaths: Readonly<Record<string, () => string | Promise<string>>> = {
  overview: () => '/',
  'overview by the hour': () => '/?range=7d&per=hour&by=tag&provider=%5B%22anthropic%22%5D',
  'overview of a year': () => '/?range=12m&by=provider',
  'overview of nothing': () => '/?model=%5B%22no-such-model%22%5D',
  compare: () => '/compare',
  requests: () => '/requests',
  'one request': async () => `/requests/${await firstId('/requests?provenance=computed', (item) => item['requestId'])}`,
  sessions: () => '/sessions',
  'one session': async () => `/sessions/${await firstId('/sessions', ({ id }) => id)}`,
  alerts: () => '/alerts',
  'one alert': async () => `/alerts/${await firstId('/alerts', ({ id }) => id)}`,
  rules: () => '/rules',
  'a new rule': () => '/rules/new',
  'one rule': async () => `/rules/${await firstId('/alert-rules', ({ id }) => id)}`,
  budgets: () => '/budgets',
  'a new budget': () => '/budgets/new',
  'one budget': async () => `/budgets/${await firstId('/budgets', ({ id }) => id)}`,
  prices: () => '/prices',
  'price changes': () => '/price-changes',
  reconciliation: () => '/reconciliation',
  exports: () => '/exports',
  keys: () => '/keys',
  tokens: () => '/tokens',
  members: () => '/members',
  'audit log': () => '/audit',
  profile: () => '/profile',
  settings: () => '/settings',
  billing: () => '/billing',
  more: () => '/more',
  'no such page': () => '/no/such/page',
};

const visitorsPaths = {
  'sign-in': '/sign-in?reason=expired',
  'sign-up': '/sign-up',
  'forgotten password': '/forgot-password',
  'new password': '/reset-password?email=ada%40example.com',
} as const;

const good = { findings: [], overflow: 0, browserErrors: [] };

/** The expected title, which identifies a page in tabs and history. */
const titleOf = async (page: Page): Promise<string> => {
  const [heading] = await page.locator('h1').allTextContents();
  return heading === undefined ? 'AI Spend Gateway' : `${heading} · AI Spend Gateway`;
};

/** The defects of the page in its current state. */
const inspect = async ({ page, browserErrors }: Tab, name: string, rules?: Rules) => {
  await waitUntilDrawn(page);
  await screenshot(page, name.replaceAll(' ', '-'), true);
  return {
    findings: await seriousFindings(page, rules),
    overflow: await overflow(page),
    browserErrors: browserErrors.splice(0),
  };
};

/** The defects of the page in light, in dark and as wide as a phone. Switches them on the open page, as users do. */
const inspectVariants = async (tab: Tab, name: string) => {
  const { page } = tab;
  await page.locator('h1, h2').first().waitFor();
  await waitUntilIdle(page);
  const light = await inspect(tab, `${name} light`);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
  const dark = await inspect(tab, `${name} dark`, 'colours');
  await page.setViewportSize(phone.viewport);
  const narrow = await inspect(tab, `${name} phone`, 'all but colours');
  await page.setViewportSize(desktop.viewport);
  await page.emulateMedia({ colorScheme: 'light' });
  return { light, dark, phone: narrow };
};

describe('in light, in dark and on a phone', () => {
  beforeAll(async () => {
    const { dashboard, seeded } = fixture();
    const at = (minutesAgo: number) => new Date(Date.now() - minutesAgo * 60_000).toISOString();
    const accountId = (await openUsers(dashboard.stack.table).find(seeded.userId))?.accountId as string;
    await Promise.all([post('/budgets', COMPANY), post('/budgets', USED_UP), post('/tokens', TOKEN)]);
    await openTrackingGaps(dashboard.stack.table).note(accountId, crypto.randomUUID(), {
      from: at(3_009),
      to: at(3_000),
      requests: 17,
    });
  });

  it.each(Object.entries(membersPaths))('%s', async (name, path) => {
    const tab = await openSignedIn(fixture().seeded);
    await tab.open(await path());
    expect(await inspectVariants(tab, name)).toEqual({ light: good, dark: good, phone: good });
    expect(await tab.page.title()).toBe(await titleOf(tab.page));
  });

  it.each(Object.entries(visitorsPaths))('%s', async (name, path) => {
    const { browser, dashboard } = fixture();
    const tab = await openTab(browser);
    await tab.page.goto(`${dashboard.url}${path}`);
    expect(await inspectVariants(tab, name)).toEqual({ light: good, dark: good, phone: good });
    expect(await tab.page.title()).toBe(await titleOf(tab.page));
  });

  it('dialogs', async () => {
    const tab = await openSignedIn(fixture().seeded);
    const dialog = async (page: Page, opener: string, name: string) => {
      await page.getByRole('button', { name: opener }).first().click();
      await page.getByRole('dialog').waitFor();
      const seen = await inspect(tab, name);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
      return seen;
    };
    const page = await tab.open('/keys');
    expect(await dialog(page, 'New key', 'dialog new key')).toEqual(good);
    expect(await dialog(page, 'Revoke', 'dialog revoke key')).toEqual(good);
    await tab.open((await membersPaths['one rule']?.()) ?? '');
    expect(await dialog(page, 'Delete', 'dialog delete rule')).toEqual(good);
  });
});
