import { describe, expect, it } from '@jest/globals';
import { newEmail, register, sendRequest, signIn } from '../browser/accounts.ts';
import { openAnotherTab, openTab, screenshot, waitUntil, waitUntilIdle } from '../browser/browser.ts';
import { callApi, fixture, openSignedIn } from '../browser/fixture.ts';

const unauthorized = { status: 401, contentType: 'application/json', body: '{"message":"Unauthorized"}' };

/** A new account with one request: signing out ends no other story's session. */
const newAccount = async () => {
  const { dashboard } = fixture();
  const email = newEmail();
  const session = await register(dashboard, email);
  await sendRequest(dashboard, session);
  return { email, session };
};

describe('with a rejected token', () => {
  it('the page renews it unnoticed and retries the request', async () => {
    let attempts = 0;
    const { open } = await openSignedIn(fixture().seeded, (page) =>
      page.route('**/api/keys', (route) => (attempts++ > 0 ? route.continue() : route.fulfill(unauthorized))),
    );
    const page = await open('/keys');
    await waitUntil('the request is retried', async () => attempts > 1);
    await page.getByRole('button', { name: 'Rotate default' }).waitFor();
  });

  it('and no new one, the user is signed out, sees why, and returns to the page after signing in', async () => {
    const { email, session } = await newAccount();
    const { open } = await openSignedIn(session);
    const page = await open('/limits');
    await waitUntilIdle(page);
    await page.route('**/api/**', (route) => route.fulfill(unauthorized));
    // The first rejected request ends the session: that of the click, or one of a timer.
    const ended = page.getByText('Your session has ended.').waitFor();
    await Promise.race([ended, page.getByRole('link', { name: 'Alerts' }).first().click()]);
    await ended;
    await screenshot(page, 'expired');
    expect(await page.evaluate('JSON.stringify(Object.keys(sessionStorage))')).not.toContain('refresh-token');
    await page.unroute('**/api/**');
    await signIn(page, email);
    await page.getByRole('heading', { name: /^(Alerts|Limits)$/ }).waitFor();
  });
});

describe('signing out', () => {
  it('holds for a page that the browser kept while another was shown', async () => {
    const { session } = await newAccount();
    const { open } = await openSignedIn(session);
    const page = await open('/keys');
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    await callApi('POST', '/auth/logout', { refreshToken: session.refreshToken }, session);
    // Chromium keeps none while it is driven.
    await page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))");
    await page.getByText('Your session has ended.').waitFor();
  });

  it('ends the session in every tab and deletes its data', async () => {
    const { session } = await newAccount();
    const tab = await openSignedIn(session);
    const page = await tab.open('/');
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    const other = await openAnotherTab(tab);
    await other.page.goto(`${fixture().dashboard.url}/keys`);
    await other.page.getByRole('heading', { name: 'Keys' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are signed out').waitFor();
    await other.page.getByText('You are signed out').waitFor();
    await other.page.goto(`${fixture().dashboard.url}/keys`);
    await other.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await other.page.evaluate('JSON.stringify(Object.entries(localStorage))')).not.toMatch(/eyJ|token/);
    // A copy of the refresh token no longer works.
    const refresh = () =>
      fetch(`${fixture().dashboard.url}/api/auth/refresh`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ refreshToken: session.refreshToken }),
      });
    await waitUntil('the session is revoked', async () => (await refresh()).status === 401);
  });
});

describe('signing in', () => {
  it('does not follow a link to another site', async () => {
    const { browser, dashboard } = fixture();
    const { email } = await newAccount();
    const { page } = await openTab(browser);
    await page.goto(`${dashboard.url}/sign-in?next=${encodeURIComponent('//elsewhere.example.com/')}`);
    await signIn(page, email);
    await page.getByRole('heading', { level: 1 }).filter({ hasNotText: 'Sign in' }).waitFor();
    expect(new URL(page.url()).origin).toBe(dashboard.url);
  });
});
