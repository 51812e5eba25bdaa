import { expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { restoreSession } from '../browser/accounts.ts';
import {
  chartOf,
  layoutShift,
  MAX_LAYOUT_SHIFT,
  openTab,
  waitUntil,
  waitUntilIdle,
  watchShifts,
  watchTraffic,
} from '../browser/browser.ts';
import { fixture, openSignedIn } from '../browser/fixture.ts';

/** A slow phone: 400 ms until the first byte, 50 kB a second. */
const SLOW_NETWORK = { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 };

/** What was received: `/api/spend`, 5,120 bytes of body as sent. */
interface Received {
  readonly path: string;
  readonly bytes: number;
}

const watchReceived = (page: Page) => {
  const received: Promise<Received>[] = [];
  page.on('requestfinished', (request) => {
    const path = new URL(request.url()).pathname;
    received.push(request.sizes().then(({ responseBodySize }) => ({ path, bytes: responseBodySize })));
  });
  return async () => {
    const all = await Promise.all(received.splice(0));
    return { all, bytes: all.reduce((sum, { bytes }) => sum + bytes, 0) };
  };
};

/** The budget of the first load, the API's responses included. `.ci/run` checks it in every run, however slow the machine is. */
it('the first load takes at most 350 kB in 25 requests, paints within 3 s on a slow network, and does not shift', async () => {
  const { browser, dashboard, seeded } = fixture();
  // Nothing is in this tab's cache.
  const { page } = await openTab(browser);
  await restoreSession(page, dashboard, seeded);
  await watchShifts(page);
  const received = watchReceived(page);
  const network = await page.context().newCDPSession(page);
  await network.send('Network.enable');
  await network.send('Network.emulateNetworkConditions', SLOW_NETWORK);
  await page.goto(`${dashboard.url}/`, { waitUntil: 'commit' });
  await chartOf(page).waitFor();
  await waitUntilIdle(page);
  const painted = "performance.getEntriesByName('first-contentful-paint')[0].startTime";
  expect(await page.evaluate<number>(painted)).toBeLessThan(3_000);
  expect(await layoutShift(page)).toBeLessThan(MAX_LAYOUT_SHIFT);
  const { all, bytes } = await received();
  expect(all.map(({ path }) => path)).toContain('/first-paint.css');
  expect(bytes).toBeGreaterThan(50_000);
  if (bytes > 350_000 || all.length > 25) throw new Error(`${bytes} bytes in ${all.length}: ${JSON.stringify(all)}`);
});

it('an overview that stays open gets only what has changed: at most 10 kB a minute', async () => {
  const { open } = await openSignedIn(fixture().seeded, (page) => page.clock.install());
  const page = await open('/');
  await waitUntilIdle(page);
  const received = watchReceived(page);
  const statuses: number[] = [];
  page.on('response', (response) => statuses.push(response.status()));
  const traffic = watchTraffic(page);
  await waitUntil('the figures are read again', async () => {
    // The page's clock stands while the API answers, however slow the machine is.
    if (traffic.open.size === 0) await page.clock.runFor(20_000);
    return statuses.length >= 9;
  });
  await waitUntilIdle(page);
  const { bytes } = await received();
  expect(statuses).toContain(304);
  expect(bytes).toBeLessThan(10_000);
});
