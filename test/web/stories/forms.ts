import { describe, expect, it } from '@jest/globals';
import type { Page, Route } from 'playwright-core';
import { type ApiSession, register, verifyAddress } from '../browser/accounts.ts';
import { screenshot, seriousFindings, waitUntilIdle } from '../browser/browser.ts';
import { callApi, fixture, openSignedIn, readApi } from '../browser/fixture.ts';

type Item = Readonly<Record<string, unknown>> & { readonly id: string };

const newProject = (name: string, session: ApiSession) => readApi<Item>('/projects', { name }, session);
const only = async (path: string, session: ApiSession) => {
  const { items } = await readApi<{ items: Item[] }>(path, undefined, session);
  expect(items).toHaveLength(1);
  return items[0] as Item;
};

/** Renames what a form is about, and saves. */
const rename = async (page: Page, name: string, list: string) => {
  await page.getByLabel('Name').fill(name);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.waitForURL(`**${list}`);
  await page.getByText(name).first().waitFor();
  await waitUntilIdle(page);
};

/** The paths, below a path, to which a page sends a method after this. */
const sentBy = (page: Page, method: string, path: string): readonly string[] => {
  const sent: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (request.method() === method && pathname.startsWith(`/api${path}`)) sent.push(pathname);
  });
  return sent;
};

describe('a form or button', () => {
  it('sends once what two clicks or Enters ask for at once, and again what failed', async () => {
    const session = await register(fixture().dashboard);
    const { open } = await openSignedIn(session);
    const page = await open('/keys');
    const twice = async (name: string) => {
      const button = page.getByRole('button', { name, exact: true });
      await button.evaluate((element: { click(): void }) => {
        element.click();
        element.click();
      });
    };
    const created = sentBy(page, 'POST', '/keys');
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByLabel('Name', { exact: true }).fill('laptop');
    await page.route('**/api/keys', (route) => route.fulfill({ status: 500, json: {} }), { times: 1 });
    await twice('Create the key');
    await page.getByText('The key was not created').waitFor();
    await twice('Create the key');
    await page.getByText('shown only once').waitFor();
    expect(created).toHaveLength(2);

    await page.goto(`${fixture().dashboard.url}/limits/new?type=budget`);
    await page.getByLabel('Name').fill('Team');
    await twice('Create the budget');
    await page.waitForURL('**/limits');
    expect(await only('/budgets', session)).toMatchObject({ name: 'Team' });

    await newProject('Search', session);
    await page.goto(`${fixture().dashboard.url}/keys`);
    await page.getByLabel('Name of a new project').fill('turned \u202e round');
    await twice('Add');
    await page.getByText('name must not contain control characters').waitFor();
    const deleted = sentBy(page, 'DELETE', '/projects');
    await twice('Delete Search');
    await page.getByRole('cell', { name: 'Search', exact: true }).waitFor({ state: 'hidden' });
    expect(deleted).toHaveLength(1);
  });
});

it('a form whose response is lost keeps what was typed, and says that it may have been saved', async () => {
  const session = await register(fixture().dashboard);
  const page = await (await openSignedIn(session)).open('/limits/new?type=budget');
  await page.getByLabel('Name').fill('Team');
  const lose = async (route: Route) => {
    await route.fetch();
    await route.abort();
  };
  await page.route('**/api/budgets', lose);
  await page.getByRole('button', { name: 'Create the budget' }).click();
  await page.getByText('What was sent may have been saved all the same. Look before you send it again.').waitFor();
  await screenshot(page, 'form-lost');
  expect(await page.getByLabel('Name').inputValue()).toBe('Team');
  expect(await only('/budgets', session)).toMatchObject({ name: 'Team' });
});

