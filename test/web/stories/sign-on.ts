import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { type ApiSession, PASSWORD, register, verifyAddress } from '../browser/accounts.ts';
import { openTab, screenshot } from '../browser/browser.ts';
import { fixture, openSignedIn, readApi } from '../browser/fixture.ts';

const claimsSchema = z.object({ iss: z.string(), aud: z.string() });
const clientsSchema = z.object({ Clients: z.record(z.string(), z.object({ ClientSecret: z.string() })) });

const OWNER = 'owner@acme.example';
let owner: ApiSession;

// biome-ignore lint/suspicious/noExplicitAny: tests read members without a cast.
const read = (path: string): Promise<any> => readApi(path, undefined, owner);

/** The owner lets colleagues sign in at the identity provider. */
const turnOn = async () => {
  const { open } = await openSignedIn(owner);
  const page = await open('/settings');
  const section = page.getByRole('region', { name: 'Single sign-on' });
  await section.getByLabel('Members sign in at Acme').waitFor();
  if (!(await section.getByLabel('Members sign in at Acme').isChecked())) {
    await section.getByLabel('Members sign in at Acme').click();
    await section.getByLabel('Role of new members').selectOption('member');
    const projects = section.getByRole('combobox', { name: 'Projects of new members' });
    await projects.fill('Def');
    await page.getByRole('option', { name: 'Default' }).waitFor();
    await projects.press('Enter');
    await projects.press('Tab');
    await screenshot(page, 'sign-on-settings', true);
    await section.getByRole('button', { name: 'Save' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change single sign-on?' });
    await dialog.getByLabel('Your password', { exact: true }).fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Change it' }).click();
    await page.getByText('Single sign-on is changed.').waitFor();
  }
  expect(await read('/sign-on')).toMatchObject({
    provider: 'Acme',
    defaultRole: 'member',
    defaultProjects: [expect.any(String)],
    isRequired: false,
  });
};

/** The fake takes the place of the stack's user pool: same issuer, client and secret. */
beforeAll(async () => {
  const { dashboard } = fixture();
  const { stack, url, signOn } = dashboard;
  owner = await register(dashboard, OWNER);
  const { iss, aud } = claimsSchema.parse(
    JSON.parse(Buffer.from(owner.token.split('.')[1] ?? '', 'base64url').toString()),
  );
  const clients = clientsSchema.parse(JSON.parse(readFileSync(join(stack.dataDir, 'cognito', 'clients.json'), 'utf8')));
  signOn.open({
    issuer: iss,
    clientId: aud,
    clientSecret: clients.Clients[aud]?.ClientSecret,
    redirectUri: `${url}/sign-in/callback`,
    signingKey: readFileSync(join(stack.dataDir, 'cognito-key.pem'), 'utf8'),
  });
  await verifyAddress(dashboard, owner);
});

describe('single sign-on', () => {
  it('makes a colleague a member, who comes to the page that was asked for', async () => {
    await turnOn();
    const { browser, dashboard } = fixture();
    const { page } = await openTab(browser);
    await page.goto(`${dashboard.url}/keys`);
    await page.getByLabel('E-mail').fill('Grace@acme.example');
    await screenshot(page, 'sign-in');
    await page.getByRole('button', { name: 'Single sign-on' }).click();
    // At the identity provider.
    await page.getByRole('heading', { name: 'Identity provider' }).waitFor();
    expect(new URL(page.url()).origin).toBe(dashboard.signOn.origin);
    await page.getByLabel('Address').fill('grace@acme.example');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/keys');
    expect(await page.evaluate('sessionStorage.getItem("sign-on")')).toBeNull();
    const { items } = await read('/members');
    expect(items).toContainEqual(expect.objectContaining({ email: 'grace@acme.example', role: 'member' }));
  });

  it('connects the login of a member once its password is entered', async () => {
    await turnOn();
    const { browser, dashboard } = fixture();
    const { page } = await openTab(browser);
    await page.goto(`${dashboard.url}/keys`);
    await page.getByLabel('E-mail').fill(OWNER);
    await page.getByRole('button', { name: 'Single sign-on' }).click();
    await page.getByLabel('Address').fill(OWNER);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('heading', { name: 'Connect your login' }).waitFor();
    await page.getByLabel('Password', { exact: true }).fill('not the password');
    await page.getByRole('button', { name: 'Connect and sign in' }).click();
    await page.getByText('The password is wrong.').waitFor();
    await screenshot(page, 'connect-login');
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Connect and sign in' }).click();
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/keys');
    const { items } = await read('/audit');
    expect(items).toContainEqual(
      expect.objectContaining({ action: 'user.identity_linked', details: { provider: 'Acme' } }),
    );
  });

  it('says what is wrong: no provider, a code that this tab did not ask for', async () => {
    const { browser, dashboard } = fixture();
    const { page } = await openTab(browser);
    await page.goto(`${dashboard.url}/sign-in`);
    await page.getByLabel('E-mail').fill('someone@elsewhere.example');
    await page.getByRole('button', { name: 'Single sign-on' }).click();
    await page.getByText('Your address has no single sign-on here.').waitFor();
    await page.goto(`${dashboard.url}/sign-in/callback?code=stolen&state=guessed`);
    await page.getByText('was not begun in this tab').waitFor();
    await page.getByRole('link', { name: 'Back to sign-in' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });
});
