import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { openBeside, openBrowser, openTab, screenshot, type Tab } from './browser/browser.ts';
import { type Dashboard, startDashboard } from './browser/dashboard.ts';
import { newEmail, PASSWORD } from './browser/people.ts';

const SLOW_MS = 150_000;
/** From the answer over the queue and the recorder to the page, which asks every two seconds or so. */
const ARRIVES_MS = 30_000;

let dashboard: Dashboard;
let browser: Browser;
beforeAll(async () => {
  [dashboard, browser] = await Promise.all([startDashboard({ scheduleEveryMs: 1_500 }), openBrowser()]);
}, SLOW_MS);
afterAll(async () => {
  await browser?.close();
  await dashboard?.stop();
});

const untilMail = async (to: string) => {
  const deadline = Date.now() + ARRIVES_MS;
  for (;;) {
    const mail = (await dashboard.stack.inbox()).find((each) => JSON.stringify(each).includes(to));
    if (mail) return JSON.stringify(mail);
    if (Date.now() > deadline) throw new Error(`No mail to ${to}.`);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
};

describe('from sign-up to an acknowledged alert', () => {
  const email = newEmail();
  let tab: Tab;
  beforeAll(async () => {
    tab = await openTab(browser, { permissions: ['clipboard-read', 'clipboard-write'] });
  });

  it('a newcomer signs up', async () => {
    const { page } = tab;
    await page.goto(dashboard.url);
    await page.getByRole('link', { name: 'Create an account' }).click();
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByText('Your first name is needed.').waitFor();
    await page.getByLabel('First name').fill('Ada');
    await page.getByLabel('Last name').fill('Lovelace');
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password', { exact: true }).fill('short');
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByText('At least 8 characters.', { exact: true }).waitFor();
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('heading', { name: 'Send your first request' }).waitFor();
    await page.getByText('Waiting for the first request').waitFor();
    await screenshot(page, 'first-run', true);
  });

  it('copies the snippet, runs it, and watches the request arrive', async () => {
    const { page } = tab;
    await page.getByRole('button', { name: 'Copy the snippet' }).click();
    const snippet = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(snippet).toMatch(/X-Service-Key: svc_[0-9A-Za-z]{30}'/);
    const { stdout } = await promisify(execFile)('bash', ['-c', snippet]);
    expect(JSON.parse(stdout)).toHaveProperty('choices');
    await page.getByText('Your first request is here.').waitFor({ timeout: ARRIVES_MS });
    await page.getByText(/gpt-4o-mini.* · \$0\.0000\d+/).waitFor();
    await screenshot(page, 'first-request', true);
    await page.getByRole('button', { name: 'Open the overview' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('button', { name: 'gpt-4o-mini' }).waitFor();
  });

  it('sees when a rule would have fired, and creates it', async () => {
    const { page } = tab;
    await page.getByRole('link', { name: 'Rules' }).first().click();
    await page.getByRole('link', { name: 'Set a daily limit' }).click();
    await page.getByLabel('Name').fill('Not a cent <b>more</b>');
    await page.getByLabel('Limit', { exact: true }).fill('0.000001');
    await page.getByText('It would have fired 1 time.').waitFor();
    await page.getByRole('button', { name: 'Create the rule' }).click();
    await page.getByText('More than $0.000001 a day').waitFor();
  });

  it('is mailed, follows the link into a new tab without signing in again, and acknowledges', async () => {
    const mail = await untilMail(email);
    const link = /http:\/\/localhost:\d+\/alerts\/[0-9a-f-]{36}/.exec(mail)?.[0];
    expect(link).toBeDefined();
    const { page, complaints } = await openBeside(tab);
    await page.goto(link as string);
    await page.getByRole('link', { name: 'Not a cent <b>more</b>' }).waitFor();
    await page.getByText(/sent Nov|sent \w{3} /).waitFor({ timeout: ARRIVES_MS });
    await screenshot(page, 'alert-open');
    await page.getByRole('button', { name: 'Acknowledge' }).click();
    await page.getByText('Acknowledged just now').waitFor();
    await page.getByRole('link', { name: 'Alerts' }).first().click();
    await page.getByText('Open', { exact: true }).click();
    await page.getByText('Nothing is open').waitFor();
    expect(complaints).toEqual([]);
  });

  it('had nothing to complain of, script errors and forbidden things included', () => {
    expect(tab.complaints).toEqual([]);
  });
});

describe('a forgotten password', () => {
  it('is set anew with the code from the mail', async () => {
    const email = newEmail();
    const { page, complaints } = await openTab(browser);
    await page.goto(`${dashboard.url}/sign-up`);
    await page.getByLabel('First name').fill('Ada');
    await page.getByLabel('Last name').fill('Lovelace');
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are signed out').waitFor();
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await page.getByLabel('E-mail').fill(email);
    await page.getByRole('button', { name: 'Send the code' }).click();
    await page.getByText(`If ${email} has an account`).waitFor();
    const code = /\b(\d{4,8})\b/.exec((await untilMail(email)).replaceAll(email, ''))?.[1] as string;
    await page.getByLabel('Code from the mail').fill('000000');
    await page.getByLabel('New password').fill('Another-Horse-8');
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByText('The password was not changed').waitFor();
    await page.getByLabel('Code from the mail').fill(code);
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByText('Your password is changed.').waitFor();
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Sign-in failed').waitFor();
    await page.getByLabel('Password', { exact: true }).fill('Another-Horse-8');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Send your first request' }).waitFor();
    expect(complaints).toEqual([]);
  });
});

describe('a plan', () => {
  it('is bought on the payment page, and shows', async () => {
    const { page, complaints } = await openTab(browser);
    await page.goto(`${dashboard.url}/sign-up`);
    await page.getByLabel('First name').fill('Ada');
    await page.getByLabel('Last name').fill('Lovelace');
    await page.getByLabel('E-mail').fill(newEmail());
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('link', { name: 'Billing' }).first().click();
    await page.getByText('of 10K requests').waitFor();
    await page.getByRole('button', { name: 'Upgrade to Starter' }).click();
    await page.getByRole('button', { name: 'Pay and subscribe' }).click();
    await page.getByText('of 100K requests').waitFor({ timeout: ARRIVES_MS });
    await page.getByRole('button', { name: 'Cards, invoices, cancellation' }).waitFor();
    expect(complaints).toEqual([]);
  });
});
