/** Runs the benchmarks, each as a process of its own, one after the other. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && file !== 'run.ts')
  .map((file) => file.slice(0, -'.ts'.length))
  .sort();

const USAGE = `npm run bench                               all benchmarks, in about 20 minutes
npm run bench -- NAME [OPTION…] [NAME …]    some of them, each with its options
npm run bench -- --help                     this text

Names: ${names.join(', ')}. Options stand at the head of bench/NAME.ts.
Each prints a table and ends with one line of JSON.`;

/** A benchmark that hangs must not stop the others for ever. */
const MAX_RUN_MS = 30 * 60_000;

class UsageError extends Error {}

/** Names, each with the options that follow it. */
const chosenOf = (words: readonly string[]): readonly (readonly [string, readonly string[]])[] => {
  const chosen: [string, string[]][] = [];
  for (const word of words) {
    const last = chosen.at(-1);
    if (names.includes(word)) chosen.push([word, []]);
    else if (last && (word.startsWith('-') || last[1].at(-1)?.startsWith('-'))) last[1].push(word);
    else throw new UsageError(`There is no benchmark "${word}".`);
  }
  return chosen.length > 0 ? chosen : names.map((name) => [name, []]);
};

/** Emulators' files and the like: removed when all is over, however it ends. */
const folder = mkdtempSync(join(tmpdir(), 'bench-'));
let running: ChildProcess | undefined;

/** A benchmark and all it started: they are one process group. */
const endGroup = (signal: NodeJS.Signals): void => {
  if (running?.pid === undefined) return;
  try {
    process.kill(-running.pid, signal);
  } catch {
    // It has ended.
  }
};

const run = (name: string, options: readonly string[]): Promise<number> =>
  new Promise((resolve) => {
    const startedMs = performance.now();
    running = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', '--expose-gc', join(import.meta.dirname, `${name}.ts`), ...options],
      { stdio: 'inherit', detached: true, env: { ...process.env, TMPDIR: folder } },
    );
    const limit = setTimeout(() => {
      console.error(`${name} took longer than ${MAX_RUN_MS / 60_000} minutes and was ended.`);
      endGroup('SIGKILL');
    }, MAX_RUN_MS);
    running.once('exit', (code) => {
      clearTimeout(limit);
      // Whatever it left running would disturb the next.
      endGroup('SIGKILL');
      console.error(`${name}: ${Math.round((performance.now() - startedMs) / 1_000)} s`);
      resolve(code ?? 1);
    });
  });

const main = async (words: readonly string[]): Promise<number> => {
  if (words.includes('--help') || words.includes('-h')) {
    console.log(USAGE);
    return 0;
  }
  const failed: string[] = [];
  for (const [name, options] of chosenOf(words)) {
    console.log(`\n== ${name}`);
    if ((await run(name, options)) !== 0) failed.push(name);
  }
  if (failed.length > 0) console.error(`Failed: ${failed.join(', ')}`);
  return failed.length > 0 ? 1 : 0;
};

process.once('exit', () => {
  endGroup('SIGKILL');
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
});
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)
  process.once(signal, () => process.exit(code));

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(`${error.message}\n\n${USAGE}`);
  process.exitCode = 1;
}
