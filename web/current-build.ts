import { execFileSync } from 'node:child_process';
import { readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const WEB = import.meta.dirname;
const ROOT = join(WEB, '..');
const DIST = join(WEB, 'dist');

/** What the pages are made from. A folder's own time tells of files that are gone. */
const SOURCES = [
  'web/src',
  'web/public',
  'web/index.html',
  'web/package.json',
  'web/vite.config.ts',
  'web/current-build.ts',
  'lambda/domain',
  'package-lock.json',
];

const modifiedAt = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

const newestIn = (path: string): number => {
  const inside = statSync(path).isDirectory() ? readdirSync(path, { recursive: true }).map(String) : [];
  // Types made for the check have no part in the pages.
  const parts = inside.filter((name) => !name.endsWith('.d.ts')).map((name) => modifiedAt(join(path, name)));
  return Math.max(modifiedAt(path), ...parts);
};

const isCurrent = (): boolean =>
  Math.max(...SOURCES.map((source) => newestIn(join(ROOT, source)))) < modifiedAt(join(DIST, 'index.html'));

/** The pages could not be built. The message has the tool's own words. */
class WebBuildError extends Error {
  override readonly name = 'WebBuildError';
}

const build = (folder: string) => {
  const vite = join(createRequire(import.meta.url).resolve('vite/package.json'), '../bin/vite.js');
  try {
    execFileSync(process.execPath, [vite, 'build', '--outDir', folder, '--emptyOutDir', '--logLevel', 'warn'], {
      cwd: WEB,
      // Whoever builds: a test runner's NODE_ENV would give React for developers, half as big again.
      env: { ...process.env, NODE_ENV: 'production' },
      stdio: ['ignore', 'pipe', 'pipe'],
      encoding: 'utf8',
    });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new WebBuildError(`The web dashboard could not be built:\n${`${stdout}${stderr}`.trim()}`);
  }
};

/**
 * The folder of the built dashboard, made anew when it is missing or older than its sources: some seconds then, none
 * otherwise. Synchronous, as CDK's synthesis is.
 *
 * @param onBuild called before the seconds that takes
 * @throws WebBuildError
 */
export const currentWebBuild = (onBuild: () => void = () => {}): string => {
  if (isCurrent()) return DIST;
  onBuild();
  // Put in place at once: whoever builds at the same time cannot mix with this.
  const made = join(WEB, `.dist-${process.pid}`);
  build(made);
  rmSync(DIST, { recursive: true, force: true });
  renameSync(made, DIST);
  return DIST;
};
