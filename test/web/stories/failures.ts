import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { SEED_USER } from '../../../local/seed/seed.ts';
import { register, signIn } from '../browser/accounts.ts';
import {
  changeResponses,
  chartOf,
  layoutShift,
  MAX_LAYOUT_SHIFT,
  openAnotherTab,
  openTab,
  screenshot,
  type Tab,
  takeBrowserErrors,
  waitUntil,
  waitUntilIdle,
  watchShifts,
} from '../browser/browser.ts';
import { addTrackingGap, callApi, fixture, openSignedIn, readApi } from '../browser/fixture.ts';

const dataOnly = (url: URL) => url.pathname.startsWith('/api/') && !url.pathname.startsWith('/api/auth/');

const PAGES = ['/', '/requests', '/alerts', '/limits', '/keys', '/billing'] as const;

/** The path with the id of an alert about cost. */
const withAlert = async (path: string) => {
  const { items } = await readApi<{ items: { id: string; unit: string }[] }>('/alerts?limit=50');
  return path.replace('{alert}', `${items.find(({ unit }) => unit === 'nanoUsd')?.id}`);
};

/** Runs a story in one tab per page, all at the same time. */
const inEveryPage = async (tab: Tab, story: (page: Page, path: string) => Promise<unknown>) => {
  const tabs = await Promise.all(PAGES.map(() => openAnotherTab(tab)));
  await Promise.all(
    PAGES.map(async (path, index) => {
      const { page } = tabs[index] as Tab;
      await page.goto(`${fixture().dashboard.url}/first-paint.css`);
      await page.evaluate(`sessionStorage.setItem('refresh-token', ${JSON.stringify(fixture().seeded.refreshToken)})`);
      await story(page, path);
    }),
  );
};

describe('with the API down', () => {
  it('every page reports it and recovers after a click', async () => {
    const tab = await openSignedIn(fixture().seeded);
    await inEveryPage(tab, async (page, path) => {
      await page.route(dataOnly, (route) => route.abort());
      await page.goto(`${fixture().dashboard.url}${path}`);
      await page.getByText('No connection to the API').first().waitFor();
      await screenshot(page, `down${path.replace('/', '-')}`);
      await page.unroute(dataOnly);
      await page.getByRole('button', { name: 'Try again' }).first().click();
      await page.getByText('No connection to the API').first().waitFor({ state: 'hidden' });
      await waitUntilIdle(page);
      expect({ path, problems: await page.getByText('No connection to the API').count() }).toEqual({
        path,
        problems: 0,
      });
    });
  });

  it('a range that is chosen without a network shows no figures of another, and loads when the network is back', async () => {
    const { open } = await openSignedIn(fixture().seeded, undefined, { locale: 'en-US' });
    const page = await open('/');
    await waitUntilIdle(page);
    const total = page.locator('#trend + div');
    const shown = await total.innerText();
    await page.context().setOffline(true);
    await page.getByRole('radiogroup', { name: 'Range' }).getByText('7 days').click();
    await page.getByText('No connection to the API').waitFor();
    await page.getByText('The figures of this range are not loaded').waitFor();
    expect(await total.innerText()).toBe('–');
    await screenshot(page, 'offline', true);
    await page.context().setOffline(false);
    await chartOf(page).waitFor();
    await waitUntilIdle(page);
    expect(await total.innerText()).toMatch(/^\$/);
    expect(await total.innerText()).not.toBe(shown);
  });

  const error = { code: 'INTERNAL', message: 'It failed on our side.', requestId: 'req-7', type: 'gateway_error' };
  const details = [{ path: 'from', message: 'must not be in the future' }];

  it.each([
    ['502', { contentType: 'text/html', body: '<h1>Bad gateway</h1>' }, ['The API sent an unexpected response.']],
    ['503', { headers: { 'Content-Length': '0' }, body: '' }, ['The API sent an unexpected response.']],
    ['200', { headers: { 'Content-Length': '0' }, body: '' }, ['The API sent an unexpected response.']],
    ['500', { json: { error } }, ['It failed on our side.', 'Request req-7']],
    ['400', { json: { error: { ...error, code: 'VALIDATION_ERROR', details } } }, ['from must not be in the future']],
  ])('the response %s is shown with all that it says', async (status, response, texts) => {
    const { open } = await openSignedIn(fixture().seeded, (page) =>
      page.route(dataOnly, (route) => route.fulfill({ status: Number(status), ...response })),
    );
    const page = await open('/limits');
    for (const text of texts) await page.getByText(text).first().waitFor();
  });

  it('a change that an error without a body refuses is not shown as made', async () => {
    const { open } = await openSignedIn(fixture().seeded, (page) =>
      page.route('**/api/savings/decisions', (route) =>
        route.fulfill({ status: 503, headers: { 'Content-Length': '0' }, body: '' }),
      ),
    );
    const page = await open('/savings');
    await page.getByRole('button', { name: 'Watch' }).filter({ visible: true }).first().click();
    await page.getByText('The finding is not watched').waitFor();
    expect(await page.getByText('The finding is watched').count()).toBe(0);
  });

  it.each([
    [
      'without a network',
      (page: Page) => page.context().setOffline(true),
      (page: Page) => page.context().setOffline(false),
    ],
    [
      'while the server is out of reach',
      (page: Page) => page.route(/./, (route) => route.abort()),
      (page: Page) => page.unroute(/./),
    ],
  ])('a page that is chosen %s says so, and loads when that is over', async (_, begin, end) => {
    const { open } = await openSignedIn(fixture().seeded, undefined, { locale: 'en-US' });
    const page = await open('/keys');
    await waitUntilIdle(page);
    await begin(page);
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Alerts' }).first().click();
    await page.getByText('The dashboard cannot be reached.').waitFor();
    await screenshot(page, 'offline-page');
    await end(page);
    await page.locator('.page').getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Alerts', exact: true }).waitFor();
    // Chromium does not ask again for a file that failed: the document is loaded again.
    expect(takeBrowserErrors()[0]).toContain('The dashboard cannot be reached.');
  });

  it('a part whose response never comes says so, and loads after a click', async () => {
    let reads = 0;
    const { open } = await openSignedIn(fixture().seeded, async (page) => {
      await page.clock.install();
      await page.route('**/api/invitations', (route) => {
        reads += 1;
        return reads === 1 ? undefined : route.continue();
      });
    });
    const page = await open('/members');
    await waitUntil('the invitations are asked for', async () => reads === 1);
    await page.clock.fastForward('01:01');
    const problem = page.getByRole('alert').filter({ hasText: 'The invitations could not be loaded' });
    await problem.getByText('The API did not respond in time.').waitFor();
    await problem.getByRole('button', { name: 'Try again' }).click();
    await problem.waitFor({ state: 'hidden' });
    expect(reads).toBe(2);
  });

  it('a part that failed says so beside the others, and waits as long as the API asks', async () => {
    let isBusy = true;
    const { promise: drawn, resolve: draw } = Promise.withResolvers<void>();
    const error = { code: 'RATE_LIMITED', message: 'Too many requests.', type: 'gateway_error', requestId: 'req-8' };
    const { open } = await openSignedIn(fixture().seeded, async (page) => {
      await page.clock.install();
      await page.route('**/api/budgets', async (route) => {
        await drawn;
        return isBusy
          ? route.fulfill({ status: 429, headers: { 'Retry-After': '40' }, json: { error } })
          : route.continue();
      });
    });
    const page = await open('/');
    await chartOf(page).waitFor();
    // The seconds count from here, however long the page took.
    draw();
    const problem = page.getByRole('alert').filter({ hasText: 'Could not be loaded: budgets' });
    await problem.getByRole('button', { name: /^Try again in \d\d s$/ }).waitFor();
    expect(await problem.getByRole('button').isDisabled()).toBe(true);
    await screenshot(page, 'part-failed', true);
    await page.clock.fastForward('00:40');
    const again = problem.getByRole('button', { name: 'Try again', exact: true });
    await again.waitFor();
    isBusy = false;
    await again.click();
    await problem.waitFor({ state: 'hidden' });
  });

  it('a part that failed is not shown as empty, and holds up no other', async () => {
    const fail = /\/api\/(bill-connections|dimensions)$/;
    const { open } = await openSignedIn(fixture().seeded, (page) =>
      page.route(fail, (route) => route.fulfill({ status: 500, json: { error } })),
    );
    const page = await open('/reconciliation');
    await page.getByText('The connections could not be loaded').waitFor();
    await page.getByText('No bill of OpenAI for these days').waitFor();
    expect(await page.getByText('Not connected').count()).toBe(0);
    await page.goto(`${fixture().dashboard.url}/`);
    await page.getByRole('button', { name: 'Dimensions' }).click();
    await page.getByText('The dimensions could not be loaded').waitFor();
    await page.getByRole('button', { name: 'Close' }).press('Enter');
    await page.locator('[aria-label="Dimensions"]:focus').waitFor();
  });

  it('the pages report that they cannot start', async () => {
    const { open } = await openSignedIn(fixture().seeded, (page) =>
      page.route('**/config.json', (route) => route.fulfill({ status: 503 })),
    );
    await (await open('/')).getByText('The dashboard cannot start').waitFor();
  });

  it('a browser that blocks cookies and site data is told to allow them', async () => {
    const { page } = await openTab(fixture().browser, { colorScheme: 'dark' });
    await page.addInitScript(`for (const name of ['localStorage', 'sessionStorage']) Object.defineProperty(globalThis, name, {
      get: () => { throw new DOMException('The operation is insecure.', 'SecurityError'); },
    })`);
    await page.goto(fixture().dashboard.url);
    await page.getByText('Your browser blocks cookies and site data here.').waitFor();
    await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
    const { page: full } = await openTab(fixture().browser);
    await full.addInitScript(
      "Storage.prototype.setItem = () => { throw new DOMException('The quota is 0.', 'QuotaExceededError'); }",
    );
    await full.goto(`${fixture().dashboard.url}/sign-in`);
    await signIn(full, SEED_USER.email, SEED_USER.password);
    await full.getByText('Your browser blocks cookies and site data here.').waitFor();
  });
});

