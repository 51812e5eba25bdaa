import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
  type Request,
} from 'playwright-core';

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** The longest wait for anything on a page, sized for a busy machine. */
const TIMEOUT_MS = 75_000;

/** Chromium from `CHROMIUM`, by default Debian's. */
export const openBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium', args: FLAGS });

export const desktop = { viewport: { width: 1280, height: 860 } } as const;
export const phone = { viewport: { width: 390, height: 844 } } as const;

export interface Tab {
  readonly page: Page;
}

const browserErrors: string[] = [];
/** The errors that the browser reported since the last call: script errors, violations of the page's policy. */
export const takeBrowserErrors = (): string[] => browserErrors.splice(0);

/** The browser also reports HTTP error responses. The tests cause them on purpose. */
const isAboutResponse = (text: string) => text.startsWith('Failed to load resource');

interface Traffic {
  /** Requests that have not ended. */
  readonly open: Set<Request>;
  /** When the last request began or ended. */
  changedAtMs: number;
}

/** The requests of a page from now on. */
export const watchTraffic = (page: Page): Traffic => {
  const seen: Traffic = { open: new Set(), changedAtMs: 0 };
  const note = (change: (request: Request) => unknown) => (request: Request) => {
    change(request);
    seen.changedAtMs = Date.now();
  };
  page.on(
    'request',
    note((request) => seen.open.add(request)),
  );
  const end = note((request) => seen.open.delete(request));
  page.on('requestfinished', end);
  page.on('requestfailed', end);
  return seen;
};

const traffic = new WeakMap<Page, Traffic>();

const watch = (page: Page): Tab => {
  traffic.set(page, watchTraffic(page));
  page.on('pageerror', (error) => browserErrors.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !isAboutResponse(message.text())) browserErrors.push(message.text());
  });
  return { page };
};

export const openContext = async (browser: Browser, options: BrowserContextOptions = {}): Promise<BrowserContext> => {
  const context = await browser.newContext({
    ...desktop,
    locale: 'en-US',
    timezoneId: 'Europe/Berlin',
    reducedMotion: 'reduce',
    ...options,
  });
  context.setDefaultTimeout(TIMEOUT_MS);
  return context;
};

export const openTabIn = async (context: BrowserContext): Promise<Tab> => watch(await context.newPage());

/** A tab in a browser context of its own: it shares nothing with other tabs. */
export const openTab = async (browser: Browser, options: BrowserContextOptions = {}): Promise<Tab> =>
  openTabIn(await openContext(browser, options));

/** Another tab in the same browser context. */
export const openAnotherTab = ({ page }: Tab): Promise<Tab> => openTabIn(page.context());

/**
 * Changes members of what the API responds with to a page. Failures pass as they came: a handler that throws would fail every story.
 *
 * @param change the members that are others, by the whole body
 */
export const changeResponses = (
  page: Page,
  url: string | RegExp,
  // biome-ignore lint/suspicious/noExplicitAny: each operation has a body of its own
  change: (body: any, request: Request) => object,
): Promise<unknown> =>
  page.route(url, async (route) => {
    const request = route.request();
    // To a page that names the version it has, the API may respond that this is the newest, without a body.
    const { 'if-none-match': _, ...headers } = request.headers();
    const response = await route.fetch({ headers });
    if (!response.ok()) return route.fulfill({ response });
    const body = await response.json();
    await route.fulfill({ response, json: { ...body, ...change(body, request) } });
  });

const POLL_MS = 50;

