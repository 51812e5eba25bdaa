import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { clientIdOf } from '../../../lambda/domain/accounts/oauth-client.ts';
import {
  desktop,
  openTab,
  overflow,
  phone,
  type Rules,
  screenshot,
  seriousFindings,
  type Tab,
  takeBrowserErrors,
  waitUntil,
  waitUntilDrawn,
  waitUntilIdle,
} from '../browser/browser.ts';
import { addTrackingGap, fixture, openSeeded, openSignedIn, readApi } from '../browser/fixture.ts';
import { defectsByWidth } from '../browser/width-sweep.ts';

const firstId = async (path: string, idOf: (item: Record<string, string>) => string | undefined): Promise<string> => {
  const { items } = await readApi<{ items: Record<string, string>[] }>(path);
  return idOf(items[0] as Record<string, string>) as string;
};

/** A word of this length has nowhere to break. */
const LONG = 'x'.repeat(60);
const COMPANY = { name: `Company ${LONG}`, amount: 600, period: 'monthly' };
/** It is announced on every page. */
const USED_UP = { name: 'Batch jobs', amount: 1, period: 'monthly', filter: { provider: 'anthropic' }, block: {} };
const REPORT = { name: `Daily ${LONG}`, schedule: { every: 'daily', hour: 8 }, groupBy: ['model'] };
const TOKEN = { name: LONG, role: 'viewer' };

const CONNECTOR = { name: 'Claude', redirectUris: ['https://claude.example.com/callback'] } as const;

const requestPath = async () =>
  `/requests/${await firstId('/requests?provenance=computed', (item) => item['requestId'])}`;

type Paths = Readonly<Record<string, string | (() => Promise<string>)>>;

/** Pages of signed-in users, by their part of the menu. Those with an id in their path ask the API for one. */
const membersPaths: Readonly<Record<string, Paths>> = {
  spend: {
    overview: '/',
    'overview by the hour': '/?range=7d&per=hour&by=tag&provider=%5B%22anthropic%22%5D',
    'overview of a year': '/?range=12m&by=provider',
    'overview of nothing': '/?model=%5B%22no-such-model%22%5D',
    compare: '/compare',
    requests: '/requests',
    'one request': requestPath,
    sessions: '/sessions',
    'one session': async () => `/sessions/${await firstId('/sessions', ({ id }) => id)}`,
  },
  limits: {
    alerts: '/alerts',
    raises: '/raises',
    'one alert': async () => `/alerts/${await firstId('/alerts', ({ id }) => id)}`,
    limits: '/limits',
    'a new rule': '/limits/new',
    'one rule': async () => `/limits/${await firstId('/alert-rules', ({ id }) => id)}`,
    'a new budget': '/limits/new?type=budget',
    'one budget': async () => `/limits/${await firstId('/budgets', ({ id }) => id)}`,
    reports: '/reports',
    'a new report': '/reports/new',
    'one report': async () => `/reports/${await firstId('/reports', ({ id }) => id)}`,
  },
  costs: {
    prices: '/prices',
    savings: '/savings',
    'price changes': '/price-changes',
    reconciliation: '/reconciliation',
    exports: '/exports',
  },
  'access and account': {
    keys: '/keys',
    access: '/access',
    tokens: '/tokens',
    members: '/members',
    connect: '/connect',
    'connect a program': `/authorize?${new URLSearchParams({ client_id: clientIdOf(CONNECTOR), redirect_uri: CONNECTOR.redirectUris[0] })}`,
    'audit log': '/audit',
    profile: '/profile',
    settings: '/settings',
    billing: '/billing',
    review: '/review',
    more: '/more',
    'no such page': '/no/such/page',
  },
};

const visitorsPaths: Paths = {
  'sign-in': '/sign-in?reason=expired',
  'sign-in at a provider': '/sign-in/callback?code=stolen&state=guessed',
  'sign-up': '/sign-up',
  'forgotten password': '/forgot-password',
  'new password': '/reset-password?email=ada%40example.com',
  invitation: '/accept-invitation',
};

const good = { findings: [], overflow: 0, browserErrors: [] };

/** The expected title, which identifies a page in tabs and history. */
const titleOf = async (page: Page): Promise<string> => {
  const [heading] = await page.locator('h1').allTextContents();
  return heading === undefined ? 'AI Spend Gateway' : `${heading} · AI Spend Gateway`;
};

/** The defects of the page in its current state. */
const inspect = async ({ page }: Tab, name: string, rules?: Rules) => {
  await waitUntilDrawn(page);
  await screenshot(page, name.replaceAll(' ', '-'), true);
  return {
    findings: await seriousFindings(page, rules),
    overflow: await overflow(page),
    browserErrors: takeBrowserErrors(),
  };
};

/** The defects of the page in light, in dark, at all widths and as a phone shows it. Switches them on the open page, as users do. */
const inspectVariants = async (tab: Tab, name: string) => {
  const { page } = tab;
  await waitUntilIdle(page);
  const light = await inspect(tab, `${name} light`);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
  const dark = await inspect(tab, `${name} dark`, 'colours');
  const widths = await defectsByWidth(page);
  await page.setViewportSize(phone.viewport);
  const narrow = await inspect(tab, `${name} phone`, 'all but colours');
  await page.setViewportSize(desktop.viewport);
  await page.emulateMedia({ colorScheme: 'light' });
  return { light, dark, widths, phone: narrow, title: await page.title() };
};

