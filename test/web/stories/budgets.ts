import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { joinAccount } from '../../dashboard/over-http/stack.ts';
import { newEmail, register, sendRequest, verifyAddress } from '../browser/accounts.ts';
import { changeResponses, desktop, phone, screenshot, waitUntil, waitUntilIdle } from '../browser/browser.ts';
import { fixture, openSignedIn, readApi } from '../browser/fixture.ts';

describe('a budget', () => {
  it('is made, is used up, is announced on every page, is raised, and is deleted; a pause is ended', async () => {
    const { dashboard } = fixture();
    const session = await register(dashboard);
    await sendRequest(dashboard, session);
    const { open } = await openSignedIn(session);
    const page = await open('/limits');
    await page.getByRole('link', { name: 'New limit' }).click();
    await page.getByRole('radio', { name: /^Budget An amount/ }).click();
    await page.getByRole('button', { name: 'Create the budget' }).click();
    await page.getByText('A name is required.').waitFor();
    await page.getByLabel('Name').fill('Not a cent');
    await page.getByLabel('Amount', { exact: true }).fill('0.000001');
    await page.getByLabel('Refuse requests when it is used up').click();
    await page.getByRole('button', { name: 'Create the budget' }).click();
    await page.getByText('$0.000001 a month').waitFor();
    // The request is recorded some seconds after its response.
    const announced = page.getByText('The gateway refuses all requests until');
    await waitUntil('the budget is used up', async () => {
      await open('/requests');
      await page.getByRole('heading', { name: 'Requests' }).waitFor();
      await page.waitForLoadState('networkidle');
      return (await announced.count()) > 0;
    });
    await screenshot(page, 'budget-used-up');
    await page.getByRole('button', { name: 'Dismiss for me' }).click();
    await announced.waitFor({ state: 'detached' });
    await changeResponses(page, '**/api/budgets', ({ items }) => {
      items[0].state.period.start = '2100-01-01T00:00:00.000Z';
      return { items };
    });
    await page.reload();
    // In the next period, too.
    await announced.waitFor();
    await page.unroute('**/api/budgets');
    await page.evaluate("localStorage.removeItem('refusals-dismissed')");
    await page.reload();
    await page.getByRole('region', { name: 'Refused requests' }).getByRole('link', { name: 'Not a cent' }).click();
    await page.getByText('more can be spent once it is used up').waitFor();
    // The month ends with its last day, not on the first of the next.
    await page.getByText(/^[A-Z][a-z]{2} 1\s–\s(28|29|30|31)$/).waitFor();
    await screenshot(page, 'budget', true);
    // Also where the two are below each other.
    await page.setViewportSize(phone.viewport);
    const [now, name] = [page.getByRole('region', { name: 'Now', exact: true }), page.getByLabel('Name')];
    expect((await now.boundingBox())?.y).toBeLessThan((await name.boundingBox())?.y ?? 0);
    await screenshot(page, 'budget-phone', true);
    await page.setViewportSize(desktop.viewport);
    await page.getByLabel('Amount', { exact: true }).fill('100');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Refuses requests at 100%').waitFor();
    await announced.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: /Not a cent/ }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete the budget' }).click();
    await page.getByText('No limits yet').waitFor();
    await page.getByRole('button', { name: 'Pause something' }).click();
    await page.getByRole('dialog').getByLabel('Tag').fill('batch');
    await page.getByLabel('Reason').fill('Runaway loop');
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await open('/keys');
    const paused = page.getByText('The gateway refuses requests of tag batch until');
    await paused.waitFor();
    await screenshot(page, 'paused');
    await page.getByRole('button', { name: 'Resume Runaway loop' }).click();
    await paused.waitFor({ state: 'detached' });
  });
});

describe('the use of a budget', () => {
  it('is 0% of nothing only: not where a little is used, and not where it is unknown', async () => {
    const session = await register(fixture().dashboard);
    await readApi('/budgets', { name: 'Team', amount: 300, period: 'monthly' }, session);
    let state: object = { usedNanoUsd: 2_420_000_000, knownNanoUsd: 2_420_000_000, percentUsed: 0 };
    const { open } = await openSignedIn(session, (page) =>
      changeResponses(page, '**/api/budgets', ({ items: [item] }) => ({
        items: [{ ...item, state: { ...item.state, ...state } }],
      })),
    );
    const page = await open('/limits');
    await page.getByText('<1% used: $2.42').waitFor();
    expect(await page.getByRole('progressbar', { name: 'Team: <1% used' }).count()).toBe(1);
    state = { usedNanoUsd: 0, unpricedRequests: 3, percentUsed: 0 };
    await page.reload();
    await page.getByText('used: unknown').waitFor();
    expect(await page.getByText('0%').count()).toBe(0);
  });
});

describe('a viewer of one project', () => {
  it('is not told that nothing is refused: limits and pauses of the whole account are hidden', async () => {
    const { dashboard } = fixture();
    const owner = await register(dashboard);
    await verifyAddress(dashboard, owner);
    await readApi('/budgets', { name: 'Company', amount: 500, period: 'monthly', block: {} }, owner);
    await readApi('/pauses', { name: 'Batch', scope: { tag: 'batch' } }, owner);
    const { open } = await openSignedIn(await joinAccount(dashboard, owner, 'viewer', newEmail(), ['default']));
    let page = await open('/limits');
    await page.getByText('Those of the whole account are not shown, and may refuse your requests, too.').waitFor();
    await waitUntilIdle(page);
    for (const claim of ['no request is ever refused', 'Nothing is paused'])
      expect(await page.getByText(claim).count()).toBe(0);
    page = await open('/alerts');
    await page.getByText('Alerts of the whole account are not shown.').waitFor();
    page = await open('/alerts?status=acknowledged');
    await page.getByText('No acknowledged alerts').waitFor();
    page = await open('/keys');
    await page.getByRole('cell', { name: 'default' }).first().waitFor();
    await waitUntilIdle(page);
    expect(await page.getByRole('columnheader', { name: 'Actions' }).count()).toBe(0);
  });
});

