import { describe, expect, it } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { formatMoney } from '../../../web/src/format/numbers.ts';
import { newEmail, register, signIn } from '../browser/accounts.ts';
import { changeResponses, chartOf, screenshot, waitUntil, waitUntilIdle } from '../browser/browser.ts';
import { callApi, fixture, openSeeded, openSignedIn, readApi, setCalendar, setCurrency } from '../browser/fixture.ts';

type Click = (target: Locator) => Promise<void>;

/** The story may run again: then what it makes has other names than what the failed run has made. */
let attempt = 0;
const named = (thing: string): string => `${thing} ${attempt}`;

/** Tasks that people come for, each with the most clicks that it may take. Typing and choosing an option of the browser's own list are none. */
const tasks: readonly [name: string, most: number, path: string, doIt: (page: Page, click: Click) => Promise<void>][] =
  [
    [
      'the cause of the rise of yesterday',
      3,
      '/',
      async (page, click) => {
        await click(page.getByRole('link', { name: 'Compare' }).first());
        await page.getByLabel('Periods').selectOption('yesterday');
        await page.waitForURL(/periods=yesterday/);
        await page.locator('dt', { hasText: 'Volume' }).waitFor();
        const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
        const lastDay = page.getByLabel('Last day of the period (UTC)');
        // Until it is compared, the page shows the periods of before.
        await waitUntil(`the last day is ${yesterday}`, async () => (await lastDay.inputValue()) === yesterday);
        await page.getByRole('region', { name: 'Changed groups' }).locator('tbody tr').first().waitFor();
      },
    ],
    [
      'the costliest request',
      3,
      '/',
      async (page, click) => {
        await click(page.getByRole('link', { name: 'Requests' }).first());
        await click(page.getByRole('combobox', { name: 'Order' }));
        await click(page.getByRole('option', { name: 'Costliest' }));
        await waitUntilIdle(page);
        const { items } = await readApi<{ items: { costNanoUsd: number }[] }>('/requests?orderBy=cost&limit=1');
        await page
          .getByText(formatMoney(items[0]?.costNanoUsd ?? 0, 'call'))
          .first()
          .waitFor();
      },
    ],
    [
      'an alert, with what it would have said',
      4,
      '/',
      async (page, click) => {
        await click(page.getByRole('link', { name: 'Limits' }).first());
        await click(page.getByRole('link', { name: 'New limit' }));
        await page.getByText(/It would (not )?have fired/).waitFor();
        await page.getByLabel('Name').fill(named('Task limit'));
        await click(page.getByRole('button', { name: 'Create the rule' }));
        await page.getByText(named('Task limit'), { exact: true }).waitFor();
      },
    ],
    [
      'a limit of a project that refuses requests',
      5,
      '/',
      async (page, click) => {
        await click(page.getByRole('link', { name: 'Access' }).first());
        await click(page.getByRole('navigation', { name: 'Access' }).getByRole('link', { name: 'Keys', exact: true }));
        const projects = page.getByRole('region', { name: 'Projects' });
        await click(projects.getByRole('link', { name: 'Set a limit' }).first());
        await page.getByLabel('Name').fill(named('Task budget'));
        await page.getByLabel('Amount', { exact: true }).fill('900000');
        await click(page.getByRole('switch', { name: /^Refuse requests/ }));
        await click(page.getByRole('button', { name: 'Create the budget' }));
        await page.getByText(named('Task budget'), { exact: true }).waitFor();
      },
    ],
    [
      'a pause, from an alert',
      2,
      '/alerts/{alert}',
      async (page, click) => {
        await page.getByText('Costliest requests').waitFor();
        expect(await page.getByRole('article').getByRole('heading').getByRole('link').count()).toBe(0);
        await click(page.getByRole('button', { name: 'Pause', exact: true }));
        const dialog = page.getByRole('dialog');
        await dialog.getByText('it would have refused').waitFor();
        await screenshot(page, 'alert-pause');
        await click(dialog.getByRole('button', { name: 'Pause', exact: true }));
        // It closes once the page has the pause.
        await dialog.waitFor({ state: 'hidden' });
        // Ended again; other stories may have left something else that refuses.
        const resumes = page.getByRole('button', { name: /^Resume / });
        await resumes.first().waitFor();
        const count = await resumes.count();
        await resumes.first().click();
        await waitUntil('the pause has ended', async () => (await resumes.count()) < count);
      },
    ],
    [
      'a viewer of one project',
      5,
      '/',
      async (page, click) => {
        await click(page.getByRole('link', { name: 'Access' }).first());
        await click(page.getByRole('link', { name: 'Members' }));
        await click(page.getByRole('button', { name: 'Invite' }));
        const dialog = page.getByRole('dialog');
        const viewer = newEmail();
        await dialog.getByLabel('E-mail').fill(viewer);
        await dialog.getByLabel('Role', { exact: true }).selectOption('viewer');
        const projects = dialog.getByRole('combobox', { name: 'Projects' });
        await projects.fill('None of these');
        // There is nothing to choose, and nothing is sent.
        await projects.press('Enter');
        await projects.fill('Def');
        await page.getByRole('option', { name: 'Default' }).waitFor();
        await projects.press('Enter');
        await projects.press('Tab');
        await screenshot(page, 'invite-viewer');
        await click(dialog.getByRole('button', { name: 'Send the invitation' }));
        await page.getByRole('row', { name: new RegExp(`${viewer}.*viewer.*Default`) }).waitFor();
      },
    ],
    [
      'a token for an export',
      4,
      '/',
      async (page, click) => {
        await click(page.getByRole('link', { name: 'Access' }).first());
        await click(page.getByRole('link', { name: 'API tokens' }));
        await click(page.getByRole('button', { name: 'New token' }));
        await page.getByLabel('Name').fill(named('Nightly export'));
        await click(page.getByRole('button', { name: 'Create the token' }));
        await page.getByText('shown only once').waitFor();
      },
    ],
    [
      'the price of a contract',
      5,
      '/',
      async (page, click) => {
        await click(page.getByRole('link', { name: 'Prices and bills' }).first());
        await click(page.getByRole('button', { name: 'New price' }));
        const dialog = page.getByRole('dialog');
        await dialog.getByLabel('Name').fill(named('Task contract'));
        await dialog.getByLabel('Percent off').fill('0.001');
        // Of no request: prices change what is on record minutes later, while another story compares its sums.
        await dialog.getByLabel('Model').fill('task-model');
        await click(dialog.getByRole('button', { name: 'Add the price' }));
        await page.getByText(named('Task contract')).waitFor();
      },
    ],
    [
      'a zone of one’s own',
      3,
      '/',
      async (page, click) => {
        await click(page.getByText('Zone and currency'));
        await click(page.getByRole('combobox', { name: 'Time zone' }));
        await click(page.getByRole('option', { name: 'Europe/Berlin' }));
        await page.getByText('Days: Berlin.').waitFor();
      },
    ],
    [
      'Slack, for alerts like this one',
      3,
      '/alerts/{alert}',
      async (page, click) => {
        await page.getByText('Costliest requests').waitFor();
        await click(page.getByRole('link', { name: 'View the rule' }));
        await click(page.getByRole('checkbox', { name: 'Slack' }));
        await page.getByLabel('Slack: URL of an incoming webhook').fill('https://hooks.slack.com/services/T0/B0/task');
        // Saving looks the host up, and no test has a network.
        await page.route(/\/api\/alert-rules\/[^/]+$/, (route) =>
          route.request().method() === 'PATCH' ? route.fulfill({ json: {} }) : route.continue(),
        );
        await click(page.getByRole('button', { name: 'Save' }));
        await page.getByText(/ saved\.$/).waitFor();
      },
    ],
    [
      'a bill compared with what was recorded',
      4,
      '/',
      async (page, click) => {
        await click(page.getByRole('link', { name: 'Prices and bills' }).first());
        await click(
          page.getByRole('navigation', { name: 'Prices and bills' }).getByRole('link', { name: 'Reconciliation' }),
        );
        const provider = page.getByLabel('Provider');
        await provider.selectOption('mistral');
        // The form begins with what the page compares.
        await waitUntil('the provider is compared', async () => (await provider.inputValue()) === 'mistral');
        await click(page.getByRole('button', { name: 'Import an invoice' }));
        const dialog = page.getByRole('dialog');
        await dialog
          .getByLabel('CSV')
          .fill(
            `day,amount,model\n${new Date(Date.now() - 5 * 86_400_000).toISOString().slice(0, 10)},1.50,task-model\n`,
          );
        await click(dialog.getByRole('button', { name: 'Import' }));
        await page.getByText(/of your Mistral bill came through here/).waitFor();
      },
    ],
    [
      'the deletion of the account',
      3,
      '/',
      async (page, click) => {
        await click(page.getByRole('link', { name: 'Account' }).first());
        await click(page.getByRole('button', { name: 'Delete the account' }));
        await page.getByRole('dialog').getByRole('button', { name: 'Delete the account' }).waitFor();
      },
    ],
  ];

