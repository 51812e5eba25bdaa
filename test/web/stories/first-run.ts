import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { newEmail, PASSWORD, signUp } from '../browser/accounts.ts';
import { openAnotherTab, openTab, screenshot, type Tab, waitUntil } from '../browser/browser.ts';
import { fixture } from '../browser/fixture.ts';

const mailTo = async (address: string, text = ''): Promise<string> => {
  let mail: string | undefined;
  await waitUntil(`a mail to ${address}`, async () => {
    mail = (await fixture().dashboard.stack.inbox())
      .map((each) => JSON.stringify(each))
      .find((m) => m.includes(address) && m.includes(text));
    return mail !== undefined;
  });
  return mail as string;
};

const fillSignUp = async (page: Page, email: string) => {
  await page.goto(fixture().dashboard.url);
  await page.getByRole('link', { name: 'Create an account' }).click();
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByText('Your first name is required.').waitFor();
  await page.getByLabel('First name').fill('Ada');
  await page.getByLabel('Last name').fill('Lovelace');
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password', { exact: true }).fill('short');
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByText('At least 12 characters.', { exact: true }).waitFor();
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('heading', { name: 'Send your first request' }).waitFor();
  await page.getByText('Waiting for the first request').waitFor();
  await screenshot(page, 'first-run', true);
};

/** What a button copies, or a shortcut. The browser writes it some time after the click. */
const copied = async (
  page: Page,
  label: string,
  copy = () => page.getByRole('button', { name: label }).click(),
): Promise<string> => {
  let text = '';
  await page.evaluate("navigator.clipboard.writeText('')");
  await copy();
  await waitUntil(`${label}: the text`, async () => {
    text = await page.evaluate<string>('navigator.clipboard.readText()');
    return text !== '';
  });
  return text;
};

/** The set-up of a coding tool, as a file of its own. */
const copyToolSetUp = async (page: Page) => {
  const choice = page.getByRole('combobox', { name: 'SDK or coding tool' });
  await choice.click();
  await page.getByRole('option', { name: 'Claude Code' }).click();
  const { env } = JSON.parse(await copied(page, 'Copy ~/.claude/settings.json'));
  expect(env.ANTHROPIC_BASE_URL).toBe(`${fixture().dashboard.url}/gateway/anthropic`);
  await screenshot(page, 'first-run-tool', true);
  await choice.click();
  await page.getByRole('option', { name: 'OpenAI' }).click();
  // The key is hidden in it, and yet what is selected works.
  await page.evaluate("getSelection().selectAllChildren(document.querySelector('pre'))");
  const selected = await copied(page, 'the selection', () => page.keyboard.press('Control+c'));
  expect(selected).toContain(await page.locator('.secret code').innerText());
};

