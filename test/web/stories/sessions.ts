import { describe, expect, it } from '@jest/globals';
import { openBeside, openTab, screenshot, settled, until } from '../browser/browser.ts';
import { house, openSignedIn } from '../browser/house.ts';
import { newEmail, register, sendRequest, signIn } from '../browser/people.ts';

const unauthorized = { status: 401, contentType: 'application/json', body: '{"message":"Unauthorized"}' };

/** An account of one's own, with one request: signing out ends nobody else's session. */
const newcomer = async () => {
  const { dashboard } = house();
  const email = newEmail();
  const session = await register(dashboard, email);
  await sendRequest(dashboard, session);
  return { email, session };
};

describe('with a token refused', () => {
  it('a new one is got without a word, and the refused request sent again', async () => {
    let refused = 0;
    const { open, complaints } = await openSignedIn(house().seeded, (page) =>
      page.route('**/api/keys', (route) => (refused++ > 0 ? route.continue() : route.fulfill(unauthorized))),
    );
    const page = await open('/keys');
    await page.getByText('default').first().waitFor();
    expect(refused).toBeGreaterThan(1);
    expect(complaints).toEqual([]);
  });

  it('and no new one to be had, one is signed out, told why, and brought back after signing in', async () => {
    const { email, session } = await newcomer();
    const { open, complaints } = await openSignedIn(session);
    const page = await open('/rules');
    await settled(page);
    await page.route('**/api/**', (route) => route.fulfill(unauthorized));
    // Whichever request is the first to be refused ends the session: the click's, or one that was due anyway.
    const ended = page.getByText('Your session has ended.').waitFor();
    await Promise.race([ended, page.getByRole('link', { name: 'Alerts' }).first().click()]);
    await ended;
    await screenshot(page, 'expired');
    expect(await page.evaluate('JSON.stringify(Object.keys(sessionStorage))')).not.toContain('refresh-token');
    await page.unroute('**/api/**');
    await signIn(page, email);
    await page.getByRole('heading', { name: /^(Alerts|Rules)$/ }).waitFor();
    expect(complaints).toEqual([]);
  });
});

describe('signing out', () => {
  it('reaches every tab, and leaves nothing behind', async () => {
    const { session } = await newcomer();
    const tab = await openSignedIn(session);
    const page = await tab.open('/');
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    const beside = await openBeside(tab);
    await beside.page.goto(`${house().dashboard.url}/keys`);
    await beside.page.getByRole('heading', { name: 'Keys' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are signed out').waitFor();
    await beside.page.getByText('You are signed out').waitFor();
    await beside.page.goto(`${house().dashboard.url}/keys`);
    await beside.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await beside.page.evaluate('JSON.stringify(Object.entries(localStorage))')).not.toMatch(/eyJ|token/);
    // A copy of the refresh token is worth nothing any more.
    const refresh = () =>
      fetch(`${house().dashboard.url}/api/auth/refresh`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ refreshToken: session.refreshToken }),
      });
    await until('the session is revoked', async () => (await refresh()).status === 401);
  });
});

describe('signing in', () => {
  it('does not follow a link that leads elsewhere', async () => {
    const { browser, dashboard } = house();
    const { email } = await newcomer();
    const { page } = await openTab(browser);
    await page.goto(`${dashboard.url}/sign-in?next=${encodeURIComponent('//elsewhere.example.com/')}`);
    await signIn(page, email);
    await page.getByRole('heading', { level: 1 }).filter({ hasNotText: 'Sign in' }).waitFor();
    expect(new URL(page.url()).origin).toBe(dashboard.url);
  });
});
