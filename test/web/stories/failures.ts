import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { openBeside, openBrowser, openTab, screenshot, settled, until } from './browser/browser.ts';
import { type Dashboard, startDashboard } from './browser/dashboard.ts';
import { type ApiSession, newEmail, register, sendRequest, signedIn, signIn } from './browser/people.ts';

const SLOW_MS = 150_000;

let dashboard: Dashboard;
let browser: Browser;
let session: ApiSession;
const email = newEmail();

beforeAll(async () => {
  [dashboard, browser] = await Promise.all([startDashboard(), openBrowser()]);
  session = await register(dashboard, email);
  // What a client writes of its requests is shown, and is never more than text.
  await sendRequest(dashboard, session, { 'x-service-tag': '<img src=x onerror=alert(1)>' });
  await sendRequest(dashboard, session);
}, SLOW_MS);
afterAll(async () => {
  await browser?.close();
  await dashboard?.stop();
});

const API = '**/api/**';
const dataOnly = (url: URL) => url.pathname.startsWith('/api/') && !url.pathname.startsWith('/api/auth/');

const openSignedIn = async (prepare?: (page: Page) => Promise<unknown>) => {
  const tab = await openTab(browser);
  await signedIn(tab.page, dashboard, session);
  await prepare?.(tab.page);
  return tab;
};

const PAGES = ['/', '/requests', '/alerts', '/rules', '/keys', '/billing'] as const;

describe('with the API down', () => {
  it('every page says so, and comes back by itself or by a click', async () => {
    const { page, complaints } = await openSignedIn((each) => each.route(dataOnly, (route) => route.abort()));
    for (const path of PAGES) {
      await page.goto(`${dashboard.url}${path}`);
      await page.getByText('No connection to the API').first().waitFor({ timeout: 20_000 });
      await screenshot(page, `down${path.replace('/', '-')}`);
    }
    await page.unroute(dataOnly);
    await page.getByRole('button', { name: 'Try again' }).first().click();
    await page.getByText('of 10K requests').waitFor();
    expect(complaints).toEqual([]);
  }, 120_000);

  it('an answer of something in between is told as one that makes no sense', async () => {
    const { page } = await openSignedIn((each) =>
      each.route(dataOnly, (route) =>
        route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' }),
      ),
    );
    await page.goto(`${dashboard.url}/keys`);
    await page.getByText('The API gave an answer that makes no sense here.').first().waitFor({ timeout: 20_000 });
  });

  it('an error of the API is told in its own words, with the request to quote', async () => {
    const body = JSON.stringify({
      error: {
        code: 'INTERNAL',
        message: 'Something went wrong on our side.',
        type: 'gateway_error',
        requestId: 'req-7',
      },
    });
    const { page } = await openSignedIn((each) =>
      each.route(dataOnly, (route) => route.fulfill({ status: 500, contentType: 'application/json', body })),
    );
    await page.goto(`${dashboard.url}/rules`);
    await page.getByText('Something went wrong on our side.').first().waitFor({ timeout: 20_000 });
    await page.getByText('Request req-7').first().waitFor();
  });

  it('the pages themselves say when they cannot start', async () => {
    const { page } = await openSignedIn((each) =>
      each.route('**/config.json', (route) => route.fulfill({ status: 503 })),
    );
    await page.goto(dashboard.url);
    await page.getByText('The dashboard cannot start').waitFor();
  });
});

/** Sum of the layout shifts that no one caused by a click or key. @see https://web.dev/articles/cls */
const SHIFTS = `(() => {
  globalThis.shifts = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) globalThis.shifts += entry.value;
  }).observe({ type: 'layout-shift', buffered: true });
})()`;