/** Polls from outside the page, whose policy forbids Playwright's own polling. */
export const waitUntil = async (what: string, condition: () => Promise<boolean>): Promise<void> => {
  const deadline = Date.now() + TIMEOUT_MS;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`Timed out after ${TIMEOUT_MS} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
};

/** In the middle of a transition, colours are of neither scheme. A loader never ends. */
const transitionsEnd = `Promise.all(document.getAnimations()
  .filter(({ effect }) => effect.getComputedTiming().endTime !== Infinity)
  .map(({ finished }) => finished.catch(() => {})))`;

/** Waits until the page shows no skeletons, has its fonts, and is painted in its final colours. */
export const waitUntilDrawn = async (page: Page): Promise<void> => {
  const isDrawn =
    "document.fonts.status === 'loaded' && !document.querySelector('[aria-busy=true], .mantine-Skeleton-root')";
  await waitUntil('the page is drawn', () => page.evaluate<boolean>(isDrawn));
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  await page.evaluate(transitionsEnd);
};

const QUIET_MS = 150;
/** The end of a request is not always told, such as where its document was left. */
const FORGOTTEN_MS = 3_000;

/** Waits until the network is idle and the page is drawn. Playwright's own state of idleness is the document's, whatever a click asks for. */
export const waitUntilIdle = async (page: Page): Promise<void> => {
  await page.waitForLoadState('networkidle');
  await page.locator('h1').first().waitFor();
  await waitUntilDrawn(page);
  const from = Date.now();
  await waitUntil('the network is idle', async () => {
    const { open, changedAtMs } = traffic.get(page) ?? { open: new Set(), changedAtMs: 0 };
    return Date.now() - Math.max(from, changedAtMs) > (open.size === 0 ? QUIET_MS : FORGOTTEN_MS);
  });
  await waitUntilDrawn(page);
};

const SCREENSHOTS = join(import.meta.dirname, '../screenshots');
const isEnabled = process.env['SCREENSHOTS'] === '1';
if (isEnabled) mkdirSync(SCREENSHOTS, { recursive: true });

/** Saves a screenshot where `SCREENSHOTS=1` asks for it; git ignores the folder. */
export const screenshot = async (page: Page, name: string, fullPage = false): Promise<void> => {
  if (isEnabled) await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage });
};

/** Nodes to report per rule. */
const NODES_SHOWN = 2;

const COLOURS = 'color-contrast';
/** The dark scheme can only change colours, another width everything else. */
export type Rules = 'all' | 'colours' | 'all but colours';

/** Accessibility violations that axe rates serious or critical, with their place. */
export const seriousFindings = async (page: Page, rules: Rules = 'all'): Promise<string[]> => {
  // In the page alone, which has no frames, and once for all of its states.
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(axe.source);
  const options: axe.RunOptions = {
    resultTypes: ['violations'],
    ...(rules === 'colours' && { runOnly: [COLOURS] }),
    ...(rules === 'all but colours' && { rules: { [COLOURS]: { enabled: false } } }),
  };
  const run = `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`;
  const violations = await page.evaluate<axe.Result[]>(run);
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.slice(0, NODES_SHOWN).map((node) => `${id}: ${node.html.slice(0, 160)} ${node.any[0]?.message ?? ''}`),
    );
};

/** Has the rules of accessibility checked, and saves the page in light and dark, and as wide as a phone. */
export const look = async (page: Page, name: string) => {
  await waitUntilIdle(page);
  const size = page.viewportSize() ?? phone.viewport;
  const found = await seriousFindings(page);
  if (found.length > 0) throw new Error(found.join('\n'));
  await screenshot(page, name, true);
  if (process.env['SCREENSHOTS'] !== '1') return;
  await page.evaluate("document.documentElement.setAttribute('data-mantine-color-scheme', 'dark')");
  await screenshot(page, `${name}-dark`, true);
  await page.evaluate("document.documentElement.setAttribute('data-mantine-color-scheme', 'light')");
  await page.setViewportSize({ width: 375, height: 800 });
  await screenshot(page, `${name}-phone`, true);
  await page.setViewportSize(size);
};

/** The chart of the overview. */
export const chartOf = (page: Page) => page.getByRole('img', { name: 'The table has the same figures.' });

/** How many pixels the page is wider than its window. */
export const overflow = (page: Page): Promise<number> =>
  page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');

const SHIFTS = `(() => {
  globalThis.shifts = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) globalThis.shifts += entry.value;
  }).observe({ type: 'layout-shift', buffered: true });
})()`;

/** What is good for a page, as Lighthouse rates it. @see https://web.dev/articles/cls */
export const MAX_LAYOUT_SHIFT = 0.1;

/** Adds up layout shifts of pages that this tab loads from now on. */
export const watchShifts = (page: Page) => page.addInitScript(SHIFTS);

/** Sum of the page's layout shifts without a recent click or key press. */
export const layoutShift = (page: Page): Promise<number> => page.evaluate<number>('globalThis.shifts');
