import { execFileSync } from 'node:child_process';
import { readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const WEB = import.meta.dirname;
const ROOT = join(WEB, '..');
/** The folder of the built dashboard. */
export const WEB_BUILD = join(WEB, 'dist');

/** The inputs of the build. The time of a folder changes when a file in it is deleted. */
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
  // Generated types are not part of the pages.
  const parts = inside.filter((name) => !name.endsWith('.d.ts')).map((name) => modifiedAt(join(path, name)));
  return Math.max(modifiedAt(path), ...parts);
};

export const isWebBuildCurrent = (): boolean =>
  Math.max(...SOURCES.map((source) => newestIn(join(ROOT, source)))) < modifiedAt(join(WEB_BUILD, 'index.html'));

const build = (folder: string) => {
  const vite = join(createRequire(import.meta.url).resolve('vite/package.json'), '../bin/vite.js');
  try {
    execFileSync(process.execPath, [vite, 'build', '--outDir', folder, '--emptyOutDir', '--logLevel', 'warn'], {
      cwd: WEB,
      // A test runner sets another NODE_ENV, with which React's development build is bundled: 50% larger.
      env: { ...process.env, NODE_ENV: 'production' },
      stdio: ['ignore', 'pipe', 'pipe'],
      encoding: 'utf8',
    });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`The web dashboard could not be built:\n${`${stdout}${stderr}`.trim()}`);
  }
};

/**
 * The folder of the built dashboard. Builds it, in some seconds, when it is missing or older than its sources. Synchronous,
 * as CDK's synthesis is.
 *
 * @throws Error with Vite's output
 */
export const currentWebBuild = (): string => {
  if (isWebBuildCurrent()) return WEB_BUILD;
  // The rename replaces the whole folder: builds at the same time cannot mix their files.
  const built = join(WEB, `.dist-${process.pid}`);
  build(built);
  rmSync(WEB_BUILD, { recursive: true, force: true });
  renameSync(built, WEB_BUILD);
  return WEB_BUILD;
};
