import { describe, expect, it } from '@jest/globals';
import { register, sendRequest } from '../browser/accounts.ts';
import { openTab, takeBrowserErrors, waitUntil } from '../browser/browser.ts';
import { fixture, openSignedIn } from '../browser/fixture.ts';

const TAG = '<img src=x onerror=alert(1)>';

describe('what a client sends', () => {
  it('is always shown as text', async () => {
    const { dashboard } = fixture();
    const session = await register(dashboard);
    await sendRequest(dashboard, session, { 'x-service-tag': TAG });
    const { open } = await openSignedIn(session);
    const page = await open('/requests');
    // A request is recorded some seconds after its response; the list refreshes only every half minute.
    const shown = page.getByRole('region', { name: 'Requests' }).getByText(TAG);
    while ((await shown.count()) === 0) {
      await page.reload();
      await shown.or(page.getByText('No requests yet')).waitFor();
    }
    await open('/?by=tag');
    await page.getByRole('button', { name: TAG }).waitFor();
    expect(await page.locator('img').count()).toBe(0);
  });

  it('cannot run as script: the policy allows only our own', async () => {
    const { browser, dashboard } = fixture();
    const response = await fetch(dashboard.url, { headers: { accept: 'text/html' } });
    const policy = response.headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy).not.toMatch(/unsafe|\*/);
    const { page } = await openTab(browser);
    await page.goto(dashboard.url);
    const attempt = `try { document.body.innerHTML = '<b>x</b>'; 'done' } catch (error) { error.name }`;
    expect(await page.evaluate(attempt)).toBe('TypeError');
    await waitUntil('the browser reports it', async () => takeBrowserErrors().join().includes('TrustedHTML'));
  });
});
