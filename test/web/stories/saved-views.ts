import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { View } from '../../../web/src/api/responses.ts';
import {
  overflow,
  phone,
  screenshot,
  seriousFindings,
  waitUntil,
  waitUntilDrawn,
  waitUntilIdle,
} from '../browser/browser.ts';
import { callApi, fixture, openSignedIn, readApi } from '../browser/fixture.ts';

const views = async () => (await readApi<{ items: View[] }>('/views')).items;

/** A run that failed leaves its views. */
const deleteViews = async (): Promise<void> => {
  for (const { id } of await views()) await callApi('DELETE', `/views/${id}`);
};

/** Saves what the page shows, by its menu. */
const save = async (page: Page, name: string, button = 'Save', refused?: string): Promise<void> => {
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('menuitem', { name: 'Save this view…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Save this view' });
  if (refused !== undefined) {
    await dialog.getByLabel('Name').fill(refused);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.locator('[aria-invalid="true"]').waitFor();
    await dialog.getByText('must not contain control characters').waitFor();
  }
  await dialog.getByLabel('Name').fill(name);
  await dialog.getByRole('button', { name: button }).click();
  await dialog.waitFor({ state: 'hidden' });
};
const openView = async (page: Page, name: string): Promise<void> => {
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('menuitem', { name }).click();
};

describe('saved views', () => {
  it('keep the settings of a page under a name, which the menu and the palette find', async () => {
    await deleteViews();
    const { open } = await openSignedIn(fixture().seeded);
    const page = await open('/?range=7d&by=tag&provider=%5B%22anthropic%22%5D&unknown=1');
    await save(page, 'Anthropic by tag', 'Save', 'Anthropic\u0007');
    expect(await views()).toMatchObject([
      { name: 'Anthropic by tag', page: 'overview', search: expect.not.stringContaining('unknown') },
    ]);

    await open('/');
    await openView(page, 'Anthropic by tag');
    await page.getByText('Provider: Anthropic').waitFor();
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
    const backgroundOf = (selector: string) =>
      page.evaluate(`getComputedStyle(document.querySelector('${selector}')).backgroundColor`);
    expect(await backgroundOf('.mantine-Pill-root')).not.toBe(await backgroundOf('body'));
    await page.emulateMedia({ colorScheme: 'light' });
    expect(new URL(page.url()).searchParams.get('range')).toBe('7d');
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: 'Anthropic by tag' }).getByLabel('shown').waitFor();
    await waitUntil('the menu has the focus', () =>
      page.evaluate<boolean>("document.activeElement.closest('[role=menu]') !== null"),
    );
    await page.keyboard.press('Escape');
    const focused = () => page.evaluate<string | null>('document.activeElement.textContent');
    await waitUntil('the button has the focus', async () => (await focused()) === 'Views');

    // The same name again: other settings, one view.
    await open('/?range=month&by=tag');
    await save(page, 'Anthropic by tag', 'Replace the view');
    expect(await views()).toMatchObject([{ name: 'Anthropic by tag', search: 'range=month&by=tag' }]);

    await open('/requests?provenance=unknown');
    await save(page, 'Unknown costs');
    await open('/keys');
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByLabel('Go to a page').fill('unknown c');
    await page.getByRole('button', { name: /Unknown costs/ }).click();
    await page.waitForURL(/\/requests\?provenance=unknown$/);

    // Periods with a name stay relative.
    await open('/compare');
    await page.getByLabel('Periods').selectOption('This month and last month');
    await page.waitForURL(/periods=month/);
    await save(page, 'Month');
    expect((await views()).find(({ name }) => name === 'Month')).toMatchObject({ search: 'periods=month' });

    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: 'Unknown costs' }).waitFor();
    await waitUntilIdle(page);
    expect(await seriousFindings(page)).toEqual([]);
    await screenshot(page, 'saved-views');
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
    await waitUntilDrawn(page);
    await screenshot(page, 'saved-views-dark');
    expect(await seriousFindings(page, 'colours')).toEqual([]);
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ ...phone.viewport, width: 375 });
    // The open menu moves after the width has changed.
    await waitUntil('the page fits the width', async () => (await overflow(page)) === 0);
    await screenshot(page, 'saved-views-phone');

    await page.getByRole('menuitem', { name: 'Rename or delete…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Saved views' });
    await dialog.getByLabel('Name of Month').fill('Month to month');
    await dialog.getByRole('button', { name: 'Rename', disabled: false }).click();
    await dialog.getByRole('button', { name: 'Delete Month to month' }).waitFor();
    await waitUntilIdle(page);
    expect(await seriousFindings(page)).toEqual([]);
    await screenshot(page, 'manage-views-phone');
    for (const name of ['Month to month', 'Unknown costs', 'Anthropic by tag']) {
      await dialog.getByRole('button', { name: `Delete ${name}` }).click();
      await page.getByRole('button', { name: 'Delete', exact: true }).last().click();
      await dialog.getByRole('button', { name: `Delete ${name}` }).waitFor({ state: 'hidden' });
    }
    expect(await views()).toEqual([]);
  });
});
