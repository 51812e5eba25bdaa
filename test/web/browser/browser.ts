import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import AxeBuilder from '@axe-core/playwright';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

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

/** How long anything is waited for: nothing here takes long but on a machine that does much else. */
const PATIENCE_MS = 75_000;

/** Debian's, unless another is named. */
export const openBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium', args: FLAGS });

export const desktop = { viewport: { width: 1280, height: 860 } } as const;
export const phone = { viewport: { width: 390, height: 844 } } as const;

export interface Tab {
  readonly page: Page;
  /** What the browser itself found wrong: errors of scripts, things the page's policy forbade. */
  readonly complaints: string[];
}

/** Answers that are errors are said by the browser, too: here they are what is tested. */
const isAboutAnswers = (text: string) => text.startsWith('Failed to load resource');

const watched = (page: Page): Tab => {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !isAboutAnswers(message.text())) complaints.push(message.text());
  });
  return { page, complaints };
};

/** A person of their own: nothing is shared with other tabs. */
export const openTab = async (browser: Browser, options: BrowserContextOptions = {}): Promise<Tab> => {
  const context = await browser.newContext({
    ...desktop,
    locale: 'en-US',
    timezoneId: 'Europe/Berlin',
    reducedMotion: 'reduce',
    ...options,
  });
  context.setDefaultTimeout(PATIENCE_MS);
  return watched(await context.newPage());
};

/** Another tab of the same person. */
export const openBeside = async ({ page }: Tab): Promise<Tab> => watched(await page.context().newPage());

const POLL_MS = 50;

/** Asks from outside: the page's policy lets nothing be evaluated in it again and again. */
export const until = async (what: string, isSo: () => Promise<boolean>): Promise<void> => {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`Not so after ${PATIENCE_MS} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
};

/** Nothing on the page is waited for, and all of it is painted. */
export const drawn = async (page: Page): Promise<void> => {
  const isDrawn =
    "document.fonts.status === 'loaded' && !document.querySelector('[aria-busy=true], .mantine-Skeleton-root')";
  await until('the page is drawn', () => page.evaluate<boolean>(isDrawn));
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
};

/** Everything that was asked for is there, and drawn. */
export const settled = async (page: Page): Promise<void> => {
  await page.waitForLoadState('networkidle');
  await drawn(page);
};

const SCREENSHOTS = join(import.meta.dirname, '../screenshots');
const isWanted = process.env['SCREENSHOTS'] === '1';
if (isWanted) mkdirSync(SCREENSHOTS, { recursive: true });

/** For people to look at, where they asked for it; git ignores the folder. */
export const screenshot = async (page: Page, name: string, fullPage = false): Promise<void> => {
  if (isWanted) await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage });
};

/** Of findings of one kind: the others are alike. */
const NODES_SHOWN = 2;

const COLOURS = 'color-contrast';
/** The other scheme changes colours alone; another width changes all else. */
export type Rules = 'all' | 'colours' | 'all but colours';

/** What axe holds to be serious or worse, in words that say where. */
export const seriousFindings = async (page: Page, rules: Rules = 'all'): Promise<string[]> => {
  // Legacy: in the page alone, without a second one to merge the findings of frames in. There are none.
  const axe = new AxeBuilder({ page }).setLegacyMode(true);
  if (rules === 'colours') axe.withRules([COLOURS]);
  if (rules === 'all but colours') axe.disableRules([COLOURS]);
  const { violations } = await axe.analyze();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.slice(0, NODES_SHOWN).map((node) => `${id}: ${node.html.slice(0, 160)} ${node.any[0]?.message ?? ''}`),
    );
};

/** By how many pixels the page is wider than its window. */
export const overflow = (page: Page): Promise<number> =>
  page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