describe('a secret that is shown once', () => {
  const makes = {
    key: async (page: Page) => {
      await page.getByRole('link', { name: 'Keys', exact: true }).click();
      await page.getByRole('button', { name: 'New key' }).click();
      await page.getByLabel('Name', { exact: true }).press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
      await page.getByRole('button', { name: 'New key' }).click();
      await page.getByLabel('Name', { exact: true }).fill('laptop');
      await page.getByRole('button', { name: 'Create the key' }).click();
    },
    webhook: async (page: Page) => {
      await page.getByRole('link', { name: 'Limits', exact: true }).click();
      await page.getByRole('link', { name: 'New limit' }).click();
      await page.getByLabel('Name', { exact: true }).fill('Daily');
      await page.getByLabel('Webhook', { exact: true }).check();
      await page.getByLabel('Webhook address').fill('https://localhost/alerts.json');
      await page.getByRole('button', { name: 'Create the rule' }).click();
    },
  };

  it.each(['key', 'webhook'] as const)('of a %s stays until its button closes the dialog', async (of) => {
    const { open } = await openSignedIn(await register(fixture().dashboard));
    const page = await open('/tokens');
    await makes[of](page);
    const secret = page.getByRole('dialog').locator('code');
    await secret.waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.mouse.click(5, 5);
    await page.evaluate('history.back()');
    await waitUntilIdle(page);
    expect(await secret.innerText()).toMatch(/^(svc|whsec)_/);
    expect(await page.getByRole('button', { name: 'Close' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Done' }).click();
    await secret.waitFor({ state: 'hidden' });
  });
});

describe('a form', () => {
  it.each([
    ['en-US', false, '1,000', '$1,000'],
    ['de-DE', false, '1,5', '$1.5'],
    ['en-US', true, '1,000', '$1,000'],
    ['en-US', true, '1,000.50', '$1,000.5'],
    ['en-US', true, '12,50', '$12.5'],
    ['de-DE', true, '0,001', '$0.001'],
    ['de-DE', true, '1.000,50', '$1,000.5'],
  ])('takes the comma of %s, pasted: %s, as its users mean it: %s', async (locale, isPasted, text, shown) => {
    const { open } = await openSignedIn(fixture().seeded, undefined, { locale });
    const page = await open('/limits/new?type=budget');
    const amount = page.getByLabel('Amount', { exact: true });
    const typedIn = isPasted ? page.getByLabel('Name', { exact: true }) : amount;
    await typedIn.fill('');
    await typedIn.pressSequentially(text);
    for (const key of isPasted ? 'AC' : '') await typedIn.press(`Control+${key}`);
    // The field places the caret in a task of its own once it has the focus.
    await amount.focus();
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve)));
    for (const key of isPasted ? 'AV' : '') await amount.press(`Control+${key}`);
    await amount.blur();
    expect(await amount.inputValue()).toBe(shown);
  });

  it('asks what 1.000 is where a comma begins decimals, and is not sent before that is clear', async () => {
    const session = await register(fixture().dashboard);
    const { open } = await openSignedIn(session, undefined, { locale: 'de-DE' });
    const page = await open('/limits/new?type=budget');
    const amount = page.getByLabel('Amount', { exact: true });
    await page.getByLabel('Name', { exact: true }).fill('Team');
    const send = async (text: string) => {
      await amount.fill('');
      await amount.pressSequentially(text);
      await amount.press('Enter');
    };
    await send('1.000');
    expect(await page.evaluate('document.activeElement.validationMessage')).toMatch(/^Is it 1\.000 or 1000\?/);
    await send('1000');
    await page.getByText('Budget created.').waitFor();
    const { items } = await readApi<{ readonly items: { readonly amount: number }[] }>('/budgets', undefined, session);
    expect(items.map(({ amount }) => amount)).toEqual([1000]);
  });

  it('stays as it is where the browser has no room for what is typed', async () => {
    const { open } = await openSignedIn(await register(fixture().dashboard));
    const page = await open('/limits/new?type=budget');
    await page.evaluate(`{
      const set = Storage.prototype.setItem;
      Storage.prototype.setItem = function (key, value) {
        if (key.startsWith('draft ')) throw new DOMException('', 'QuotaExceededError');
        set.call(this, key, value);
      };
    }`);
    await page.getByLabel('Name', { exact: true }).fill('Team');
    await page.getByLabel('Amount', { exact: true }).fill('20');
    await page.getByLabel('Amount', { exact: true }).press('Enter');
    await page.getByText('Budget created.').waitFor();
  });

  it('leaves what it was not asked to change: the project of a budget and of a rule, what only the API sets', async () => {
    const session = await register(fixture().dashboard);
    const { id: project } = await newProject('Search', session);
    const budget = { name: 'Daily', amount: 20, period: 'daily', filter: { project }, block: {}, notifyAt: [50, 90] };
    const madeBudget = await readApi<Item>('/budgets', budget, session);
    const config = { each: 'tag', measure: 'requests', limit: 900, filter: { project }, pause: { minutes: null } };
    const madeRule = await readApi<Item>('/alert-rules', { name: 'Loop', type: 'burn_rate', config }, session);
    const rates = {
      kind: 'rates',
      usdPerMillionTokens: { input: 2, inputAudio: 40 },
      usdPerUnit: { webSearches: 0.01 },
    };
    const price = { name: 'Contract', project, from: '2026-11-01T05:30:00.000Z', terms: rates };
    const madePrice = await readApi<Item>('/prices', price, session);
    const { open } = await openSignedIn(session);

    let page = await open('/limits');
    await page.getByRole('link', { name: /\$20 a day, of project Search/ }).click();
    await rename(page, 'Daily limit', '/limits');
    expect(await only('/budgets', session)).toMatchObject({
      ...budget,
      block: madeBudget['block'],
      name: 'Daily limit',
    });

    page = await open('/limits');
    await page.getByRole('link', { name: /^Loop .*project Search/ }).click();
    await waitUntilIdle(page);
    expect(await page.getByRole('combobox', { name: 'Project' }).inputValue()).toBe('Search');
    expect(await seriousFindings(page)).toEqual([]);
    await screenshot(page, 'rule-of-project', true);
    await rename(page, 'Runaway', '/limits');
    expect(await only('/alert-rules', session)).toMatchObject({ name: 'Runaway', config: madeRule['config'] });

    page = await open('/prices');
    await page.getByRole('cell', { name: 'project Search', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Edit Contract' }).click();
    await page.getByRole('dialog').getByText('from: 2026-11-01T05:30:00.000Z').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await screenshot(page, 'price-set-by-api');
    await page.getByLabel('Input / 1M tokens').fill('3');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByText('Price saved.').waitFor();
    const usdPerMillionTokens = { input: 3, inputAudio: 40 };
    expect(await only('/prices', session)).toMatchObject({
      from: madePrice['from'],
      project,
      terms: { ...rates, usdPerMillionTokens },
    });

    page = await open('/audit');
    await page.getByText('name: Daily → Daily limit').waitFor();
    await page.getByText('Contract, terms.usdPerMillionTokens.input: 2 → 3').waitFor();
    await screenshot(page, 'audit-log', true);
  });

  it('chooses a project, of a budget, a rule and a pause; a rule of another type keeps what is common', async () => {
    const session = await register(fixture().dashboard);
    const { open } = await openSignedIn(session);
    const keys = await open('/keys');
    const { promise: seen, resolve: see } = Promise.withResolvers<void>();
    await keys.getByLabel('Name of a new project').fill('Search');
    await keys.route('**/api/projects', async (route) => {
      await seen;
      await route.continue();
    });
    await keys.getByRole('button', { name: 'Add', exact: true }).click();
    // A second click would add another.
    await keys.locator('button[data-loading]:disabled').waitFor();
    see();
    await keys.getByRole('cell', { name: 'Search', exact: true }).waitFor();
    await keys.locator('button[data-loading]').waitFor({ state: 'detached' });
    await keys.getByLabel('Name of a new project').fill('Search ');
    await keys.getByText('This name is taken.').waitFor();
    expect(await keys.getByRole('button', { name: 'Add', exact: true }).isDisabled()).toBe(true);
    const { items } = await readApi<{ items: Item[] }>('/projects', undefined, session);
    expect(items.map(({ name }) => name)).toEqual(['Default', 'Search']);
    const project = items[1]?.id;
    await readApi('/keys', { name: 'search', project }, session);
    const choose = async (page: Page) => {
      await page.getByRole('combobox', { name: 'Project' }).click();
      await page.getByRole('option', { name: 'Search' }).click();
    };

    // A link of an earlier version.
    let page = await open('/budgets/new');
    await page.waitForURL('**/limits/new?type=budget');
    await page.getByLabel('Name').fill('Team');
    await choose(page);
    await page.getByRole('button', { name: 'Create the budget' }).click();
    await page.getByText('$500 a month, of project Search').waitFor();
    expect(await only('/budgets', session)).toMatchObject({ filter: { project } });

    await page.getByRole('button', { name: 'Pause something' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('Loop');
    await dialog.getByRole('button', { name: 'Pause', exact: true }).click();
    await dialog.getByText('must name something to pause').waitFor();
    await choose(page);
    expect(await seriousFindings(page)).toEqual([]);
    await screenshot(page, 'pause-form');
    await dialog.getByRole('button', { name: 'Pause', exact: true }).click();
    await page.getByRole('cell', { name: /requests of project Search/ }).waitFor();
    expect(await only('/pauses', session)).toMatchObject({ scope: { project } });

    page = await open('/limits/new');
    await page.getByLabel('Name').fill('Unusual');
    await choose(page);
    await page.getByLabel('Slack', { exact: true }).check();
    const slack = page.getByLabel('Slack: URL of an incoming webhook');
    await slack.fill('https://hooks.slack.com/services/T0/B0/abcdefgh');
    await page.getByRole('radio', { name: /Unusual spend/ }).click();
    expect(await slack.inputValue()).toBe('https://hooks.slack.com/services/T0/B0/abcdefgh');
    expect(await page.getByRole('combobox', { name: 'Project' }).inputValue()).toBe('Search');
    // No address of Slack is known here.
    await page.getByLabel('Slack', { exact: true }).uncheck();
    await page.getByRole('button', { name: 'Create the rule' }).click();
    await page.getByRole('link', { name: /^Unusual .*of project Search/ }).waitFor();
    expect(await only('/alert-rules', session)).toMatchObject({
      type: 'spend_anomaly',
      config: { filter: { project } },
    });
  });
});

describe('Escape in a field with choices', () => {
  it.each([
    ['/members', 'Invite', 'Projects', 'Default'],
    ['/limits', 'Set what keys may call', 'Project', 'Default'],
    ['/limits', 'Set what keys may call', 'Only these models', undefined],
    ['/limits', 'Pause something', 'Session', undefined],
  ])('closes the choices that are shown, then the dialog: %s, %s, %s', async (path, opener, label, choice) => {
    const session = await register(fixture().dashboard);
    await verifyAddress(fixture().dashboard, session);
    const page = await (await openSignedIn(session)).open(path);
    await page.getByRole('button', { name: opener }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox', { name: label, exact: true }).click();
    if (choice) {
      const option = page.getByRole('option', { name: choice });
      await option.waitFor();
      await page.keyboard.press('Escape');
      await option.waitFor({ state: 'hidden' });
      await waitUntilIdle(page);
      expect(await dialog.isVisible()).toBe(true);
    }
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
  });
});

it('a form that somebody else saved meanwhile shows what they set, and replaces it once that was seen', async () => {
  const session = await register(fixture().dashboard);
  const made = await readApi<Item>('/budgets', { name: 'Team', amount: 20, period: 'monthly' }, session);
  const { open } = await openSignedIn(session);
  const page = await open(`/limits/${made.id}`);
  const amount = page.getByLabel('Amount', { exact: true });
  await amount.fill('30');
  await callApi('PATCH', `/budgets/${made.id}`, { name: 'Team and friends', amount: 50 }, session);
  page.once('dialog', (dialog) => void dialog.accept());
  await page.reload();
  await page.getByText('What you typed before is here again.').waitFor();
  // Another change of the same instant: the refusal does not say what it set.
  const message = 'The budget changed at the same time. Try again.';
  const refusal = { status: 409, json: { error: { code: 'CONFLICT', message, requestId: 'r' } } };
  await page.route(`**/budgets/${made.id}`, (route) => route.fulfill(refusal), { times: 1 });
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText(message).waitFor();
  await waitUntilIdle(page);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('amount is 50 now: somebody else changed it after you read it').waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await screenshot(page, 'form-overtaken');
  expect(await amount.inputValue()).toBe('$30');
  expect(await only('/budgets', session)).toMatchObject({ name: 'Team and friends', amount: 50 });
  await waitUntilIdle(page);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Budget saved.').waitFor();
  expect(await only('/budgets', session)).toMatchObject({ name: 'Team and friends', amount: 30 });
});