describe('with what is not known', () => {
  const of = { requests: 3, costNanoUsd: null, costUsd: null, unpricedRequests: 3 };
  const exported = {
    ...{
      day: '2026-11-20',
      dataset: 'names',
      format: 'csv',
      rows: 1,
      bytes: 1,
      sha256: null,
      url: 'https://e.example/',
    },
    ...{ urlExpiresAt: '2026-11-20T12:00:00Z', exportedAt: '2026-11-20T12:00:00Z', requests: 3 },
    ...{ costNanoUsd: 0, unpricedRequests: 3 },
  };

  const session = {
    ...{ id: 's1', clients: [], firstHour: '2026-11-20T10', lastHour: '2026-11-20T11', agents: 1, requests: 4 },
    ...{ costNanoUsd: 5e9, unpricedRequests: 3, tokens: { inputTokens: 1, outputTokens: 1 } },
  };

  const ownLimit = {
    ...{ value: 'k', label: 'laptop', budgetId: 'b', budgetName: 'Developers', each: 'key', raise: null },
    ...{ limitNanoUsd: 20e9, usedNanoUsd: 0, remainingNanoUsd: 20e9, percentUsed: 0, unpricedRequests: 0 },
    ...{ period: { name: 'daily', start: '2026-11-20T00:00:00Z', end: '2026-11-21T00:00:00Z' }, isCounted: false },
  };

  const mailed = {
    ...{ channel: 'email', status: 'sent', attempts: 1, lastAttemptAt: '2026-11-20T12:00:00Z' },
    ...{ sentAt: '2026-11-20T12:00:00Z', error: 'not sent to ada@example.com (bounce)' },
  };

  it.each([
    ['/alerts/{alert}', 'alerts/[^/]+', { deliveries: [mailed] }, 'not sent to ada@example.com (bounce)'],
    ['/access', 'own-limits', { items: [ownLimit] }, 'Requests from before the limit are still being counted.'],
    ['/sessions', 'sessions', { items: [session] }, /\$5\.00\s*\+ 3 requests of unknown cost/],
    ['/alerts/{alert}', 'sessions', { items: [session] }, /\$5\.00\s*\+ 3 requests of unknown cost/],
    ['/requests', 'requests', { unreadableRequests: 3 }, '3 requests not listed: this version cannot read'],
    ['/compare', 'spend/compare', { mayAlsoMatch: of }, 'Up to 3 more requests of unknown cost may match the filter'],
    ['/savings', 'savings', { isComplete: false }, 'Not all requests could be read'],
    ['/exports', 'exports', { items: [exported] }, /unknown\s*\+ 3 requests of unknown cost/],
    [
      '/reconciliation',
      'reconciliation/openai',
      { unpricedRequests: 3 },
      /unknown \+ 3 requests of unknown cost is on/,
    ],
  ])('%s says so', async (path, operation, changes, text) => {
    const nothing = path === '/reconciliation' && { billedDays: 0, recordedNanoUsd: 0 };
    const { open } = await openSignedIn(fixture().seeded, (page) =>
      changeResponses(page, new RegExp(`/api/${operation}([?]|$)`), () => ({ ...changes, ...nothing })),
    );
    await (await open(await withAlert(path))).getByText(text).first().waitFor();
  });
});