/** Follows a path as a link does: without loading the page again. */
const follow = async (page: Page, path: string): Promise<void> => {
  await page.evaluate(`__TSR_ROUTER__.history.push(${JSON.stringify(path)})`);
  const isThere = `__TSR_ROUTER__.state.status === 'idle' && __TSR_ROUTER__.state.resolvedLocation.pathname === ${JSON.stringify(path)}`;
  await waitUntil(path, () => page.evaluate<boolean>(isThere));
};

/** Looks at pages in one tab, one after the other. */
const inspectAll = async (tab: Tab, paths: Paths): Promise<void> => {
  const { page } = tab;
  for (const [name, given] of Object.entries(paths)) {
    const path = typeof given === 'string' ? given : await given();
    if (path.includes('?') || page.url() === 'about:blank' || page.url().endsWith('.css'))
      await page.goto(`${fixture().dashboard.url}${path}`);
    else await follow(page, path);
    const seen = await inspectVariants(tab, name);
    expect({ name, ...seen }).toEqual({
      name,
      light: good,
      dark: good,
      widths: [],
      phone: good,
      title: await titleOf(page),
    });
  }
};

/** The route of a path: an exact one before one with parameters. */
const routeOf = (path: string, routes: readonly string[]): string | undefined => {
  const { pathname } = new URL(path, 'http://localhost');
  const fits = (route: string) => new RegExp(`^${route.replaceAll(/\$\w+/g, '[^/]+')}$`).test(pathname);
  return routes.find((route) => route === pathname) ?? routes.find(fits);
};

describe('in light, in dark and on a phone', () => {
  beforeAll(async () => {
    await Promise.all([
      addTrackingGap(),
      readApi('/budgets', COMPANY),
      readApi('/budgets', USED_UP),
      readApi('/reports', REPORT),
      readApi('/tokens', TOKEN),
    ]);
  });

  it.each(Object.entries(membersPaths))('pages of %s', async (_, paths) => {
    await inspectAll(await openSignedIn(fixture().seeded), paths);
  });

  it('pages of visitors', async () => {
    await inspectAll(await openTab(fixture().browser), visitorsPaths);
  });

  it('text is of the colours that the system forces, or has a background of ours', async () => {
    const { page, open } = await openSignedIn(fixture().seeded, undefined, { forcedColors: 'active' });
    for (const path of ['/', '/limits/new?type=budget', await requestPath()]) {
      await open(path);
      await waitUntilIdle(page);
      await screenshot(page, `forced${path.replaceAll('/', '-')}`);
      const bare = await page.evaluate<string[]>(`(() => {
        const isOurs = (element) => getComputedStyle(element).forcedColorAdjust === 'none';
        const isPainted = (element) => getComputedStyle(element).backgroundColor !== 'rgba(0, 0, 0, 0)';
        const hasBackground = (element) => isOurs(element) && (isPainted(element) || hasBackground(element.parentElement));
        return [...document.querySelectorAll('body *')]
          .filter((each) => isOurs(each) && each.checkVisibility() && [...each.childNodes].some(({ data }) => data?.trim()))
          .filter((each) => !hasBackground(each))
          .map(({ innerText }) => innerText);
      })()`);
      expect({ path, bare }).toEqual({ path, bare: [] });
    }
    // Shadows are gone, and backgrounds of a selection.
    const styleOf = (selector: string, name: string) =>
      page.evaluate(`getComputedStyle(document.querySelector('${selector}')).${name}`);
    expect(await styleOf('.mantine-Drawer-content', 'outlineStyle')).toBe('solid');
    expect(await styleOf('header nav a[data-active]', 'textDecorationLine')).toBe('underline');
  });

  it('every route is among them', async () => {
    const page = await openSeeded('/more');
    await page.locator('h1').waitFor();
    const routes = await page.evaluate<string[]>('Object.keys(__TSR_ROUTER__.routesByPath)');
    const paths = [visitorsPaths, ...Object.values(membersPaths)].flatMap((each) => Object.values(each));
    const seen = await Promise.all(paths.map(async (path) => (typeof path === 'string' ? path : path())));
    expect(routes.toSorted()).toEqual(
      [...new Set(seen.map((path) => routeOf(path, routes)).filter((route) => route !== undefined))].toSorted(),
    );
  });

  it('dialogs', async () => {
    const tab = await openSignedIn(fixture().seeded);
    const dialog = async (page: Page, opener: string, name: string) => {
      const button = page.getByRole('button', { name: opener }).first();
      await button.click();
      await page.getByRole('dialog').waitFor();
      const seen = await inspect(tab, name);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
      await button.and(page.locator(':focus')).waitFor();
      return seen;
    };
    const page = await tab.open('/keys');
    expect(await dialog(page, 'New key', 'dialog new key')).toEqual(good);
    expect(await dialog(page, 'Revoke', 'dialog revoke key')).toEqual(good);
    await tab.open(`/limits/${await firstId('/alert-rules', ({ id }) => id)}`);
    expect(await dialog(page, 'Delete', 'dialog delete rule')).toEqual(good);
    await tab.open('/');
    expect(await dialog(page, 'Dimensions', 'dialog dimensions')).toEqual(good);
  });
});
