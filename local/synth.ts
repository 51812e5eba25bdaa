import { spawn } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { LockedError, lockFile } from './file-lock.ts';
import { SetupError } from './setup-error.ts';

/** The app could not be synthesized. */
class SynthError extends SetupError {
  override readonly name = 'SynthError';
}

/** What the templates and bundles are made from. The time of a folder changes when a file of it is removed. */
const SOURCES = ['lib', 'bin', 'lambda', 'docs/openapi.json', 'cdk.json', 'package-lock.json'];

const MANIFEST = 'manifest.json';

/** Stacks whose assets are bundled: all but the web dashboard, whose pages the local stack serves from their build folder. */
const BUNDLED_STACKS = '*/!(web)';

const modifiedAt = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

const newestIn = (path: string): number =>
  statSync(path).isDirectory()
    ? Math.max(
        modifiedAt(path),
        ...readdirSync(path, { recursive: true }).map((name) => modifiedAt(join(path, String(name)))),
      )
    : modifiedAt(path);

const isCurrent = (root: string, manifest: string): boolean => {
  const made = modifiedAt(manifest);
  return SOURCES.every((source) => newestIn(join(root, source)) < made);
};

const withoutProgress = (output: string): string =>
  output
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^(Bundling asset|npm warn)/.test(line))
    .join('\n');

const synthesize = (root: string, assembly: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const cli = join(root, 'node_modules/aws-cdk/bin/cdk');
    if (!existsSync(cli)) {
      reject(new SynthError('The packages are not installed: run npm ci first.'));
      return;
    }
    // No notices: they come over the network. No validation: it takes most of the time, and `npm run synth` has it.
    const options = ['--quiet', '--no-notices', '--no-validation', '--exclusively', '--output', assembly];
    const child = spawn(process.execPath, [cli, 'synth', BUNDLED_STACKS, ...options], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString('utf8');
      });
    }
    child.once('error', reject);
    child.once('exit', (code) => {
      if (code === 0) {
        resolve();
        return;
      }
      // CDK leaves its output even when a check fails: the next start must not take that as current.
      rmSync(join(assembly, MANIFEST), { force: true });
      reject(new SynthError(`The CDK app could not be synthesized (npm run synth):\n${withoutProgress(output)}`));
    });
  });

const LOCK_RETRY_MS = 200;

/** One synthesis at a time: concurrent test files would overwrite each other's output. */
const withLock = async (file: string, work: () => Promise<void>): Promise<void> => {
  for (;;) {
    try {
      const release = lockFile(file, 0);
      return await work().finally(release);
    } catch (error) {
      if (!(error instanceof LockedError)) throw error;
      await delay(LOCK_RETRY_MS);
    }
  }
};

/**
 * The folder of the synthesized templates, `cdk.out`. It is synthesized again when it is missing or older than its sources.
 *
 * @param onSynth called before the seconds that takes
 * @throws SynthError
 */
export const currentAssembly = async (root: string, onSynth: () => void): Promise<string> => {
  const assembly = join(root, 'cdk.out');
  await withLock(join(root, 'node_modules/.cache/synth-lock.sqlite'), async () => {
    if (isCurrent(root, join(assembly, MANIFEST))) return;
    onSynth();
    await synthesize(root, assembly);
  });
  return assembly;
};