describe('a part of a page', () => {
  const failed = { status: 500, json: { error: { code: 'INTERNAL', message: 'It failed.', type: 'gateway_error' } } };
  const openWith = async (
    path: string,
    responses: Readonly<Record<string, typeof failed | { readonly json: object }>>,
  ) =>
    (
      await openSignedIn(fixture().seeded, async (page) => {
        for (const [of, response] of Object.entries(responses))
          await page.route(`**/api${of}`, (route) => route.fulfill(response));
      })
    ).open(path);

  it.each([
    ['/access', '/budgets', 'The budgets could not be loaded'],
    ['/members', '/invitations', 'The invitations could not be loaded'],
    ['/access', '/auth/me', 'Your user could not be loaded'],
    ['/alerts/{alert}', '/budgets', 'The limit of this alert could not be loaded'],
    ['/requests', '/budgets', 'Could not be loaded: budgets'],
    ['/requests', '/pauses', 'Could not be loaded: pauses'],
    ['/requests', '/alerts?*', 'Could not be loaded: alerts'],
    ['/audit', '/keys', 'Could not be loaded: keys'],
    ['/limits', '/projects', 'Could not be loaded: projects'],
    ['/savings', '/members', 'Could not be loaded: members'],
    ['/reconciliation', '/prices', 'Could not be loaded: prices'],
    ['/keys', '/spend?*groupBy=key*', 'The keys’ spend could not be loaded'],
    ['/keys', '/spend?*groupBy=project*', 'The projects’ spend could not be loaded'],
  ])('of %s that needs %s says that it failed', async (path, of, text) => {
    const page = await openWith(await withAlert(path), { [of]: failed });
    const problem = page.getByRole('alert').filter({ hasText: text });
    await problem.waitFor();
    await page.unrouteAll();
    await problem.getByRole('button', { name: 'Try again' }).click();
    await problem.waitFor({ state: 'hidden' });
  });

  it.each([
    ['/keys', '/projects', 'The projects could not be loaded'],
    ['/limits', '/pauses', 'Pauses could not be loaded'],
    ['/', '/budgets', 'Could not be loaded: budgets'],
    ['/access', '/budgets', 'The budgets could not be loaded'],
    ['/access', '/keys', 'Your keys could not be loaded'],
    ['/alerts/{alert}', '/budgets', 'The limit of this alert could not be loaded'],
  ])('of %s that lists %s says once that it failed', async (path, of, text) => {
    const page = await openWith(await withAlert(path), { [of]: failed });
    await page.getByText(text).waitFor();
    await waitUntilIdle(page);
    expect(await page.getByRole('alert').count()).toBe(1);
  });

  it.each([
    ['/limits/new', 'alert-rules/preview', 'The rule could not be tested', /^It would/],
    [
      '/limits',
      'access-rules/preview',
      'The rule could not be tested',
      /^In the last 30 days/,
      'Set what keys may call',
    ],
    ['/billing', 'billing/prices', 'The prices could not be loaded', /^\$199 a month/],
    [
      '/keys',
      'spend?*granularity=hour*key=*',
      'What it would have refused could not be loaded',
      /^In the last 24 hours/,
      'Pause default',
    ],
  ])('of %s that needs %s says that it failed, and loads after a click', async (path, of, title, text, opens = '') => {
    const page = await openWith(path, { [`/${of}`]: failed });
    if (opens) await page.getByRole('button', { name: opens, exact: true }).click();
    if (opens.startsWith('Set')) await page.getByLabel('Highest price of one request').fill('1');
    const problem = page.getByRole('alert').filter({ hasText: title });
    await problem.waitFor();
    await page.unrouteAll();
    await problem.getByRole('button', { name: 'Try again' }).click();
    await page.getByText(text).waitFor();
  });

  it.each([
    ['today', '/spend?*granularity=hour', [/^Today/], [/ so far$/, /^Forecast for /]],
    ['the month', '/spend?*granularity=day', [/ so far$/, /^Forecast for /], [/^Today/]],
  ])('whose figures of %s failed shows the others, and waits for nothing', async (_, of, failing, others) => {
    const page = await openWith('/', { [of]: failed });
    await page.getByText('The figures could not be loaded').waitFor();
    await chartOf(page).waitFor();
    for (const tile of others) await page.getByText(tile).waitFor();
    for (const tile of failing) expect(await page.getByText(tile).count()).toBe(0);
    await waitUntilIdle(page);
  });

  it('that cannot tell whether an account is new says why', async () => {
    const { open } = await openSignedIn(await register(fixture().dashboard), (page) =>
      page.route('**/api/spend?*granularity=month', (route) => route.fulfill(failed)),
    );
    const page = await open('/');
    await page.getByText('The figures could not be loaded').waitFor();
    await waitUntilIdle(page);
  });

  it('that chooses from lists that failed says so in each', async () => {
    const lists = ['/keys', '/projects', '/members', '/dimensions'];
    const page = await openWith('/limits/new', Object.fromEntries(lists.map((list) => [list, failed])));
    for (const [label, things] of [
      ['Dimension', 'dimensions'],
      ['Service key', 'keys'],
      ['Project', 'projects'],
      ['Member', 'members'],
    ] as const) {
      await page.getByRole('combobox', { name: label, exact: true }).click();
      const option = page.getByRole('option', { name: `(${things} could not be loaded)` });
      await option.waitFor();
      expect(await option.getAttribute('data-combobox-disabled')).toBe('true');
      await page.keyboard.press('Escape');
    }
    await page.goto(`${fixture().dashboard.url}/requests`);
    await page.getByRole('combobox', { name: 'Service key' }).click();
    await page.getByRole('option', { name: '(keys could not be loaded)' }).waitFor();
    await page.goto(`${fixture().dashboard.url}/compare`);
    await page.locator('option', { hasText: '(dimensions could not be loaded)' }).waitFor({ state: 'attached' });
  });

  it('whose file does not come says so, and the page around it stays', async () => {
    // The note of refusals at the bottom of the window must not cover it.
    const items = ['a', 'b', 'c', 'd'].map((id) => ({ id, name: id, scope: {}, until: null }));
    const page = await openWith('/keys', { '/pauses': { json: { items } } });
    await page.getByText('paused, d.').waitFor();
    await waitUntilIdle(page);
    await page.route('**/assets/**', (route) => route.abort());
    await page.keyboard.press('Control+k');
    const problem = page.getByText('A part of this page could not be loaded');
    await problem.waitFor();
    await page.route(/./, (route) => route.abort());
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByText('The dashboard cannot be reached.').waitFor();
    await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Reload' }).click();
    await problem.waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor();
  });

  it('that names projects and members without their lists takes nobody for one who left', async () => {
    const page = await openWith('/keys', { '/projects': failed, '/members': failed, '/auth/me': failed });
    await page.getByText('The projects could not be loaded').waitFor();
    await waitUntilIdle(page);
    expect(await page.getByText('former member').count()).toBe(0);
  });

  it('whose user is not known claims nothing of the role, and waits for nothing', async () => {
    const page = await openWith('/limits/new', { '/auth/me': failed });
    await page.getByText('Your user could not be loaded').waitFor();
    expect(await page.getByText('Your role does').count()).toBe(0);
    await page.goto(`${fixture().dashboard.url}/settings`);
    await page.getByText('Your user could not be loaded').waitFor();
    await page.getByText('It is off.').first().waitFor();
    expect(await page.getByText(/[Tt]he owner/).count()).toBe(0);
    for (const path of ['/settings', '/profile', '/connect', '/limits', '/access', '/authorize']) {
      await page.goto(`${fixture().dashboard.url}${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.getByText('Your user could not be loaded').waitFor();
      await page.locator('.mantine-Skeleton-root').first().waitFor({ state: 'hidden' });
    }
  });

  it('that says what is refused leaves room for the page, and can be closed, however much that is', async () => {
    const pause = { scope: { tag: 'batch' }, createdAt: '2026-11-20T12:00:00.000Z', until: null, createdBy: null };
    const items = Array.from({ length: 20 }, (_, i) => ({ ...pause, id: `pause-${i}`, name: 'x'.repeat(100) }));
    const page = await openWith('/limits', { '/pauses': { json: { items } } });
    await page.setViewportSize({ width: 320, height: 700 });
    await page.getByText(': paused, x').first().waitFor();
    expect(
      (await page.getByRole('region', { name: 'Refused requests' }).locator('..').boundingBox())?.height,
    ).toBeLessThan(351);
    const close = await page.getByRole('button', { name: 'Dismiss for me' }).boundingBox();
    expect((close?.x ?? 0) + (close?.width ?? 0)).toBeLessThan(321);
  });

  it.each([
    [1280, 860],
    [390, 700],
  ])('is not under that note where the keyboard leads to it, %i pixels wide', async (width, height) => {
    const pause = { scope: { tag: 'batch' }, createdAt: '2026-11-20T12:00:00.000Z', until: null, createdBy: null };
    const page = await openWith('/exports', { '/pauses': { json: { items: [{ ...pause, id: 'p', name: 'Batch' }] } } });
    await page.setViewportSize({ width, height });
    await page.getByRole('region', { name: 'Refused requests' }).waitFor();
    await waitUntilIdle(page);
    await page.getByRole('region', { name: 'Exported days' }).focus();
    const note = await page.getByRole('region', { name: 'Refused requests' }).boundingBox();
    for (let link = 0; link < 40; link++) {
      await page.keyboard.press('Tab');
      const bottom = await page.evaluate<number>('document.activeElement.getBoundingClientRect().bottom');
      expect(bottom).toBeLessThanOrEqual(note?.y ?? 0);
    }
  });

  it('is not covered by that note or the menu in a window as low as at 400 %', async () => {
    const pause = { scope: { tag: 'batch' }, createdAt: '2026-11-20T12:00:00.000Z', until: null, createdBy: null };
    const page = await openWith('/exports', { '/pauses': { json: { items: [{ ...pause, id: 'p', name: 'Batch' }] } } });
    await page.setViewportSize({ width: 320, height: 256 });
    const note = page.getByRole('region', { name: 'Refused requests' });
    await note.waitFor();
    await waitUntilIdle(page);
    expect(await page.evaluate("document.elementFromPoint(160, 250).closest('.page') !== null")).toBe(true);
    await note.getByRole('link').scrollIntoViewIfNeeded();
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Alerts' }).last().click();
    await page.getByRole('heading', { name: 'Alerts', exact: true }).waitFor();
  });

  it('for a role that does not read rules does not say that it does', async () => {
    const me = await readApi<{ readonly user: object }>('/auth/me');
    const user = { ...me.user, role: 'billing', permissions: ['spend:read', 'keys:read'] };
    const page = await openWith('/limits/new', { '/auth/me': { json: { ...me, user } } });
    await page.getByText('Your role does not change rules. Members and admins do.').waitFor();
    await page.goto(`${fixture().dashboard.url}/reports/new`);
    await page
      .getByText('Your role does not change reports. Members and admins who see the whole account do.')
      .waitFor();
    await page.goto(`${fixture().dashboard.url}/connect`);
    await page.getByText('Owners and admins create them.').waitFor();
    expect(await page.getByRole('link', { name: 'Create a token' }).count()).toBe(0);
  });

  it('with a list has no column that would be empty for a role that only reads', async () => {
    const me = await readApi<{ readonly user: object }>('/auth/me');
    const permissions = ['spend:read', 'spend:read-all', 'requests:read', 'rules:read', 'reports:read', 'keys:read'];
    const user = { ...me.user, role: 'viewer', permissions: [...permissions, 'members:read'] };
    const at = '2026-11-20T23:30:00.000Z';
    const item = { id: 'i', name: 'Batch', email: 'ada@example.com', createdAt: at, validUntil: at };
    const list = (members: object) => ({ json: { items: [{ ...item, ...members }] } });
    const page = await openWith('/limits', {
      '/auth/me': { json: { ...me, user } },
      '/pauses': list({ scope: { tag: 'batch' }, until: null, ruleId: null }),
      '/access-rules': list({ scope: {}, allowed: null, denied: ['openai/*'], maxRequestUsd: null }),
      '/prices': list({ terms: { kind: 'discount', percent: 5 }, from: at, until: null, credential: null, months: [] }),
      '/destinations': list({ url: 'https://a.example', type: 'otlp', isActive: true, failures: 0, sentAt: at }),
      '/invitations': list({ role: 'viewer', projects: null, status: 'pending' }),
    });
    const alert = await withAlert('/alerts/{alert}');
    for (const path of ['/limits', '/prices', '/exports', '/members', '/keys', alert]) {
      await page.goto(`${fixture().dashboard.url}${path}`);
      await waitUntilIdle(page);
      const empty = await page.evaluate<string[]>(`[...document.querySelectorAll('table')].flatMap((table) =>
        [...table.querySelectorAll('th')].flatMap(({ innerText, cellIndex }) =>
          [...table.querySelectorAll('tbody tr')].some(({ cells }) => cells[cellIndex]?.innerHTML) ? [] : [innerText]))`);
      expect({ path, empty }).toEqual({ path, empty: [] });
    }
  });

  it.each([
    ['a list', '/audit', '/audit?*', undefined],
    ['a change', '/savings', '/savings/decisions', 'Watch'],
  ])('of which %s is refused offers what the user may do now', async (_, path, operation, button) => {
    const me = await readApi<{ readonly user: object }>('/auth/me');
    const refusal = { ...failed.json.error, code: 'FORBIDDEN' };
    let reads = 0;
    const { open } = await openSignedIn(fixture().seeded, async (page) => {
      await page.route(`**/api${operation}`, (route) => route.fulfill({ status: 403, json: { error: refusal } }));
      await page.route('**/api/auth/me', (route) => {
        reads += 1;
        // The first is that of the page.
        return route.fulfill({ json: reads === 1 ? me : { ...me, user: { ...me.user, permissions: ['rules:read'] } } });
      });
    });
    const page = await open(path);
    const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link').filter({ visible: true });
    if (button) await page.getByRole('button', { name: button }).filter({ visible: true }).first().click();
    await waitUntil('alerts and limits', async () => (await links.count()) === 2);
    await waitUntilIdle(page);
    await screenshot(page, `refused${path.replace('/', '-')}`);
    expect(reads).toBe(2);
  });

  it.each([
    ['/keys', '/keys', 'New key', 'Create the key', 'The key was not created'],
    ['/keys', '/keys/*', 'Edit default', 'Save', 'It was refused'],
  ])(
    'of %s says in a dialog that a change of %s is refused since the role changed',
    async (path, of, opens, save, why) => {
      const me = await readApi<{ readonly user: object }>('/auth/me');
      const page = await openWith(path, {});
      await page.route(`**/api${of}`, (route) =>
        route.request().method() === 'GET'
          ? route.continue()
          : route.fulfill({ status: 403, json: { error: { ...failed.json.error, code: 'FORBIDDEN' } } }),
      );
      await page.getByRole('button', { name: opens, exact: true }).click();
      const name = page.getByRole('dialog').getByLabel('Name');
      await name.fill('Nightly');
      const permissions = ['spend:read', 'keys:read', 'rules:read'];
      await page.route('**/api/auth/me', (route) =>
        route.fulfill({ json: { ...me, user: { ...me.user, permissions } } }),
      );
      await page.getByRole('button', { name: save, exact: true }).click();
      await page.getByText(why).waitFor();
      await page.getByRole('navigation', { name: 'Pages' }).getByText('Account').waitFor({ state: 'detached' });
      await page.getByText(why).waitFor();
      if (opens === 'New key') expect(await name.inputValue()).toBe('Nightly');
    },
  );

  it('shows what a user may do since their role gained it, on the next page', async () => {
    const me = await readApi<{ readonly user: object }>('/auth/me');
    const page = await openWith('/alerts', {
      '/auth/me': { json: { ...me, user: { ...me.user, permissions: ['rules:read'] } } },
    });
    await page.clock.install();
    await page.reload();
    await waitUntilIdle(page);
    await page.unroute('**/api/auth/me');
    await page.clock.fastForward('01:01');
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Limits' }).first().click();
    await page.getByRole('link', { name: 'New limit' }).waitFor();
  });

  it('shows a role without the list of members no ids of theirs, and offers no bill to connect', async () => {
    const { user, ...me } = await readApi<{ readonly user: { readonly userId: string } }>('/auth/me');
    const permissions = ['spend:read', 'spend:read-all', 'keys:read'];
    const page = await openWith('/keys', {
      '/auth/me': { json: { ...me, user: { ...user, userId: 'u', permissions } } },
    });
    await page.getByText('a member', { exact: true }).first().waitFor();
    expect(await page.getByText(user.userId).count()).toBe(0);
    await page.goto(`${fixture().dashboard.url}/reconciliation?provider=mistral`);
    await page.getByText('is on record.').waitFor();
    expect(await page.getByText('Connect the bill').count()).toBe(0);
  });

  it('shows a role why it sees no limits, offers no price that it may not set, and says nothing of the currency', async () => {
    const { user, ...me } = await readApi<{ readonly user: object }>('/auth/me');
    const permissions = ['spend:read', 'keys:read'];
    const refusal = {
      error: { code: 'FORBIDDEN', message: 'Your role lacks the permission rules:read.', requestId: 'r' },
    };
    const page = await openWith('/limits', {
      '/auth/me': { json: { ...me, user: { ...user, permissions } } },
      '/alert-rules': { status: 403, json: refusal },
    });
    await page.getByText('Your role lacks the permission rules:read.').waitFor();
    await page.locator('.mantine-Skeleton-root').first().waitFor({ state: 'hidden' });
    await page.goto(`${fixture().dashboard.url}/?by=model&provider=%5B%22fireworks%22%5D`);
    await page.getByRole('button', { name: 'accounts/acme/models/support-v2' }).waitFor();
    expect(await page.getByRole('link', { name: 'Set its price' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Zone and currency' }).click();
    await page.getByRole('dialog').getByText('They are yours').waitFor();
    expect(await page.getByRole('dialog').getByText('no currency').count()).toBe(0);
    expect(await page.getByRole('dialog').getByRole('link').count()).toBe(0);
  });

  it('that changes or removes a member says what becomes of keys and tokens, also where it cannot list them', async () => {
    const me = await readApi<{ readonly user: object }>('/auth/me');
    const member = { ...me.user, userId: 'u', email: 'grace@example.com', role: 'admin', projects: null };
    const page = await openWith('/members', {
      '/members': { json: { items: [member] } },
      '/keys': failed,
      '/tokens': failed,
    });
    await page.setViewportSize({ width: 320, height: 700 });
    const role = page.getByRole('combobox', { name: 'Role of grace@example.com' });
    expect((await role.boundingBox())?.width).toBeGreaterThan(100);
    expect((await page.getByText('grace@example.com', { exact: true }).boundingBox())?.height).toBeLessThan(30);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route('**/api/keys', async (route) => {
      await released;
      return route.fulfill(failed);
    });
    await page.reload();
    await page.getByRole('button', { name: 'Remove' }).click();
    // Nobody removes a member before it is known what they made.
    await page.getByRole('dialog').locator('[data-loading]').first().waitFor();
    release();
    await page.getByText('Their keys could not be loaded: all stay active').waitFor();
    await page.getByText('Their API tokens could not be loaded: all are revoked').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    const tokens = ['gone', 'kept'].map((name) => ({ id: name, name, role: 'admin', isRevoked: name === 'gone' }));
    await page.route('**/api/members/u', (route) => route.fulfill({ json: { ...member, role: 'viewer', tokens } }));
    await role.selectOption('viewer');
    await page.getByText('is admin no more. Tokens revoked: gone. Still in use: kept.').waitFor();
  });

  it('to connect a program shows how without the names of keys, and does not say what it cannot know', async () => {
    const page = await openWith('/connect', { '/keys': failed, '/tokens': failed, '/requests?*': failed });
    // Whole, since there is nothing to hide in it.
    await page.getByLabel('curl snippet').getByText('YOUR_SERVICE_KEY').waitFor();
    expect(await page.getByRole('button', { name: 'Show the key' }).count()).toBe(0);
    expect(await page.getByText('not seen yet').count()).toBe(0);
  });

  it('to review what was made lists API tokens, too, at the reader’s times', async () => {
    const made = { id: 'x', createdAt: '2026-11-20T23:30:00.000Z', lastUsedAt: null };
    const json = {
      since: made.createdAt,
      keys: [{ ...made, name: 'metrics', maskedKey: 'svc_1…2', lastUsedAt: '2026-11-21T08:00:00.000Z' }],
      tokens: [{ ...made, name: 'nightly', maskedToken: 'sat_1…2' }],
    };
    const page = await openWith('/review', { '/auth/review': { json } });
    const items = page.getByRole('main').getByRole('listitem');
    await items.first().waitFor();
    expect(await items.allInnerTexts()).toEqual([
      'metrics svc_1…2, made Nov 21, 12:30 AM, last used Nov 21, 9:00 AM',
      'nightly sat_1…2, made Nov 21, 12:30 AM, never used',
    ]);
    const none = { since: made.createdAt, keys: [], tokens: [] };
    const empty = await openWith('/review', { '/auth/review': { json: none } });
    await empty.getByText('None was made since Nov 21, 12:30 AM.').waitFor();
  });
});

describe('rows', () => {
  const two = (item: object) => ['1', '2'].map((id) => ({ ...item, id }));
  const at = '2026-11-20T23:30:00.000Z';
  const since = { costNanoUsd: 1e9, costBeforeNanoUsd: 1e9, effects: null, from: at, to: at };
  const finding = { kind: 'dear_remainder', decision: 'watched', reason: null, by: 'ada', at, since };

  it.each([
    ['/members', '/members', { firstName: 'Ada', lastName: 'L', role: 'member', projects: null, createdAt: at }],
    ['/members', '/invitations', { role: 'member', projects: null, status: 'pending', validUntil: at }],
    ['/keys', '/projects', { isDefault: false, keys: [] }],
    ['/limits', '/access-rules', { scope: {}, allowed: null, denied: ['openai/*'], maxRequestUsd: null }],
    [
      '/raises',
      '/raises',
      {
        ...{ budgetName: 'Developers', each: 'key', amount: 9, reason: 'So', limitNanoUsd: 1, usedNanoUsd: 1 },
        ...{ askedBy: { userId: 'u', name: 'Ada' }, askedAt: at, status: 'pending', decidedBy: null, granted: null },
      },
    ],
    [
      '/savings',
      '/savings',
      { ...finding, nanoUsdPerMonth: 1e9, certainty: 'exact', arithmetic: '', requestIds: ['r'] },
    ],
    ['/settings', '/account/archives', { status: 'ready', progress: 100, bytes: 1, availableUntil: at }],
    [
      '/alerts',
      '/alerts?*',
      {
        ...{
          type: 'cost_threshold',
          unit: 'requests',
          event: 'threshold',
          status: 'triggered',
          ruleName: 'Daily limit',
        },
        ...{
          figure: 2,
          limit: 1,
          period: { name: 'daily', start: at, end: at },
          triggeredAt: at,
          summary: '',
          ruleId: null,
        },
        ...{ unpricedRequests: 0, mayAlsoMatch: null, contributors: [], deliveries: [] },
      },
    ],
    [
      '/access',
      '/own-limits',
      {
        ...{ budgetId: 'b', each: 'key', limitNanoUsd: 9e9, usedNanoUsd: 0, remainingNanoUsd: 9e9, percentUsed: 0 },
        ...{ unpricedRequests: 0, period: { end: at }, raise: null, isCounted: true },
      },
    ],
  ])(
    'of %s that come from %s have buttons and links whose names say which row they are of',
    async (path, of, shared) => {
      const items = two(shared).map((item, index) => ({
        ...item,
        ...{ name: item.id, userId: item.id, email: `${item.id}@example.com`, label: item.id, value: item.id },
        ...{ budgetName: item.id, requestedAt: `2026-11-2${index}T23:30:00.000Z`, scope: { tag: item.id } },
        ...('period' in item && { period: { ...(item.period as object), start: `2026-11-2${index}T00:00:00.000Z` } }),
      }));
      const { open } = await openSignedIn(fixture().seeded, (page) =>
        changeResponses(page, `**/api${of}`, () => ({ items, decided: items })),
      );
      const page = await open(path);
      await waitUntilIdle(page);
      const names = await page.evaluate<string[]>(
        `[...document.querySelectorAll('.page :is(button, a[href^="/limits/new"])')].filter((each) => each.checkVisibility()).map((each) => each.ariaLabel ?? each.innerText)`,
      );
      expect(names.length).toBeGreaterThan(1);
      expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
      const links = await page.evaluate<[name: string, href: string][]>(
        `[...document.querySelectorAll('.page tr a[href]')].filter((each) => each.checkVisibility()).map((each) => [each.ariaLabel ?? each.innerText, each.href])`,
      );
      // A figure says nothing without its row.
      const named = links.filter(([name]) => !/^[$€]/.test(name));
      expect(named.filter(([name, href]) => named.some((other) => other[0] === name && other[1] !== href))).toEqual([]);
    },
  );
});

it.each([
  ['/members', '/invitations', 'Invitations', 'Revoke', undefined],
  ['/tokens', '/tokens', 'API tokens', 'Revoke', 'Revoke the token'],
])('the focus stays at the list of %s when its row goes by keyboard', async (path, of, list, action, confirm) => {
  const row = (id: string) => ({
    ...{ id, name: id, email: id, role: 'viewer', projects: null, status: 'pending', maskedToken: 'sat_1…2' },
    ...{ validUntil: '2027-11-20T12:00:00.000Z', expiresAt: '2027-11-20T12:00:00.000Z', lastUsedAt: null },
  });
  let items = [row('first'), row('second')];
  const { open } = await openSignedIn(fixture().seeded, async (page) => {
    await page.route(`**/api${of}`, (route) => route.fulfill({ json: { items } }));
    await page.route(`**/api${of}/second`, (route) => {
      items = [row('first')];
      return route.fulfill({ status: 204 });
    });
  });
  const page = await open(path);
  await page.getByRole('button', { name: `${action} second` }).press('Enter');
  if (confirm) await page.getByRole('button', { name: confirm }).press('Enter');
  await page.getByRole('button', { name: `${action} second` }).waitFor({ state: 'detached' });
  await waitUntilIdle(page);
  expect(await page.evaluate('document.activeElement.ariaLabel')).toBe(list);
});

it('a project that is being deleted shows no wait at another', async () => {
  const { open } = await openSignedIn(fixture().seeded, async (page) => {
    await page.route('**/api/projects/*', () => {});
    await changeResponses(page, '**/api/projects', ({ items }) => {
      const empty = ['first', 'second'].map((name) => ({ ...items[0], id: name, name, isDefault: false, keys: [] }));
      return { items: [...items, ...empty] };
    });
  });
  const page = await open('/keys');
  await page.getByRole('button', { name: 'Delete first' }).click();
  await page.locator('[aria-label="Delete first"][data-loading]').waitFor();
  expect(await page.getByRole('button', { name: 'Delete second' }).getAttribute('data-loading')).toBeNull();
});

it('a link below another is far enough from it to touch', async () => {
  const page = await (await openSignedIn(fixture().seeded)).open('/keys');
  await page.getByRole('link', { name: 'Set a limit' }).first().waitFor();
  const middles = await page.evaluate<number[]>(
    `[...[...document.querySelectorAll('td')].find(({ innerText }) => innerText.includes('Set a limit')).querySelectorAll('a')]
      .map((link) => link.getBoundingClientRect()).map(({ top, bottom }) => (top + bottom) / 2)`,
  );
  // WCAG 2.5.8.
  expect((middles[1] ?? 0) - (middles[0] ?? 0)).toBeGreaterThanOrEqual(24);
});

it('the buttons that show passwords say which', async () => {
  const page = await (await openSignedIn(fixture().seeded)).open('/profile');
  await page.getByLabel('New address').waitFor();
  const names = await page.evaluate<string[]>(
    `[...document.querySelectorAll('.page button[aria-pressed]')].map(({ ariaLabel }) => ariaLabel)`,
  );
  expect(names.length).toBe(4);
  expect(new Set(names).size).toBe(4);
});

it('a column of bars has no empty heading', async () => {
  const page = await (await openSignedIn(fixture().seeded)).open('/compare');
  await page.getByRole('region', { name: 'Changed groups' }).getByRole('row').nth(1).waitFor();
  expect(await page.locator('th:empty').count()).toBe(0);
});

it('a long word in a reason leaves a table as wide as its page', async () => {
  const { open } = await openSignedIn(fixture().seeded, (page) =>
    changeResponses(page, '**/api/savings', ({ items: [{ kind, scope }] }) => {
      const decision = {
        decision: 'dismissed',
        reason: `https://tickets.example/${'w'.repeat(300)}`,
        by: 'ada@example.com',
      };
      const rest = { at: '2026-11-20T23:30:00.000Z', since: null, nanoUsdPerMonth: null };
      return { decided: [{ id: 'd', kind, scope, ...decision, ...rest }] };
    }),
  );
  const page = await open('/savings');
  await page.getByRole('region', { name: 'Watched and dismissed' }).waitFor();
  const isWider = `[...document.querySelectorAll('.scroll-x')].some(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)`;
  expect(await page.evaluate<boolean>(isWider)).toBe(false);
});

