import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { totpCode, unusedCodes } from '../../../fixtures/totp.ts';
import { newEmail, PASSWORD, signUp } from '../browser/accounts.ts';
import { openTab, screenshot, type Tab, waitUntil, waitUntilIdle } from '../browser/browser.ts';
import { fixture } from '../browser/fixture.ts';
import { readCode, readMail } from '../browser/mails.ts';

const open = (page: Page, path: string) => page.goto(`${fixture().dashboard.url}${path}`);
const menu = (page: Page, name: string) => page.getByRole('navigation').getByRole('link', { name }).first();

const verify = async (tab: Tab, email: string) => {
  const { page } = tab;
  const code = await readCode(tab, email);
  // The form is below the page: what still loads there moves it, and a button that moves while it is pressed is not clicked.
  await page.getByText('Waiting for the first request').waitFor();
  await waitUntilIdle(page);
  await page.route('**/api/auth/verify-email', (route) => route.fulfill({ status: 503, json: {} }));
  await page.getByLabel('Code from the e-mail').fill(code);
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByText('The address was not verified').waitFor();
  await page.unroute('**/api/auth/verify-email');
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByText('Your e-mail address is verified.').waitFor();
  await page.getByLabel('Code from the e-mail').waitFor({ state: 'hidden' });
};

const invite = async (page: Page, email: string) => {
  await open(page, '/members');
  await page.getByRole('button', { name: 'Invite' }).click();
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Role', { exact: true }).selectOption('viewer');
  await page.getByRole('button', { name: 'Send the invitation' }).click();
  await page.getByText(`An invitation is on its way to ${email}.`).waitFor();
  await page.getByRole('region', { name: 'Invitations' }).getByRole('cell', { name: email, exact: true }).waitFor();
};

