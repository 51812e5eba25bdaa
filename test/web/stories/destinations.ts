import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { sendDestination } from '../../../lambda/account-jobs/send-destination.ts';
import { openUsers } from '../../../lambda/data/accounts/users.ts';
import { openDayExports, requestExport } from '../../../lambda/data/exports/day-exports.ts';
import { openDestinations } from '../../../lambda/data/exports/destinations.ts';
import { openRequests } from '../../../lambda/data/requests/requests.ts';
import { write } from '../../../lambda/data/table/write.ts';
import { WebhookError } from '../../../lambda/integrations/webhook.ts';
import { look, overflow, waitUntil } from '../browser/browser.ts';
import { fixture, openSignedIn, readApi } from '../browser/fixture.ts';

describe('a destination', () => {
  it('is made, shows why it takes nothing and when it did, is switched off and on, and is deleted', async () => {
    const { dashboard, seeded } = fixture();
    const { table } = dashboard.stack;
    const name = `Warehouse ${randomUUID().slice(0, 8)}`;
    const accountId = (await openUsers(table).find(seeded.userId))?.accountId ?? '';
    const day = new Date(Date.now() - 2 * 86_400_000).toISOString().slice(0, 10);
    await write(table, requestExport(accountId, day, Date.now()));
    const exported = () => readApi<{ items: { day: string }[] }>('/exports');
    await waitUntil('the day is exported', async () => (await exported()).items.some((each) => each.day === day));

    const { open } = await openSignedIn(seeded);
    const page = await open('/exports');
    await page.getByRole('button', { name: 'New destination' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill(name);
    await dialog.getByLabel('URL').fill('http://localhost/spend');
    await dialog.getByLabel('Header (optional)').fill('Authorization');
    await dialog.getByLabel('Its value').fill('Bearer loader');
    await dialog.getByRole('button', { name: 'Create the destination' }).click();
    await dialog.getByText('must begin with https://').first().waitFor();
    await look(page, 'new-destination');
    await dialog.getByLabel('URL').fill('https://localhost/spend');
    await dialog.getByRole('button', { name: 'Create the destination' }).click();
    await dialog.getByText('shown only once').waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();

    // Nothing but this story sends to it.
    const destinations = openDestinations(table);
    const destination = (await destinations.list(accountId)).items.find((each) => each.name === name);
    if (!destination) throw new Error('The destination is not in the table.');
    await destinations.note(destination, {}, null);
    const taken: string[] = [];
    const follow = (receive: (day: string) => void) =>
      sendDestination({
        destinations,
        dayExports: openDayExports(table),
        requests: openRequests(table),
        post: async ({ headers }, body) => receive(`${headers?.['authorization']} ${JSON.parse(body).day}`),
        now: () => new Date(Date.now() + 600_000),
      }).run(accountId, destination.destinationId, () => false);

    const row = page.getByRole('row', { name: new RegExp(name) });
    await waitUntil('the row says why it failed', async () => {
      await follow(() => {
        throw new WebhookError('it responded with 503', { status: 503 });
      });
      await page.reload();
      await row.getByText(/^Failed \d+ times?: /).waitFor();
      // A run of the schedule that had begun before may note its own failure once more.
      return (await row.getByText(/^Failed \d+ times?: it responded with 503\. It is tried again\.$/).count()) > 0;
    });
    await look(page, 'destinations');
    for (const width of [320, 360, 480, 768]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await overflow(page)).toBe(0);
    }

    await follow((day) => taken.push(day));
    expect(taken).toContain(`Bearer loader ${day}`);
    await page.reload();
    await row.getByText(/^Took something/).waitFor();
    await page.getByRole('button', { name: `Switch off ${name}` }).click();
    await row.getByText('off', { exact: true }).waitFor();
    await page.getByRole('button', { name: `Switch on ${name}` }).click();
    await row.getByText('on', { exact: true }).waitFor();
    await page.getByRole('button', { name: `Delete ${name}` }).click();
    await page.getByRole('button', { name: 'Delete it' }).click();
    await row.waitFor({ state: 'detached' });
  });
});