describe('with the API slow', () => {
  it('there is a sketch of each page at once, and nothing jumps when the figures come', async () => {
    const { page } = await openSignedIn(async (each) => {
      await each.addInitScript(SHIFTS);
      await each.route(dataOnly, async (route) => {
        await new Promise((resolve) => setTimeout(resolve, 1_500));
        await route.continue();
      });
    });
    for (const path of PAGES) {
      await page.goto(`${dashboard.url}${path}`);
      await page.locator('h1').first().waitFor();
      await page.locator('.mantine-Skeleton-root').first().waitFor();
      await screenshot(page, `slow${path.replace('/', '-')}`);
      const sketches = page.locator('.mantine-Skeleton-root');
      await until(`the figures of ${path}`, async () => (await sketches.count()) === 0);
      await settled(page);
      expect({ path, shifts: (await page.evaluate<number>('globalThis.shifts')) < 0.1 }).toEqual({
        path,
        shifts: true,
      });
    }
  }, 120_000);
});

describe('with a token refused', () => {
  it('a new one is got without a word, and the refused request sent again', async () => {
    let refused = 0;
    const { page, complaints } = await openSignedIn((each) =>
      each.route('**/api/keys', async (route) => {
        if (refused++ > 0) return route.continue();
        return route.fulfill({ status: 401, contentType: 'application/json', body: '{"message":"Unauthorized"}' });
      }),
    );
    await page.goto(`${dashboard.url}/keys`);
    await page.getByText('default').first().waitFor();
    expect(refused).toBeGreaterThan(1);
    expect(complaints).toEqual([]);
  });

  it('and no new one to be had, one is signed out, told why, and brought back after signing in', async () => {
    const { page, complaints } = await openSignedIn();
    await page.goto(`${dashboard.url}/requests?provider=openai`);
    await page.locator('tbody a').first().waitFor();
    const unauthorized = { status: 401, contentType: 'application/json', body: '{"message":"Unauthorized"}' };
    await page.route(API, (route) => route.fulfill(unauthorized));
    await page.getByRole('link', { name: 'Alerts' }).first().click();
    await page.getByText('Your session has ended.').waitFor();
    await screenshot(page, 'expired');
    expect(await page.evaluate('JSON.stringify(Object.keys(sessionStorage))')).not.toContain('refresh-token');
    await page.unroute(API);
    await signIn(page, email);
    await page.getByRole('heading', { name: 'Alerts' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('signing out reaches every tab, and leaves nothing behind', async () => {
    const tab = await openSignedIn();
    await tab.page.goto(dashboard.url);
    await tab.page.getByRole('button', { name: 'Sign out' }).waitFor();
    const beside = await openBeside(tab);
    await beside.page.goto(`${dashboard.url}/keys`);
    await beside.page.getByRole('heading', { name: 'Keys' }).waitFor();
    await tab.page.getByRole('button', { name: 'Sign out' }).click();
    await tab.page.getByText('You are signed out').waitFor();
    await beside.page.getByText('You are signed out').waitFor();
    await beside.page.goto(`${dashboard.url}/keys`);
    await beside.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await beside.page.evaluate('JSON.stringify(Object.entries(localStorage))')).not.toMatch(/eyJ|token/);
  });

  it('a link that leads elsewhere after signing in is not followed', async () => {
    const { page } = await openTab(browser);
    await page.goto(`${dashboard.url}/sign-in?next=${encodeURIComponent('//elsewhere.example.com/')}`);
    await signIn(page, email);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(new URL(page.url()).origin).toBe(dashboard.url);
  });
});

describe('what a client sends', () => {
  it('is text, whatever it looks like', async () => {
    const { page, complaints } = await openSignedIn();
    await page.goto(`${dashboard.url}/requests`);
    await page.getByText('<img src=x onerror=alert(1)>').waitFor();
    await page.goto(`${dashboard.url}/?by=tag`);
    await page.getByRole('button', { name: '<img src=x onerror=alert(1)>' }).waitFor();
    expect(await page.locator('img').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('is behind a policy that lets nothing else run', async () => {
    const response = await fetch(dashboard.url, { headers: { accept: 'text/html', 'accept-encoding': 'br' } });
    const policy = response.headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy).not.toMatch(/unsafe|\*/);
    const { page } = await openTab(browser);
    await page.goto(dashboard.url);
    const attempt = `try { document.body.innerHTML = '<b>x</b>'; 'done' } catch (error) { error.name }`;
    expect(await page.evaluate(attempt)).toBe('TypeError');
  });
});
