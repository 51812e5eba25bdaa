import { describe, expect, it } from '@jest/globals';
import { register } from '../browser/accounts.ts';
import { changeResponses, screenshot, seriousFindings, waitUntilIdle } from '../browser/browser.ts';
import { fixture, openSignedIn } from '../browser/fixture.ts';

describe('the plan', () => {
  it('shows its price before the payment, and is named after it and after a change', async () => {
    const { open } = await openSignedIn(await register(fixture().dashboard));
    const page = await open('/billing');
    await page.getByText('$29 a month').waitFor();
    await waitUntilIdle(page);
    expect(await seriousFindings(page)).toEqual([]);
    await screenshot(page, 'plan-prices', true);
    await page.getByRole('button', { name: 'Upgrade to Starter' }).click();
    await page.getByRole('button', { name: 'Pay and subscribe' }).click();
    await page.getByText('You are on the Starter plan').waitFor();
    await page.getByText('$29 a month if bought now').waitFor();
    await page.getByRole('button', { name: 'Upgrade to Pro' }).click();
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByText('You are on the Pro plan').waitFor();
  });

  it('says before a change to a smaller one what becomes of keys beyond its limit', async () => {
    const { open } = await openSignedIn(await register(fixture().dashboard), (page) =>
      changeResponses(page, '**/api/billing/status', ({ usage }) => ({
        plan: 'PRO',
        usage: { ...usage, keys: 7, keyLimit: 20 },
      })),
    );
    const page = await open('/billing');
    const plan = (name: string) => page.getByRole('article').filter({ hasText: name });
    await plan('Starter').getByText('Your 7 active keys go on working; a new one needs fewer than 5.').waitFor();
    await plan('Free').getByText('a new one needs fewer than 2.').waitFor();
    expect(await plan('Scale').getByText('go on working').count()).toBe(0);
  });

  it('shows no amount where the payment processor reports none, and sells no plan without a price', async () => {
    const items = [
      { plan: 'STARTER', isSold: true, price: null },
      { plan: 'PRO', isSold: false, price: null },
      {
        plan: 'SCALE',
        isSold: true,
        price: { amountMinor: 8_700, amount: '87.00', currency: 'EUR', interval: 'month', intervalCount: 3 },
      },
    ];
    const { open } = await openSignedIn(await register(fixture().dashboard), (page) =>
      page.route('**/api/billing/prices', (route) => route.fulfill({ json: { items } })),
    );
    const page = await open('/billing');
    await page.getByText('€87 every 3 months').waitFor();
    const plan = (name: string) => page.getByRole('article').filter({ hasText: name });
    await plan('Starter').getByText('The checkout shows the price').waitFor();
    await plan('Starter').getByRole('button', { name: 'Upgrade to Starter' }).waitFor();
    await plan('Pro').getByText('Not sold here').waitFor();
    expect(await plan('Pro').getByRole('button').count()).toBe(0);
    expect(await page.getByText('$0').count()).toBe(0);
  });
});
