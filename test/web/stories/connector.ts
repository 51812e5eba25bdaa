import { hash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { newEmail, register, signIn } from '../browser/accounts.ts';
import { openTab, screenshot } from '../browser/browser.ts';
import { fixture } from '../browser/fixture.ts';

const VERIFIER = 'v'.repeat(43);
/** A number that JavaScript would round. */
const STATE = '98765432109876543210';

describe('a program that leads here to be let in', () => {
  it('gets a code after the sign-in, and with it a token', async () => {
    const { dashboard, browser } = fixture();
    const email = newEmail();
    await register(dashboard, email);
    const redirectUri = `${dashboard.url}/returned`;
    // biome-ignore lint/suspicious/noExplicitAny: the test reads members without a cast.
    const post = async (path: string, body: string, contentType: string): Promise<any> => {
      const headers = { 'content-type': contentType };
      return (await fetch(`${dashboard.url}/api${path}`, { method: 'POST', headers, body })).json();
    };
    const registration = { client_name: 'Claude', redirect_uris: [redirectUri] };
    const client = await post('/auth/clients', JSON.stringify(registration), 'application/json');
    const { page } = await openTab(browser);
    const asked = new URLSearchParams({
      response_type: 'code',
      client_id: client.client_id,
      redirect_uri: redirectUri,
      code_challenge: hash('sha256', VERIFIER, 'base64url'),
      code_challenge_method: 'S256',
      state: STATE,
      resource: `${dashboard.url}/api/mcp`,
    });
    await page.goto(`${dashboard.url}/authorize?${asked}`);
    await signIn(page, email);
    await page.getByRole('heading', { name: 'Connect Claude' }).waitFor();
    await page.getByLabel('Valid for').selectOption('30');
    await screenshot(page, 'connector', true);
    await page.getByRole('button', { name: /^Let localhost:\d+ in$/ }).click();
    await page.waitForURL(/\/returned\?/);
    const returned = new URL(page.url()).searchParams;
    expect(returned.get('state')).toBe(STATE);
    const form = new URLSearchParams({
      grant_type: 'authorization_code',
      code: returned.get('code') ?? '',
      client_id: client.client_id,
      code_verifier: VERIFIER,
    });
    const issued = await post('/auth/token', String(form), 'application/x-www-form-urlencoded');
    expect(issued).toMatchObject({ access_token: expect.stringMatching(/^sat_/), token_type: 'Bearer' });
    await page.goto(`${dashboard.url}/tokens`);
    await page.getByRole('row', { name: /Claude/ }).waitFor();
  });
});