describe('a member of one project', () => {
  it('is asked what a new limit is about, before it is tested', async () => {
    const { dashboard } = fixture();
    const owner = await register(dashboard);
    await verifyAddress(dashboard, owner);
    const { open } = await openSignedIn(await joinAccount(dashboard, owner, 'member', newEmail(), ['default']));
    const page = await open('/limits/new');
    await page.getByText('Filter by a project, key or member to test it.').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.getByRole('combobox', { name: 'Project' }).click();
    await page.getByRole('option', { name: 'Default' }).click();
    await page.getByText('No request matches.').waitFor();
  });
});

describe('what keys may call', () => {
  it('is set with a preview, refuses with what is allowed, is edited and deleted', async () => {
    const { dashboard } = fixture();
    const session = await register(dashboard);
    await sendRequest(dashboard, session);
    const { open } = await openSignedIn(session);
    const page = await open('/limits');
    await page.getByText('Every key may call every model, at any price.').waitFor();
    await page.getByRole('button', { name: 'Set what keys may call' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Small models');
    await dialog.getByRole('button', { name: 'Set it' }).click();
    await dialog.getByText('must be given, or denied models').waitFor();
    const tags = (label: string) => dialog.getByLabel(label).and(dialog.locator('input'));
    const allowed = tags('Only these models');
    await allowed.fill('gpt-4o-mini');
    await allowed.press(',');
    await dialog.getByRole('button', { name: 'Set it' }).click();
    await dialog.getByText('must be a provider and a model').waitFor();
    await allowed.press('Backspace');
    await allowed.fill('openai/gpt-4o');
    await allowed.press(',');
    // The request is recorded some seconds after its response. Each price is asked for once, since the page keeps what it had.
    let price = 2;
    await waitUntil('the preview counts the request', async () => {
      price++;
      const [preview] = await Promise.all([
        page.waitForResponse((response) => response.url().endsWith('/access-rules/preview')),
        dialog.getByLabel('Highest price of one request').fill(String(price)),
      ]);
      return (await preview.json()).requests === 1;
    });
    await dialog.getByText('it would have refused 1 request of 1').waitFor();
    await dialog.getByLabel('Highest price of one request').fill('2');
    await screenshot(page, 'access-rule');
    await dialog.getByRole('button', { name: 'Set it' }).click();
    await page.getByText('All keys: only openai/gpt-4o; up to $2 for a request').waitFor();
    // A gateway keeps for a minute that an account has no rules.
    const [rule] = (await readApi<{ items: { id: string }[] }>('/access-rules', undefined, session)).items;
    expect(rule).toMatchObject({ name: 'Small models', allowed: ['openai/gpt-4o'], maxRequestUsd: 2 });
    await screenshot(page, 'access-rules', true);
    await page.getByRole('button', { name: 'Edit Small models' }).click();
    await tags('Not these models').fill('*/o1*');
    await tags('Not these models').press(',');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('only openai/gpt-4o; not */o1*; up to $2').waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete the access rule' }).click();
    await page.getByText('Every key may call every model, at any price.').waitFor();
  });
});

describe('an alert about a session', () => {
  it('shows its requests, and pauses it', async () => {
    const { dashboard } = fixture();
    const session = await register(dashboard);
    const config = { each: 'session', limit: 0.000001 };
    await readApi('/alert-rules', { type: 'burn_rate', name: 'Runaway', config }, session);
    await sendRequest(dashboard, session, { 'x-service-session': 'loop-7' });
    const alerts = () => readApi<{ items: { id: string }[] }>('/alerts', undefined, session);
    await waitUntil('the rule has fired', async () => (await alerts()).items.length > 0);
    const [alert] = (await alerts()).items;
    const { open } = await openSignedIn(session);
    const page = await open(`/alerts/${alert?.id}`);
    await page
      .getByRole('region', { name: 'Costliest requests' })
      .getByRole('link', { name: /gpt-4o-mini/ })
      .waitFor();
    await page.getByRole('region', { name: 'Costliest sessions' }).getByText('loop-7').waitFor();
    expect(await page.getByText(/could not be/).count()).toBe(0);
    await screenshot(page, 'session-alert', true);
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    expect(await page.getByRole('dialog').getByLabel('Session').inputValue()).toBe('loop-7');
  });
});

describe('a refused request', () => {
  it('names what refused it, on its page and in the CSV', async () => {
    const { dashboard } = fixture();
    const session = await register(dashboard);
    const pause = { name: 'Runaway loop', scope: { tag: 'batch' } };
    const { id } = await readApi<{ id: string }>('/pauses', pause, session);
    await expect(sendRequest(dashboard, session, { 'x-service-tag': 'batch' })).rejects.toThrow('429');
    const { open } = await openSignedIn(session);
    let page = await open('/requests');
    const refused = page.getByRole('row').filter({ hasText: 'Refused' }).getByRole('link');
    await waitUntil('the refused request is in the log', async () => {
      page = await open('/requests?outcome=refused');
      await page.waitForLoadState('networkidle');
      return (await refused.count()) > 0;
    });
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV' }).click(),
    ]);
    const [names = '', values = ''] = (await readFile(await download.path(), 'utf8')).split('\r\n');
    expect(values.split(',')[names.split(',').indexOf('blocked_by')]).toBe(id);
    await refused.click();
    await page.getByRole('dialog').getByText('Pause: Runaway loop').waitFor();
    await screenshot(page, 'refused-request');
  });
});
