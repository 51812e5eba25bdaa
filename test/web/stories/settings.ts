import { describe, expect, it } from '@jest/globals';
import { PASSWORD, register } from '../browser/accounts.ts';
import { screenshot } from '../browser/browser.ts';
import { fixture, openSignedIn } from '../browser/fixture.ts';

it('a choice of colours breaks no rule of the page’s policy', async () => {
  const { open } = await openSignedIn(fixture().seeded);
  const page = await open('/');
  for (const name of ['Dark', 'Auto']) await page.getByRole('radiogroup', { name: 'Colours' }).getByText(name).click();
  await page.locator('html[data-mantine-color-scheme="light"]').waitFor();
});

describe('the settings of an account', () => {
  it('export its data, ask for its deletion and cancel that', async () => {
    const { open } = await openSignedIn(await register(fixture().dashboard));
    const page = await open('/settings');
    const data = page.getByRole('region', { name: 'Data' });
    await data.getByRole('button', { name: 'Export all data' }).click();
    await data.getByRole('button', { name: 'Download' }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      data.getByRole('button', { name: 'Download' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/\.tar\.gz$/);

    await page.getByRole('button', { name: 'Delete the account' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Your password').fill('not the password');
    await dialog.getByRole('button', { name: 'Delete the account' }).click();
    await dialog.getByText('The account is not being deleted').waitFor();
    await dialog.getByLabel('Your password').fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Delete the account' }).click();
    await page.getByText('This account will be deleted').waitFor();
    await screenshot(page, 'deletion', true);
    await page.getByRole('button', { name: 'Keep the account' }).click();
    await page.getByText('This account will be deleted').waitFor({ state: 'detached' });
  });
});
