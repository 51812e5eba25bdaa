import { describe, expect, it } from '@jest/globals';
import { uuidv7 } from 'uuidv7';
import { openAuditLog } from '../../../lambda/data/accounts/audit-log.ts';
import { openUsers } from '../../../lambda/data/accounts/users.ts';
import { DAY_MS } from '../../../lambda/domain/calendar/units.ts';
import { PASSWORD, register } from '../browser/accounts.ts';
import { screenshot, waitUntilIdle } from '../browser/browser.ts';
import { fixture, openSeeded, openSignedIn } from '../browser/fixture.ts';

it('a choice of colours breaks no rule of the page’s policy', async () => {
  const page = await openSeeded('/');
  for (const name of ['Dark', 'Auto']) await page.getByRole('radiogroup', { name: 'Colours' }).getByText(name).click();
  await page.locator('html[data-mantine-color-scheme="light"]').waitFor();
});

describe('the settings of an account', () => {
  it('export its data, ask for its deletion and cancel that', async () => {
    const { promise: responded, resolve: respond } = Promise.withResolvers<void>();
    const { open } = await openSignedIn(await register(fixture().dashboard), (page) =>
      page.route('**/api/account/archives', async (route) => {
        await responded;
        await route.continue();
      }),
    );
    const page = await open('/settings');
    const data = page.getByRole('region', { name: 'Data' });
    await data.locator('.mantine-Skeleton-root').waitFor();
    respond();
    await data.getByRole('button', { name: 'Export all data' }).click();
    await data.getByRole('button', { name: 'Download' }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      data.getByRole('button', { name: 'Download' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/\.tar\.gz$/);

    await page.getByRole('button', { name: 'Delete the account' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Your password', { exact: true }).fill('not the password');
    await dialog.getByRole('button', { name: 'Delete the account' }).click();
    await dialog.getByText('The account is not being deleted').waitFor();
    await dialog.getByLabel('Your password', { exact: true }).fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Delete the account' }).click();
    await page.getByText('This account will be deleted').waitFor();
    await screenshot(page, 'deletion', true);
    await page.getByRole('button', { name: 'Keep the account' }).click();
    await page.getByText('This account will be deleted').waitFor({ state: 'detached' });
  });
});

it('the audit log shows the days that are chosen, of all that the plan shows', async () => {
  const { dashboard, seeded } = fixture();
  const at = new Date(Date.now() - 60 * DAY_MS).toISOString();
  await openAuditLog(dashboard.stack.table).record({
    auditId: uuidv7(),
    accountId: (await openUsers(dashboard.stack.table).find(seeded.userId))?.accountId as string,
    at,
    action: 'key.created',
    actor: null,
    clientAddress: null,
    subject: null,
    details: { name: 'Long ago' },
    before: null,
  });
  const { open } = await openSignedIn(seeded);
  const page = await open('/audit');
  await waitUntilIdle(page);
  expect(await page.getByText('Long ago').count()).toBe(0);
  const day = at.slice(0, 10);
  await page.getByLabel('First day (UTC)').fill(day);
  // To leave a field is to choose its day, which leaves the focus in the next one.
  await page.getByLabel('Last day (UTC)').focus();
  await page.waitForURL(`**/audit?from=${day}*`);
  await waitUntilIdle(page);
  await page.locator('[aria-label="Last day (UTC)"]:focus').fill(day);
  await page.keyboard.press('Enter');
  await page.getByText('Long ago').waitFor();
  await page.reload();
  await page.getByText('Long ago').waitFor();
  expect(await page.getByRole('row').count()).toBe(2);
});