describe('a task', () => {
  it('takes few clicks', async () => {
    attempt += 1;
    // That of a run that failed would be in the place of the link that sets one.
    const budgets = await readApi<{ items: { id: string; name: string }[] }>('/budgets');
    for (const { id, name } of budgets.items) if (name.startsWith('Task')) await callApi('DELETE', `/budgets/${id}`);
    const { items } = await readApi<{ items: { id: string; unit: string; type: string }[] }>('/alerts?limit=50');
    const alert = items.find(({ unit, type }) => unit === 'nanoUsd' && type === 'cost_threshold')?.id ?? '';
    // A context of its own: the zone stays in it.
    const { open } = await openSignedIn(fixture().seeded, undefined, { timezoneId: 'Europe/Berlin' });
    for (const [name, most, path, doIt] of tasks) {
      const page = await open(path.replace('{alert}', alert));
      let clicks = 0;
      await doIt(page, async (target) => {
        clicks += 1;
        await target.click();
      });
      expect({ name, isWithin: clicks <= most, clicks }).toEqual({ name, isWithin: true, clicks });
    }
  });
});

describe('what was typed', () => {
  it('is there again after a reload, and gone once it is discarded', async () => {
    const { open } = await openSignedIn(await register(fixture().dashboard));
    let page = await open('/limits/new');
    const budget = page.getByRole('radio', { name: /^Budget An amount/ });
    await budget.click();
    await page.getByLabel('Name').fill('Half a limit');
    page.once('dialog', (dialog) => void dialog.accept());
    await page.reload();
    await page.getByText('What you typed before is here again.').waitFor();
    expect(await page.getByLabel('Name').inputValue()).toBe('Half a limit');
    expect(await budget.isChecked()).toBe(true);
    await page.getByRole('button', { name: 'Discard it' }).click();
    expect(await page.getByLabel('Name').inputValue()).toBe('');
    page = await open('/limits/new');
    await page.getByLabel('Name').waitFor();
    expect(await page.getByText('What you typed before is here again.').count()).toBe(0);
  });
});

