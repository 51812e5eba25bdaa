import { expect, it } from '@jest/globals';
import { restoreSession } from '../browser/accounts.ts';
import { layoutShift, MAX_LAYOUT_SHIFT, openTab, waitUntilIdle, watchShifts } from '../browser/browser.ts';
import { fixture } from '../browser/fixture.ts';

/** A slow phone: 400 ms until the first byte, 50 kB a second. */
const SLOW_NETWORK = { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 };

/** The budget of the first load. `.ci/run` checks it in every run, however slow the machine is. */
it('the first load takes at most 300 kB in 25 files, paints within 3 s on a slow network, and does not shift', async () => {
  const { browser, dashboard, seeded } = fixture();
  // Nothing is in this tab's cache.
  const { page } = await openTab(browser);
  await restoreSession(page, dashboard, seeded);
  await watchShifts(page);
  const files: Promise<{ path: string; bytes: number }>[] = [];
  page.on('requestfinished', (request) => {
    const path = new URL(request.url()).pathname;
    if (path.startsWith('/api/')) return;
    files.push(request.sizes().then(({ responseBodySize }) => ({ path, bytes: responseBodySize })));
  });
  const network = await page.context().newCDPSession(page);
  await network.send('Network.enable');
  await network.send('Network.emulateNetworkConditions', SLOW_NETWORK);
  await page.goto(`${dashboard.url}/`, { waitUntil: 'commit' });
  await page.locator('canvas').waitFor();
  await waitUntilIdle(page);
  const painted = "performance.getEntriesByName('first-contentful-paint')[0].startTime";
  expect(await page.evaluate<number>(painted)).toBeLessThan(3_000);
  expect(await layoutShift(page)).toBeLessThan(MAX_LAYOUT_SHIFT);
  const loaded = await Promise.all(files);
  const total = loaded.reduce((sum, { bytes }) => sum + bytes, 0);
  expect(loaded.map(({ path }) => path)).toContain('/first-paint.css');
  expect(total).toBeGreaterThan(50_000);
  if (total > 300_000 || loaded.length > 25) {
    throw new Error(`${total} bytes in ${loaded.length} files: ${JSON.stringify(loaded)}`);
  }
});
