import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { register } from '../browser/accounts.ts';
import { overflow, screenshot, seriousFindings, waitUntilIdle } from '../browser/browser.ts';
import { callApi, fixture, openSeeded, openSignedIn, readApi } from '../browser/fixture.ts';

const PLAN = {
  provider: 'anthropic',
  credential: 'subscription',
  from: new Date(Date.now() - 40 * 86_400_000).toISOString(),
  terms: { kind: 'subscription', usdPerMonth: 200 },
};

describe('savings', () => {
  it('are dismissed with a reason, taken back and watched', async () => {
    // A run that failed leaves what it decided.
    const { decided } = await readApi<{ decided: { id: string }[] }>('/savings');
    for (const { id } of decided) await callApi('DELETE', `/savings/decisions/${id}`);
    const name = `Plan ${randomUUID().slice(0, 8)}`;
    const { id } = await readApi<{ id: string }>('/prices', { ...PLAN, name });
    const page = await openSeeded('/savings');
    const shown = (of: Locator) => of.filter({ visible: true });
    const row = (region: string, text: string) =>
      page.getByRole('region', { name: region }).getByRole('row').filter({ hasText: text });
    const plan = row('Findings', name);
    await shown(plan.getByText(`“${name}” cost $200.00 in 30 days.`)).waitFor();
    await shown(plan.getByRole('button', { name: 'Dismiss' })).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Dismiss' }).click();
    await dialog.getByText('A reason is required.').waitFor();
    const reason = `The team of ${name} starts in December.`;
    await dialog.getByLabel('Reason').fill(reason);
    await screenshot(page, 'savings-dismiss');
    await dialog.getByRole('button', { name: 'Dismiss' }).click();
    const dismissed = row('Watched and dismissed', reason);
    await shown(dismissed.getByText(`“${reason}”`)).waitFor();
    expect(await plan.count()).toBe(0);
    for (const colorScheme of ['light', 'dark'] as const)
      for (const width of [375, 768, 1440]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 860 });
        await waitUntilIdle(page);
        expect([await seriousFindings(page), await overflow(page)]).toEqual([[], 0]);
        await screenshot(page, `savings-${width}-${colorScheme}`, true);
      }
    await dismissed.getByRole('button', { name: 'Undo' }).click();
    await shown(plan.getByRole('button', { name: 'Watch' })).click();
    const watched = page.getByText('Watched by the amount alone: it is not about single requests.');
    await shown(watched).waitFor();
    await callApi('DELETE', `/prices/${id}`);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('heading', { name: 'Watched and dismissed' }).waitFor({ state: 'detached' });
    const dear = row('Findings', 'tag extraction');
    await shown(dear.getByRole('link', { name: 'All its requests' }))
      .first()
      .waitFor();
    await shown(dear.getByRole('link', { name: 'Set a limit' }))
      .first()
      .click();
    await page.getByRole('heading', { name: 'New limit' }).waitFor();
    expect(await page.getByRole('combobox', { name: 'Tag' }).inputValue()).toBe('extraction');
    await page.getByText(/It would (not )?have fired/).waitFor();
  });

  it('of an account without requests say that nothing was examined', async () => {
    const { open } = await openSignedIn(await register(fixture().dashboard));
    await (await open('/savings')).getByText('There was no request to examine.').waitFor();
  });

  it('of a what-if go when its question changes', async () => {
    const { open } = await openSignedIn(fixture().seeded);
    const card = (await open('/savings')).getByRole('region', { name: 'What if' });
    await card.getByRole('combobox', { name: 'Service tier' }).click();
    await card.page().getByRole('option', { name: 'batch' }).click();
    await card.getByRole('button', { name: 'Price again' }).click();
    const figures = card.getByText('The tokens are the same.');
    await figures.waitFor();
    await card.getByLabel('Tag').fill('extraction');
    await figures.waitFor({ state: 'hidden' });
    await screenshot(card.page(), 'what-if-changed', true);
  });
});