const runSnippet = async (page: Page) => {
  const snippet = await copied(page, 'Copy the snippet');
  expect(snippet).toMatch(/X-Service-Key: svc_[0-9A-Za-z]{30}'/);
  const { stdout } = await promisify(execFile)('bash', ['-c', snippet]);
  expect(JSON.parse(stdout)).toHaveProperty('choices');
  await page.getByText('Your first request has arrived.').waitFor();
  await page.getByText(/gpt-4o-mini.* · \$0\.0000\d+/).waitFor();
  await screenshot(page, 'first-request', true);
  await page.getByRole('button', { name: 'Open the overview' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.getByRole('button', { name: 'gpt-4o-mini' }).waitFor();
};

/** Alerts wait until the address is verified. */
const verifyEmail = async (page: Page, email: string) => {
  const code = /\d{4} \d{4}/.exec(await mailTo(email, 'verification code'))?.[0] ?? '';
  await page.getByText(`Verify ${email}`).waitFor();
  await page.getByLabel('Code from the e-mail').fill('0000');
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByText('The code is wrong, was used, or has expired. Ask for another one.').waitFor();
  await page.getByLabel('Code from the e-mail').fill(code);
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByText('Your e-mail address is verified.').waitFor();
};

const createRule = async (page: Page, name: string) => {
  await page.getByRole('link', { name: 'Limits', exact: true }).first().click();
  await page.getByRole('link', { name: 'Set a daily limit' }).click();
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Limit', { exact: true }).fill('0.000001');
  await page.getByText('It would have fired 1 time.').waitFor();
  await page.getByRole('button', { name: 'Create the rule' }).click();
  await page.getByText('$0.000001 or more a day').waitFor();
};

/** Follows the link in the mail, in a new tab, without signing in again. */
const acknowledgeAlert = async (tab: Tab, email: string, name: string) => {
  const link = /http:\/\/localhost:\d+\/alerts\/[0-9a-f-]{36}/.exec(await mailTo(email, 'alerts/'))?.[0];
  expect(link).toBeDefined();
  const { page } = await openAnotherTab(tab);
  await page.goto(link as string);
  await page.getByRole('article').getByRole('heading', { name }).waitFor();
  // The delivery is stored after the mail is sent: the page is reloaded until it shows it.
  await waitUntil('the page shows the delivery', async () => {
    await page.reload();
    await page.getByRole('list', { name: 'Deliveries' }).waitFor();
    return (await page.getByText('sent', { exact: false }).count()) > 0;
  });
  await screenshot(page, 'alert-open');
  await page.getByRole('button', { name: 'Acknowledge' }).click();
  await page.getByText('Acknowledged just now').waitFor();
  await page.getByRole('link', { name: 'Alerts' }).first().click();
  await page.getByText('Open', { exact: true }).click();
  await page.getByText('No open alerts').waitFor();
};

describe('a new user', () => {
  it('signs up, sees the first request arrive, creates a rule, gets an e-mail, and acknowledges the alert', async () => {
    const email = newEmail();
    const rule = 'Not a cent <b>more</b>';
    const tab = await openTab(fixture().browser, { permissions: ['clipboard-read', 'clipboard-write'] });
    await fillSignUp(tab.page, email);
    await copyToolSetUp(tab.page);
    await runSnippet(tab.page);
    await verifyEmail(tab.page, email);
    await createRule(tab.page, rule);
    await acknowledgeAlert(tab, email, rule);
  });

  it('sets a new password with the code from the e-mail', async () => {
    const { browser, dashboard } = fixture();
    const email = newEmail();
    const { page } = await openTab(browser);
    await signUp(page, dashboard, email);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are signed out').waitFor();
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    // The page before has a field of this name, too.
    await page.getByRole('heading', { name: 'Reset your password' }).waitFor();
    await page.getByLabel('E-mail').fill(email);
    await page.getByRole('button', { name: 'Send the code' }).click();
    await page.getByText(`If ${email} has an account`).waitFor();
    const code = /\b(\d{4,8})\b/.exec((await mailTo(email, 'confirmation code')).replaceAll(email, ''))?.[1] as string;
    await page.getByLabel('Code from the e-mail').fill('000000');
    await page.getByLabel('New password', { exact: true }).fill('Another-Horse-8');
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByText('The password was not changed').waitFor();
    await page.getByLabel('Code from the e-mail').fill(code);
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByText('Your password is changed.').waitFor();
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Sign-in failed').waitFor();
    await page.getByLabel('Password', { exact: true }).fill('Another-Horse-8');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Send your first request' }).waitFor();
  });

  it('buys a plan on the payment page and sees it', async () => {
    const { browser, dashboard } = fixture();
    const { page } = await openTab(browser);
    await signUp(page, dashboard, newEmail());
    await page.getByRole('link', { name: 'Account' }).first().click();
    await page.getByRole('link', { name: 'Billing' }).click();
    await page.getByText('of 10K requests').waitFor();
    await page.getByRole('button', { name: 'Upgrade to Starter' }).click();
    await page.getByRole('button', { name: 'Pay and subscribe' }).click();
    await page.getByText('of 100K requests').waitFor();
    await page.getByText('You are on the Starter plan').waitFor();
    await page.getByRole('button', { name: 'Cards, invoices, cancellation' }).waitFor();
  });

  it('creates a key, sees it once, and revokes it', async () => {
    const { browser, dashboard } = fixture();
    const { page } = await openTab(browser, { permissions: ['clipboard-read', 'clipboard-write'] });
    await signUp(page, dashboard, newEmail());
    await page.getByRole('link', { name: 'Access' }).first().click();
    await page.getByRole('navigation', { name: 'Access' }).getByRole('link', { name: 'Keys', exact: true }).click();
    // My access has a button of this name, too.
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Batch jobs');
    await page.getByRole('button', { name: 'Create the key' }).click();
    await page.getByRole('dialog').locator(':focus').getByText('shown only once').waitFor();
    const key = await copied(page, 'Copy the key');
    expect(key).toMatch(/^svc_[0-9A-Za-z]{30}$/);
    await screenshot(page, 'key-created');
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('row', { name: /Batch jobs.*never/ }).waitFor();
    expect(await page.getByText(key).count()).toBe(0);
    await page
      .getByRole('row', { name: /Batch jobs/ })
      .getByRole('button', { name: 'Revoke Batch jobs' })
      .click();
    await page.getByRole('button', { name: 'Revoke the key' }).click();
    const revoked = page.getByRole('row', { name: /Batch jobs.*revoked/ });
    await revoked.getByRole('link', { name: '$0.00' }).waitFor();
    expect(await revoked.getByRole('link', { name: 'Set a limit' }).count()).toBe(0);
  });
});
