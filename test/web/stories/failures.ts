import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { openBeside, screenshot, settled, type Tab, until } from '../browser/browser.ts';
import { house, openSignedIn } from '../browser/house.ts';
import { type ApiSession, register } from '../browser/people.ts';

const dataOnly = (url: URL) => url.pathname.startsWith('/api/') && !url.pathname.startsWith('/api/auth/');

const PAGES = ['/', '/requests', '/alerts', '/rules', '/keys', '/billing'] as const;

/** One tab of the same person for each page: what they wait for, they wait for at the same time. */
const inEveryPage = async (tab: Tab, story: (page: Page, path: string) => Promise<unknown>) => {
  const tabs = await Promise.all(PAGES.map(() => openBeside(tab)));
  await Promise.all(
    PAGES.map(async (path, index) => {
      const { page, complaints } = tabs[index] as Tab;
      await page.goto(`${house().dashboard.url}/favicon.svg`);
      await page.evaluate(`sessionStorage.setItem('refresh-token', ${JSON.stringify(house().seeded.refreshToken)})`);
      await story(page, path);
      expect({ path, complaints }).toEqual({ path, complaints: [] });
    }),
  );
};

describe('with the API down', () => {
  it('every page says so, and comes back at a click', async () => {
    const tab = await openSignedIn(house().seeded);
    await inEveryPage(tab, async (page, path) => {
      await page.route(dataOnly, (route) => route.abort());
      await page.goto(`${house().dashboard.url}${path}`);
      await page.getByText('No connection to the API').first().waitFor();
      await screenshot(page, `down${path.replace('/', '-')}`);
      await page.unroute(dataOnly);
      await page.getByRole('button', { name: 'Try again' }).first().click();
      await page.getByText('No connection to the API').first().waitFor({ state: 'hidden' });
    });
  });

  it('an answer of something in between is told as one that makes no sense', async () => {
    const { open } = await openSignedIn(house().seeded, (page) =>
      page.route(dataOnly, (route) =>
        route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' }),
      ),
    );
    const page = await open('/keys');
    await page.getByText('The API gave an answer that makes no sense here.').first().waitFor();
  });

  it('an error of the API is told in its own words, with the request to quote', async () => {
    const error = { code: 'INTERNAL', message: 'Something went wrong on our side.', requestId: 'req-7' };
    const body = JSON.stringify({ error: { ...error, type: 'gateway_error' } });
    const { open } = await openSignedIn(house().seeded, (page) =>
      page.route(dataOnly, (route) => route.fulfill({ status: 500, contentType: 'application/json', body })),
    );
    const page = await open('/rules');
    await page.getByText('Something went wrong on our side.').first().waitFor();
    await page.getByText('Request req-7').first().waitFor();
  });

  it('the pages themselves say when they cannot start', async () => {
    const { open } = await openSignedIn(house().seeded, (page) =>
      page.route('**/config.json', (route) => route.fulfill({ status: 503 })),
    );
    await (await open('/')).getByText('The dashboard cannot start').waitFor();
  });
});

describe('with a rule that was deleted elsewhere', () => {
  const api = async (session: ApiSession, method: string, path: string, body?: object) => {
    const response = await fetch(`${house().dashboard.url}/api${path}`, {
      method,
      headers: { authorization: `Bearer ${session.token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    expect(response.ok).toBe(true);
    return response;
  };
  const rule = {
    name: 'A day too dear',
    type: 'cost_threshold',
    config: { threshold: 5, period: 'daily' },
    channels: ['email'],
  };

  it.each([
    ['saving it', ['Save']],
    ['deleting it', ['Delete', 'Delete the rule']],
  ])('%s says that it is gone', async (_, clicks) => {
    const session = await register(house().dashboard);
    const { id } = (await (await api(session, 'POST', '/alert-rules', rule)).json()) as { readonly id: string };
    const { open } = await openSignedIn(session);
    const page = await open(`/rules/${id}`);
    await page.getByRole('heading', { name: rule.name }).waitFor();
    await api(session, 'DELETE', `/alert-rules/${id}`);
    for (const name of clicks) await page.getByRole('button', { name, exact: true }).click();
    await page.getByText('There is no such rule').waitFor();
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
    const tab = await openSignedIn(house().seeded);
    await inEveryPage(tab, async (page, path) => {
      const { promise: asked, resolve: answer } = Promise.withResolvers<void>();
      await page.addInitScript(SHIFTS);
      await page.route(dataOnly, async (route) => {
        await asked;
        // A page that has moved on no longer wants its answer.
        await route.continue().catch(() => {});
      });
      await page.goto(`${house().dashboard.url}${path}`);
      await page.locator('h1').first().waitFor();
      const sketches = page.locator('.mantine-Skeleton-root');
      await sketches.first().waitFor();
      await screenshot(page, `slow${path.replace('/', '-')}`);
      answer();
      await until(`the figures of ${path}`, async () => (await sketches.count()) === 0);
      await settled(page);
      const shifts = await page.evaluate<number>('globalThis.shifts');
      expect({ path, shifts: shifts < 0.1 ? 'few' : shifts }).toEqual({ path, shifts: 'few' });
    });
  });
});
