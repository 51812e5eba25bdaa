import { afterAll, afterEach, beforeAll, expect, jest } from '@jest/globals';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { openUsers } from '../../../lambda/data/accounts/users.ts';
import { openTrackingGaps } from '../../../lambda/data/ledger/tracking-gaps.ts';
import { SEED_USER, seedData } from '../../../local/seed/seed.ts';
import { type ApiSession, logIn, restoreSession } from './accounts.ts';
import { openBrowser, openContext, openTabIn, type Tab, takeBrowserErrors, waitUntil } from './browser.ts';
import { type Dashboard, startDashboard } from './dashboard.ts';

/** On a busy machine: the stack starts, and two months of spend are recorded. */
const START_MS = 1_200_000;
/** Interval of the rule evaluator, so that tests get alerts within seconds. */
const SCHEDULE_MS = 4_000;
/** Characters of a page that are printed where a story fails. */
const MAX_SHOWN = 4_000;

interface Fixture {
  readonly dashboard: Dashboard;
  readonly browser: Browser;
  /** The account with two months of spend. */
  readonly seeded: ApiSession;
}

const opened: { dashboard?: Dashboard; browser?: Browser; seeded?: ApiSession; gap?: Promise<void> } = {};

/** The browser context of the seeded account, whose tabs share the files they load. */
let shared: Promise<BrowserContext> | undefined;

/** What all stories share; available once `beforeAll` has run. */
export const fixture = (): Fixture => {
  if (!opened.dashboard || !opened.browser || !opened.seeded) throw new Error('The stack has not started.');
  return { dashboard: opened.dashboard, browser: opened.browser, seeded: opened.seeded };
};

/** What the API responds to an account, the seeded one by default; undefined without a body. Errors are thrown. */
export const callApi = async <Body>(
  method: string,
  path: string,
  body?: object,
  { token } = fixture().seeded,
): Promise<Body> => {
  const { dashboard } = fixture();
  const response = await fetch(`${dashboard.url}/api${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as Body;
};

/** What the API has for an account. With a body, it is posted. */
export const readApi = <Body>(path: string, body?: object, session?: ApiSession): Promise<Body> =>
  callApi<Body>(body ? 'POST' : 'GET', path, body, session);

/** The zone in which the seeded account has its days. */
export const setCalendar = (timeZone: string) =>
  callApi('PUT', '/reports/calendar', { timeZone, weekStartsOn: 'monday' });

/** The currency of the seeded account; null for US dollars only. */
export const setCurrency = (currency: object | null) => callApi('PUT', '/prices/currency', { currency });

/** 17 requests of the seeded account went untracked two days ago: one gap, however many stories ask for it. */
export const addTrackingGap = (): Promise<void> => {
  opened.gap ??= (async ({ dashboard, seeded }: Fixture) => {
    const at = (minutesAgo: number) => new Date(Date.now() - minutesAgo * 60_000).toISOString();
    const accountId = (await openUsers(dashboard.stack.table).find(seeded.userId))?.accountId as string;
    const gap = { from: at(3_009), to: at(3_000), requests: 17 };
    await openTrackingGaps(dashboard.stack.table).note(accountId, crypto.randomUUID(), gap);
  })(fixture());
  return opened.gap;
};

/** A tab that is signed in; `prepare` runs before the first page loads. */
export const openSignedIn = async (
  session: ApiSession,
  prepare?: (page: Page) => Promise<unknown>,
  options: BrowserContextOptions = {},
): Promise<Tab & { open(path: string): Promise<Page> }> => {
  const { browser, dashboard } = fixture();
  const isShared = session === fixture().seeded && Object.keys(options).length === 0;
  if (isShared) shared ??= openContext(browser);
  const tab = await openTabIn(await (isShared && shared ? shared : openContext(browser, options)));
  await restoreSession(tab.page, dashboard, session);
  await prepare?.(tab.page);
  const open = async (path: string) => {
    await tab.page.goto(`${dashboard.url}${path}`);
    return tab.page;
  };
  return { ...tab, open };
};

/** A page of the seeded account. */
export const openSeeded = async (path: string): Promise<Page> => (await openSignedIn(fixture().seeded)).open(path);

beforeAll(async () => {
  opened.dashboard = await startDashboard({ scheduleEveryMs: SCHEDULE_MS });
  const { url } = opened.dashboard;
  // A busy machine may start a function for longer than the platform allows, which would fail every story.
  await waitUntil(
    'the API responds',
    async () => (await fetch(`${url}/api/auth/login`, { method: 'POST' })).status < 500,
  );
  await seedData(opened.dashboard.url, opened.dashboard.stack.table);
  opened.seeded = await logIn(opened.dashboard, SEED_USER.email, SEED_USER.password);
  opened.browser = await openBrowser();
}, START_MS);

/** What the open pages show, where a story fails. */
const describePages = async () => {
  for (const page of opened.browser?.contexts().flatMap((context) => context.pages()) ?? []) {
    const text = await page.evaluate<string>('document.body.innerText').catch(String);
    process.stderr.write(`${page.url()} shows:\n${text.slice(0, MAX_SHOWN)}\n`);
  }
};
Object.assign(globalThis, { describeFailure: describePages });

afterEach(async () => {
  const browserErrors = takeBrowserErrors();
  const kept = await shared;
  const others = opened.browser?.contexts().filter((context) => context !== kept) ?? [];
  // A handler that still waits for the API's answer would fail once its page is gone, and with it every story.
  const pages = opened.browser?.contexts().flatMap((context) => context.pages()) ?? [];
  await Promise.all(pages.map((page) => page.unrouteAll({ behavior: 'ignoreErrors' })));
  await Promise.all([...others, ...(kept?.pages() ?? [])].map((part) => part.close()));
  expect(browserErrors).toEqual([]);
});

afterAll(async () => {
  await opened.browser?.close();
  await opened.dashboard?.stop();
}, START_MS);

// The browser may fail on a busy machine. Each story starts from scratch, so that it can run again, once.
jest.retryTimes(1, { logErrorsBeforeRetry: true });