describe('what was typed before a session ended', () => {
  it('is not there for another user who signs in', async () => {
    const { dashboard } = fixture();
    const [other, session] = [newEmail(), await register(dashboard)];
    await register(dashboard, other);
    const page = await (await openSignedIn(session)).open('/limits/new');
    await page.getByLabel('Name').fill('Half a limit');
    await waitUntilIdle(page);
    await page.route('**/api/**', (route) => route.fulfill({ status: 401, json: {} }));
    await page.getByRole('radio', { name: /Unusual spend/ }).click();
    await page.waitForURL('**/sign-in?*');
    await page.unroute('**/api/**');
    await signIn(page, other);
    await page.waitForURL('**/limits/new');
    await waitUntilIdle(page);
    expect(await page.getByLabel('Name').inputValue()).toBe('');
    expect(await page.getByText('What you typed before is here again.').count()).toBe(0);
  });
});

describe('the focus of the keyboard', () => {
  it('is in the page that the palette, a saved limit or a deletion leads to', async () => {
    const { open } = await openSignedIn(await register(fixture().dashboard));
    const page = await open('/keys');
    await waitUntilIdle(page);
    expect(await page.evaluate<string>('document.activeElement.tagName')).toBe('BODY');
    const isInPage = (path: string) =>
      waitUntil(`the focus is in ${path}`, () =>
        page.evaluate<boolean>(
          `location.pathname === '${path}' && document.activeElement === document.querySelector('main')`,
        ),
      );
    await page.getByRole('button', { name: 'New key' }).focus();
    await page.keyboard.press('Control+k');
    await page.getByLabel('Go to a page').fill('New limit');
    await page.getByRole('button', { name: 'New limit' }).waitFor();
    await page.keyboard.press('Enter');
    await isInPage('/limits/new');
    await page.getByLabel('Name').fill('Team');
    await page.getByRole('button', { name: 'Create the rule' }).press('Enter');
    await isInPage('/limits');
    await page.getByRole('link', { name: /^Team/ }).click();
    await page.getByRole('button', { name: 'Delete' }).press('Enter');
    await page.getByRole('button', { name: 'Delete the rule' }).press('Enter');
    await isInPage('/limits');
  });
});