it('the table of groups has room for costs of nine digits next to the other cards', async () => {
  const { open } = await openSignedIn(
    fixture().seeded,
    (page) =>
      changeResponses(page, '**/api/spend?*', ({ groups }) => ({
        groups: groups.map((group: object) => ({ ...group, costNanoUsd: 1_234_567_890_000_000 })),
      })),
    { viewport: { width: 1024, height: 860 } },
  );
  const groups = (await open('/')).getByRole('region', { name: 'Groups' });
  await groups.getByText('$1,234,567.89').first().waitFor();
  expect(await groups.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
});

it('an invited address on a small phone has a line before its @ and one after', async () => {
  const invitation = { id: 'i', email: 'grace.hopper@navy.example.com', role: 'developer', projects: null };
  const { open } = await openSignedIn(
    fixture().seeded,
    (page) =>
      changeResponses(page, '**/api/invitations', () => ({
        items: [{ ...invitation, status: 'pending', validUntil: '2026-12-06T10:00:00.000Z' }],
      })),
    { viewport: { width: 320, height: 860 } },
  );
  const address = (await open('/members')).getByText(invitation.email);
  const lines = await address.evaluate(({ ownerDocument, childNodes: [person, , , host] }) =>
    [person, host].map((text) => {
      const range = ownerDocument.createRange();
      range.selectNode(text as NonNullable<typeof text>);
      return range.getClientRects().length;
    }),
  );
  expect(lines).toEqual([1, 1]);
});

describe('with a rule that was deleted elsewhere', () => {
  const rule = {
    name: 'Daily limit',
    type: 'cost_threshold',
    config: { threshold: 5, period: 'daily' },
    channels: ['email'],
  };

  it.each([
    ['saving it', ['Save']],
    ['deleting it', ['Delete', 'Delete the rule']],
  ])('%s reports that it no longer exists', async (_, clicks) => {
    const session = await register(fixture().dashboard);
    const { id } = await readApi<{ readonly id: string }>('/alert-rules', rule, session);
    const { open } = await openSignedIn(session);
    const page = await open(`/rules/${id}`);
    await page.getByRole('heading', { name: rule.name }).waitFor();
    await callApi('DELETE', `/alert-rules/${id}`, undefined, session);
    await page.getByLabel('Name').fill('Weekly limit');
    for (const name of clicks) await page.getByRole('button', { name, exact: true }).click();
    await page.getByText('Limit not found').waitFor();
    await page.getByText('It was deleted, or you do not see its part of the account.').waitFor();
  });
});

it('a dialog about what was deleted elsewhere goes with its row, and the page says why', async () => {
  const session = await register(fixture().dashboard);
  const price = { name: 'Contract', from: '2026-11-01T00:00:00.000Z', terms: { kind: 'discount', percent: 5 } };
  const { id } = await readApi<{ readonly id: string }>('/prices', price, session);
  const page = await (await openSignedIn(session)).open('/prices');
  await page.getByRole('button', { name: 'Edit Contract' }).click();
  await callApi('DELETE', `/prices/${id}`, undefined, session);
  await page.getByRole('dialog').getByLabel('Name').fill('Other');
  await page.getByRole('button', { name: 'Save', exact: true }).last().click();
  await page.getByText('It is not there any more').waitFor();
  await page.getByText('No prices of your own').waitFor();
});

it('a form that names what was deleted elsewhere says so once', async () => {
  const session = await register(fixture().dashboard);
  const project = await readApi<{ readonly id: string }>('/projects', { name: 'Search' }, session);
  const page = await (await openSignedIn(session)).open('/keys');
  await page.getByRole('button', { name: 'New key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Late');
  await dialog.getByLabel('Project').selectOption('Search');
  await callApi('DELETE', `/projects/${project.id}`, undefined, session);
  await dialog.getByRole('button', { name: 'Create the key' }).click();
  await dialog.getByText('There is no such project.').waitFor();
  await waitUntilIdle(page);
  expect(await page.getByText('There is no such project.').count()).toBe(1);
});

describe('with the API slow', () => {
  it('each page shows skeletons at once, and the layout does not shift when the figures load', async () => {
    // The tile of the month says what it lacks, too.
    await addTrackingGap();
    const tab = await openSignedIn(fixture().seeded);
    await inEveryPage(tab, async (page, path) => {
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      const { promise: figured, resolve: compare } = Promise.withResolvers<void>();
      await watchShifts(page);
      await page.route(dataOnly, async (route) => {
        // The comparison comes last, as it reads most.
        await (route.request().url().includes('/spend/compare') ? figured : released);
        // Continuing fails for a request that the page has cancelled.
        await route.continue().catch(() => {});
      });
      await page.goto(`${fixture().dashboard.url}${path}`);
      await page.locator('h1').first().waitFor();
      const skeletons = page.locator('.mantine-Skeleton-root');
      await skeletons.first().waitFor();
      await screenshot(page, `slow${path.replace('/', '-')}`);
      release();
      await waitUntil(`the figures of ${path}`, async () => (await skeletons.count()) === 0);
      compare();
      await waitUntilIdle(page);
      expect({ path, isStable: (await layoutShift(page)) < MAX_LAYOUT_SHIFT }).toEqual({ path, isStable: true });
    });
  });

  it('a new account is asked for its code without a shift of the layout', async () => {
    const { page } = await openSignedIn(await register(fixture().dashboard), watchShifts);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route('**/api/auth/me', async (route) => {
      await released;
      await route.continue();
    });
    await page.goto(`${fixture().dashboard.url}/`);
    await page.getByText('Waiting for the first request').waitFor();
    release();
    await page.getByLabel('Code from the e-mail').waitFor();
    expect(await layoutShift(page)).toBeLessThan(MAX_LAYOUT_SHIFT);
  });
});
