import { afterAll, afterEach, beforeAll, jest } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { SEED_USER, seedData } from '../../../local/seed/seed.ts';
import { openBrowser, openTab, type Tab } from './browser.ts';
import { type Dashboard, startDashboard } from './dashboard.ts';
import { type ApiSession, logIn, signedIn } from './people.ts';

const START_MS = 300_000;
/** Rules are looked at this often: alerts need not be waited for by the minute. */
const SCHEDULE_MS = 4_000;

interface House {
  readonly dashboard: Dashboard;
  readonly browser: Browser;
  /** The account with two months of spend. */
  readonly seeded: ApiSession;
}

const opened: { dashboard?: Dashboard; browser?: Browser; seeded?: ApiSession } = {};

/** What all stories share; there once they run. */
export const house = (): House => {
  if (!opened.dashboard || !opened.browser || !opened.seeded) throw new Error('The stack has not started.');
  return { dashboard: opened.dashboard, browser: opened.browser, seeded: opened.seeded };
};

/** A tab of somebody who is signed in; `prepare` comes before the first page is asked for. */
export const openSignedIn = async (
  session: ApiSession,
  prepare?: (page: Page) => Promise<unknown>,
): Promise<Tab & { open(path: string): Promise<Page> }> => {
  const { browser, dashboard } = house();
  const tab = await openTab(browser);
  await signedIn(tab.page, dashboard, session);
  await prepare?.(tab.page);
  const open = async (path: string) => {
    await tab.page.goto(`${dashboard.url}${path}`);
    return tab.page;
  };
  return { ...tab, open };
};

beforeAll(async () => {
  opened.dashboard = await startDashboard({ scheduleEveryMs: SCHEDULE_MS });
  await seedData(opened.dashboard.url, opened.dashboard.stack.table);
  opened.seeded = await logIn(opened.dashboard, SEED_USER.email, SEED_USER.password);
  opened.browser = await openBrowser();
}, START_MS);

afterEach(async () => {
  await Promise.all(opened.browser?.contexts().map((context) => context.close()) ?? []);
});

afterAll(async () => {
  await opened.browser?.close();
  await opened.dashboard?.stop();
}, START_MS);

// A browser may fall over on a crowded machine for reasons of its own: every story begins anew by itself, and may once.
jest.retryTimes(1, { logErrorsBeforeRetry: true });