describe('the palette', () => {
  it('pauses, and finds a model, though its name came after the typing', async () => {
    const page = await openSeeded('/');
    const { promise: isTyped, resolve: letNamesCome } = Promise.withResolvers<void>();
    const asksForNames = ({ pathname, searchParams }: URL) =>
      pathname === '/api/spend' && searchParams.get('groupBy') === 'model' && searchParams.get('limit') === '100';
    await page.route(asksForNames, async (route) => {
      await isTyped;
      await route.continue();
    });
    await chartOf(page).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByLabel('Go to a page').fill('pause req');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Pause requests' }).getByLabel('Reason').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    const field = page.getByLabel('Go to a page');
    await field.fill('claude-opus');
    await page.getByText('Nothing has this name.').waitFor();
    letNamesCome();
    // The page below has a button of this name, too.
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /claude-opus-4-1/ })
      .waitFor();
    await field.press('Enter');
    await page.getByRole('button', { name: 'Remove Model: claude-opus-4-1' }).waitFor();
  });
});

/** The amounts of a part of a page. */
const amountsIn = async (part: Locator): Promise<readonly string[]> =>
  (await part.innerText()).match(/[€$][\d,.]+/g) ?? [];

it('finds a key among thousands, the active ones first', async () => {
  const { open } = await openSignedIn(fixture().seeded, (page) =>
    changeResponses(page, '**/api/keys', ({ items }) => {
      const keyOf = (_: unknown, i: number) => {
        return { ...items[0], id: `key-${i}`, name: `build ${i}`, status: i < 1_999 ? 'revoked' : 'active' };
      };
      return { items: Array.from({ length: 2_000 }, keyOf) };
    }),
  );
  const page = await open('/keys');
  const keys = page.getByRole('region', { name: 'Service keys' });
  const rows = keys.locator('tbody tr');
  await keys.getByText('build 98', { exact: true }).waitFor({ state: 'attached' });
  expect([await rows.count(), await rows.first().innerText()]).toEqual([100, expect.stringContaining('build 1999')]);
  await keys.getByRole('button', { name: 'Show more' }).click();
  await waitUntil('another hundred', async () => (await rows.count()) === 200);
  await keys.getByLabel('Search Service keys').fill('BUILD 1234');
  await waitUntil('the one', async () => (await rows.count()) === 1);
  expect(await rows.innerText()).toContain('build 1234');
  await open('/requests');
  await page.getByRole('combobox', { name: 'Service key' }).fill('BUILD 1234');
  await page.getByRole('option', { name: 'build 1234' }).click();
  await page.waitForURL('**/requests?key=key-1234');
});