const join = async (tab: Tab, email: string) => {
  const mail = await readMail(tab, email, 'invit');
  await tab.page.goto(/http:\S+accept-invitation#\S+/.exec(mail)?.[0] ?? '');
  await tab.page.getByLabel('First name').fill('Grace');
  await tab.page.getByLabel('Last name').fill('Hopper');
  await tab.page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await tab.page.getByRole('button', { name: 'Join the account' }).click();
};

/** What the role of a viewer cannot do is not there. */
const seeNothingToChange = async (page: Page) => {
  // The page of all pages.
  await open(page, '/more');
  await page.getByRole('main').getByRole('link', { name: 'Members' }).first().waitFor();
  for (const name of ['API tokens', 'Audit log', 'Settings'])
    expect(await page.getByRole('main').getByRole('link', { name }).count()).toBe(0);
  const pages = { '/limits': 'No limits yet', '/keys': 'default', '/members': '(you)' };
  for (const [path, content] of Object.entries(pages)) {
    await open(page, path);
    await page.getByText(content).first().waitFor();
    const main = page.getByRole('main');
    for (const name of [/^New/, /^Set a/, 'Invite', /^Revoke/])
      expect(await main.getByRole('button', { name }).or(main.getByRole('link', { name })).count()).toBe(0);
  }
};

const createToken = async (page: Page) => {
  await open(page, '/tokens');
  await page.getByRole('button', { name: 'New token' }).click();
  await page.getByLabel('Name').fill('Nightly report');
  // An admin may not pay, so no token of theirs may.
  expect(await page.getByLabel('Role').getByRole('option').allTextContents()).toEqual([
    expect.stringMatching(/^admin/),
    expect.stringMatching(/^member/),
    expect.stringMatching(/^viewer/),
  ]);
  await page.getByRole('button', { name: 'Create the token' }).click();
  const token = (await page.getByRole('dialog').locator('code').textContent()) ?? '';
  await screenshot(page, 'token-created');
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await page.getByRole('row', { name: /Nightly report.*viewer.*never/ }).waitFor();
  expect(await page.getByText(token).count()).toBe(0);
  const response = await fetch(`${fixture().dashboard.url}/api/machine/spend`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(response.status).toBe(200);
};

const revokeToken = async (page: Page) => {
  await page.getByRole('button', { name: 'Revoke Nightly report' }).click();
  await page.getByRole('button', { name: 'Revoke the token' }).click();
  await page.getByText('No API tokens yet').waitFor();
};

type NextCode = ReturnType<typeof unusedCodes>;

/** Returns the authenticator app. */
const setUpTotp = async (page: Page): Promise<NextCode> => {
  await open(page, '/profile');
  const section = page.getByRole('region', { name: 'Second factor' });
  await section.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await section.getByRole('button', { name: 'Set it up' }).click();
  await section.getByRole('img', { name: 'QR code of the secret' }).waitFor();
  await screenshot(page, 'totp', true);
  const secret = ((await section.locator('.mono').textContent()) ?? '').trim();
  await section.getByLabel('Code of the authenticator app').fill(totpCode(secret, Date.now()));
  await section.getByRole('button', { name: 'Turn it on' }).click();
  await section.getByText('It is on').waitFor();
  return unusedCodes(secret);
};

/** A session alone is not enough: the password and the code are asked for. */
const requireTotp = async (page: Page, nextCode: NextCode) => {
  await open(page, '/settings');
  await page.getByLabel('Require it of every member').click();
  const dialog = page.getByRole('dialog', { name: 'Require a second factor?' });
  await dialog.getByRole('button', { name: 'Require it' }).click();
  await dialog.getByText('Send your password.').waitFor();
  await dialog.getByLabel('Your password', { exact: true }).fill(PASSWORD);
  await dialog.getByLabel('Code of the authenticator app').fill(await nextCode());
  await screenshot(page, 'prove-identity');
  await dialog.getByRole('button', { name: 'Require it' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await page.reload();
  expect(await page.getByLabel('Require it of every member').isChecked()).toBe(true);
};

const changeName = async (page: Page) => {
  await open(page, '/profile');
  await page.getByLabel('First name').fill('Augusta');
  await page.getByRole('button', { name: 'Save the name' }).click();
  await page.getByRole('link', { name: 'Augusta Lovelace' }).waitFor();
};

/** A wrong password is said and ends no session. The next code is not mailed within a minute of the one that verified the address. */
const failToChangeEmail = async (page: Page) => {
  await open(page, '/profile');
  const section = page.getByRole('region', { name: 'E-mail address' });
  await section.getByLabel('New address').fill(newEmail());
  await section.getByLabel('Your password', { exact: true }).fill('not the password');
  await section.getByRole('button', { name: 'Send a code to it' }).click();
  await section.getByText('The password is wrong.').waitFor();
};

/** Signs in with the code of the second factor. */
const signInWith = async (page: Page, email: string, password: string, nextCode: NextCode) => {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  const code = page.getByLabel('Code of the authenticator app');
  await code.waitFor();
  await code.fill(await nextCode());
  await page.getByRole('button', { name: 'Sign in' }).click();
};

const changePassword = async (page: Page, nextCode: NextCode, newPassword: string) => {
  await open(page, '/profile');
  const section = page.getByRole('region', { name: 'Password' });
  await section.getByLabel('Current password', { exact: true }).fill(PASSWORD);
  await section.getByLabel('New password', { exact: true }).fill(newPassword);
  await section.getByLabel('Code of the authenticator app').fill(await nextCode());
  await section.getByRole('button', { name: 'Change the password' }).click();
  await page.getByText('Your password is changed.').waitFor();
};

describe('two people of one account', () => {
  it('join, get a role, and keep their logins', async () => {
    const { browser, dashboard } = fixture();
    const [ada, grace] = [newEmail(), `grace.${newEmail()}`];
    const [owner, other] = [await openTab(browser), await openTab(browser)];
    await signUp(owner.page, dashboard, ada);
    await verify(owner, ada);
    await invite(owner.page, grace);
    await join(other, grace);
    await menu(other.page, 'Limits').waitFor();
    await seeNothingToChange(other.page);

    await owner.page.reload();
    const isChanged = owner.page.waitForResponse(
      (response) => response.request().method() === 'PATCH' && response.ok(),
    );
    await owner.page.getByRole('combobox', { name: `Role of ${grace}` }).selectOption('admin');
    await isChanged;
    await open(other.page, '/');
    await createToken(other.page);
    await revokeToken(other.page);

    await changeName(owner.page);
    await failToChangeEmail(owner.page);
    const nextCode = await setUpTotp(owner.page);
    await requireTotp(owner.page, nextCode);
    const [third, mary] = [await openTab(browser), `mary.${newEmail()}`];
    await invite(owner.page, mary);
    await join(third, mary);
    await third.page.getByText('You are a member of the account now.').waitFor();
    await changePassword(owner.page, nextCode, 'Another-Horse-8-Battery');
    await signInWith(owner.page, ada, 'Another-Horse-8-Battery', nextCode);
    await menu(owner.page, 'Access').waitFor();
  });
});

describe('accepting an invitation', () => {
  it('says what is missing before anything is typed', async () => {
    const { page } = await openTab(fixture().browser);
    await open(page, '/accept-invitation');
    await page.getByText('This address is not complete: what follows the # is missing.').waitFor();
    expect(await page.getByRole('button').count()).toBe(0);
    await page.evaluate('location.hash = "token"');
    await page.getByRole('button', { name: 'Join the account' }).waitFor();
  });

  it('asks for the code of a login that has a second factor', async () => {
    const { page } = await openTab(fixture().browser);
    const sent: unknown[] = [];
    await page.route('**/api/auth/accept-invitation', (route) => {
      sent.push(route.request().postDataJSON());
      const error = { code: 'TOTP_REQUIRED', message: 'Send the code.', type: 'gateway_error', requestId: 'r' };
      return route.fulfill({ status: 401, json: { error } });
    });
    await open(page, '/accept-invitation#token');
    await page.getByLabel('First name').fill('Grace');
    await page.getByLabel('Last name').fill('Hopper');
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    const submit = page.getByRole('button', { name: 'Join the account' });
    await submit.click();
    await page.getByText('Enter the code that your authenticator app shows now.').waitFor();
    await page.getByLabel('Code of the authenticator app').fill('123456');
    await submit.click();
    await waitUntil('the code is sent', async () => sent.length > 1);
    const names = { token: 'token', firstName: 'Grace', lastName: 'Hopper', password: PASSWORD };
    expect(sent).toEqual([names, { ...names, totp: '123456' }]);
  });
});
