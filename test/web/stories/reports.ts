import { describe, expect, it } from '@jest/globals';
import { alertMail } from '../../../lambda/domain/alerts/alert-text.ts';
import { reportMail } from '../../../lambda/domain/reports/report-mail.ts';
import { sampleAlert } from '../../domain/alerts/sample-alert.ts';
import { sampleRun } from '../../domain/reports/sample-run.ts';
import { register, sendRequest, verifyAddress } from '../browser/accounts.ts';
import { openTab, overflow, phone, screenshot } from '../browser/browser.ts';
import { fixture, openSignedIn } from '../browser/fixture.ts';

describe('a report', () => {
  it('is made, is sent at once to who asks, follows the calendar of the account, and is deleted', async () => {
    const { dashboard } = fixture();
    const session = await register(dashboard);
    await verifyAddress(dashboard, session);
    await sendRequest(dashboard, session);
    const { open } = await openSignedIn(session);
    const page = await open('/reports');
    await page.getByRole('link', { name: 'Send a weekly report' }).click();
    await page.getByRole('button', { name: 'Create the report' }).click();
    await page.getByText('A name is required.').waitFor();
    await page.getByLabel('Name').fill('Weekly spend');
    await page.getByLabel('Slack', { exact: true }).check();
    await page.getByLabel('Slack: URL of an incoming webhook').fill('https://example.com/not-slack');
    await page.getByRole('button', { name: 'Create the report' }).click();
    await page.getByText('must be a URL like').first().waitFor();
    await page.getByLabel('Slack', { exact: true }).uncheck();
    await screenshot(page, 'report-form', true);
    await page.getByRole('button', { name: 'Create the report' }).click();
    await page.getByText('Every week at 8:00 AM (UTC): by project, model').waitFor();
    await page.getByRole('combobox', { name: 'Weeks begin on' }).click();
    await page.getByRole('option', { name: 'Sunday' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Calendar saved.').waitFor();
    await screenshot(page, 'reports');
    await page.getByRole('link', { name: /Weekly spend/ }).click();
    await page.getByRole('button', { name: 'Send me one now' }).click();
    await page.getByText('E-mail: sent.').waitFor();
    await screenshot(page, 'report', true);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete the report' }).click();
    await page.getByText('No reports yet').waitFor();
  });
});

describe('mails', () => {
  const long = 'x'.repeat(100);
  const url = 'https://dashboard.example.com';
  it.each([
    ['a report', reportMail(sampleRun([long, 'search']), url).html],
    ['an alert', alertMail({ ...sampleAlert, ruleName: long }, { alert: url, spend: url }).html],
  ])('of %s fit a phone, with names that can be read', async (name, html) => {
    const { page } = await openTab(fixture().browser, { ...phone, viewport: { width: 375, height: 800 } });
    await page.setContent(html);
    await screenshot(page, `mail-${name}`, true);
    expect(await overflow(page)).toBe(0);
    const narrowest = await page.evaluate<number>(
      "Math.min(...[...document.querySelectorAll('td:first-child, th:first-child')].map(({ offsetWidth }) => offsetWidth))",
    );
    expect(narrowest).toBeGreaterThan(50);
  });
});