it('shows what can be done with a key next to names of any length', async () => {
  const name = 'W'.repeat(64);
  const { open } = await openSignedIn(fixture().seeded, async (page) => {
    for (const path of ['/keys', '/projects'])
      await changeResponses(page, `**/api${path}`, ({ items }) => ({
        items: items.map((item: object) => ({ ...item, name })),
      }));
  });
  const page = await open('/keys');
  const keys = page.getByRole('region', { name: 'Service keys' });
  await keys.getByText(name).first().waitFor();
  await waitUntilIdle(page);
  const beyond =
    "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('main .scroll-x'))";
  expect(await page.evaluate(beyond)).toBe(0);
  const actions = keys.getByRole('columnheader', { name: 'Actions' });
  await actions.waitFor();
  await page.emulateMedia({ media: 'print' });
  expect(await actions.count()).toBe(0);
});

it('lists more sessions than a first look, says how many it lacks, and opens one of the days that are chosen', async () => {
  const asked: URLSearchParams[] = [];
  const { open } = await openSignedIn(fixture().seeded, (page) =>
    changeResponses(page, '**/api/sessions*?*', ({ items }, request) => {
      asked.push(new URL(request.url()).searchParams);
      const many = Array.from({ length: 150 }, (_, index) => ({
        ...items[index % items.length],
        id: `session ${index}`,
      }));
      return { items: many, sessions: 250 };
    }),
  );
  const page = await open('/sessions');
  await page.getByText('The 150 costliest of 250 sessions. Choose fewer days to see others.').waitFor();
  await page.getByText('Latest', { exact: true }).click();
  await page.getByText('The 150 latest of 250 sessions.').waitFor();
  await page.getByRole('button', { name: 'Show more' }).click();
  await page.getByRole('link', { name: 'session 149' }).waitFor();
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  await page.getByLabel('Last day (UTC)').fill(yesterday);
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/sessions?*to=${yesterday}*`);
  await waitUntilIdle(page);
  const [from] = asked.at(-1)?.getAll('from') ?? [];
  expect(Object.fromEntries(asked.at(-1) ?? [])).toMatchObject({ orderBy: 'time', to: yesterday, limit: '200' });
  await page.getByLabel('Search Sessions').fill('session 149');
  await page.getByRole('link', { name: 'session 149' }).click();
  await page.waitForURL(`**/sessions/session*?from=${from}&to=${yesterday}`);
  await page.getByRole('link', { name: 'All sessions' }).click();
  await page.waitForURL(`**/sessions?from=${from}&to=${yesterday}`);
});

describe('a figure that is a link', () => {
  it.each([
    ['UTC', null],
    ['Pacific/Auckland', { code: 'EUR', rates: [{ from: '2020-01-01', perUsd: '0.9' }] }],
    ['America/Los_Angeles', null],
  ])('leads to the same figure in %s', async (timeZone, currency) => {
    await setCalendar(timeZone);
    await setCurrency(currency);
    try {
      const { open } = await openSignedIn(fixture().seeded);
      const page = await open('/?range=7d');
      await waitUntilIdle(page);
      const trend = page.locator('section', { has: page.locator('#trend') });
      const [before = ''] = (await amountsIn(trend.getByText(' vs ').first())).slice(-1);
      await trend.getByRole('link', { name: 'Why?' }).click();
      await page.locator('#change').waitFor();
      await waitUntilIdle(page);
      const change = page.locator('section', { has: page.locator('#change') });
      expect(await amountsIn(change)).toContain(before);
      // The parts add up to the change that is shown, to the cent.
      const [sum = 0, ...parts] = [
        await change.locator('.num').first().innerText(),
        ...(await change.locator('dd').allInnerTexts()),
      ].map((text) => Math.round(Number(text.replace('−', '-').replace(/[^\d.-]/g, '')) * 100));
      expect(parts.reduce((total, part) => total + part, 0)).toBe(sum);
      await open('/keys');
      const link = page
        .getByRole('region', { name: 'Service keys' })
        .locator('a', { hasText: /[€$]\d/ })
        .first();
      const spend = await link.innerText();
      await link.click();
      await page.getByRole('button', { name: /^Remove Service key/ }).waitFor();
      await waitUntilIdle(page);
      expect(await amountsIn(trend)).toContain(spend);
    } finally {
      await setCalendar('UTC');
      await setCurrency(null);
    }
  });
});
