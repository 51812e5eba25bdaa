import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isWebBuildCurrent, WEB_BUILD } from '../web/current-build.ts';
import { LockedError, lockFile } from './file-lock.ts';
import { SetupError } from './setup-error.ts';

/** Sources of the templates and bundles. */
const SOURCES = ['lib', 'bin', 'lambda', 'docs/openapi.json', 'cdk.json', 'package-lock.json'];

/** Stacks whose assets are bundled. The web dashboard is not among them: the local stack serves its pages from their build folder. */
const BUNDLED_STACKS = '*/!(web)';

/** How many assemblies are left where they are: stacks that run may still read theirs. */
const LEFT = 4;

/** Changes with the path or the content of any source. */
const sourcesHash = (root: string): string => {
  const hash = createHash('sha256');
  for (const source of SOURCES) {
    const inside = statSync(join(root, source)).isDirectory()
      ? readdirSync(join(root, source), { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map(({ parentPath, name }) => relative(root, join(parentPath, name)))
      : [source];
    for (const file of inside.sort()) hash.update(`${file}\0`).update(readFileSync(join(root, file)));
  }
  return hash.digest('hex').slice(0, 16);
};

const withoutProgress = (output: string): string =>
  output
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^(Bundling asset|npm warn)/.test(line))
    .join('\n');

/** Runs a script of Node.js, which ends with all that it started when it is interrupted, or this process ends. @throws SetupError with what it printed where it fails */
const runScript = (args: readonly string[], cwd: string, interruption?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    interruption?.throwIfAborted();
    // Its own process group, so that one signal reaches whatever it has started.
    const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    const end = () => child.pid !== undefined && process.kill(-child.pid, 'SIGKILL');
    interruption?.addEventListener('abort', end);
    process.once('exit', end);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString('utf8');
      });
    }
    child.once('error', reject);
    child.once('exit', (code) => {
      interruption?.removeEventListener('abort', end);
      process.off('exit', end);
      if (code === 0) resolve();
      else reject(new SetupError(withoutProgress(output)));
    });
  });

const synthesize = async (root: string, assembly: string, interruption?: AbortSignal): Promise<void> => {
  const cli = join(root, 'node_modules/aws-cdk/bin/cdk');
  if (!existsSync(cli)) throw new SetupError('The packages are not installed: run npm ci first.');
  // No notices: they come over the network. No validation: it takes most of the time, and `npm run synth` has it.
  const options = ['--quiet', '--no-notices', '--no-validation', '--exclusively', '--output', assembly];
  try {
    await runScript([cli, 'synth', BUNDLED_STACKS, ...options], root, interruption);
  } catch (error) {
    rmSync(assembly, { recursive: true, force: true });
    throw new SetupError(`The CDK app could not be synthesized (npm run synth):\n${(error as Error).message}`);
  }
};

const LOCK_RETRY_MS = 200;

/** One synthesis at a time: the others wait and take its result. */
const withLock = async (file: string, work: () => Promise<void>, signal?: AbortSignal): Promise<void> => {
  for (;;) {
    try {
      const release = lockFile(file, 0);
      return await work().finally(release);
    } catch (error) {
      if (!(error instanceof LockedError)) throw error;
      await delay(LOCK_RETRY_MS, undefined, { signal });
    }
  }
};

/**
 * The folder of the templates that are synthesized from the sources as they are. Each state of the sources has a folder of its own, which
 * tests, demo and start share and which does not change any more.
 *
 * @param onSynth called before the seconds that a synthesis takes
 * @param interruption ends it
 * @throws SetupError
 */
export const currentAssembly = async (
  root: string,
  onSynth: () => void,
  interruption?: AbortSignal,
): Promise<string> => {
  const cache = join(root, 'node_modules/.cache/assemblies');
  const assembly = join(cache, sourcesHash(root));
  const makeUnlessThere = async () => {
    if (existsSync(assembly)) return;
    onSynth();
    const unfinished = `${assembly}-${process.pid}`;
    await synthesize(root, unfinished, interruption);
    renameSync(unfinished, assembly);
    const madeAt = (name: string): number => statSync(join(cache, name)).mtimeMs;
    for (const old of readdirSync(cache)
      .sort((a, b) => madeAt(b) - madeAt(a))
      .slice(LEFT))
      rmSync(join(cache, old), { recursive: true });
  };
  await withLock(join(root, 'node_modules/.cache/synth-lock.sqlite'), makeUnlessThere, interruption);
  return assembly;
};

/**
 * The folder of the web dashboard's pages, built in another process where their sources have changed.
 *
 * @param interruption ends the build
 * @throws SetupError
 */
export const currentPages = async (root: string, onBuild: () => void, interruption: AbortSignal): Promise<string> => {
  if (isWebBuildCurrent()) return WEB_BUILD;
  onBuild();
  const script = `import { currentWebBuild } from './web/current-build.ts';
    try { currentWebBuild(); } catch (error) { console.error(error.message); process.exitCode = 1; }`;
  await runScript(['--input-type=module', '--eval', script], root, interruption);
  return WEB_BUILD;
};
