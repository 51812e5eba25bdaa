/** Runs the benchmarks, each as a process of its own, one after the other. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { saveResult, writePage } from './report/page.ts';

const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && file !== 'run.ts')
  .map((file) => file.slice(0, -'.ts'.length))
  .sort();

const USAGE = `npm run bench -- all                               all benchmarks, in about 20 minutes
npm run bench -- [--save] NAME [OPTION…] [NAME …]  some of them, each with its options
npm run bench -- --help                            this text

--save keeps each result in bench/results, and writes the tables of docs/performance.md from them.

Names: ${names.join(', ')}. npm run bench -- NAME --help lists its options.
Each prints a table and ends with one line of JSON.`;

/** A benchmark that hangs must not stop the others for ever. */
const MAX_RUN_MS = 30 * 60_000;

class UsageError extends Error {}

/** Names, each with the options that follow it. */
const chosenOf = (words: readonly string[]): readonly (readonly [string, readonly string[]])[] => {
  if (words.length === 0 || words[0] === 'all') return [...names.map((name): [string, string[]] => [name, []])];
  const chosen: [string, string[]][] = [];
  for (const word of words) {
    const last = chosen.at(-1);
    if (names.includes(word)) chosen.push([word, []]);
    else if (last && (word.startsWith('-') || last[1].at(-1)?.startsWith('-'))) last[1].push(word);
    else throw new UsageError(`There is no benchmark "${word}".`);
  }
  return chosen;
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

const run = (name: string, options: readonly string[], saves: boolean): Promise<number> =>
  new Promise((resolve) => {
    const startedMs = performance.now();
    running = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', '--expose-gc', join(import.meta.dirname, `${name}.ts`), ...options],
      { stdio: ['inherit', 'pipe', 'inherit'], detached: true, env: { ...process.env, TMPDIR: folder } },
    );
    let lastLine = '';
    running.stdout?.pipe(process.stdout, { end: false });
    if (running.stdout)
      createInterface({ input: running.stdout }).on('line', (line) => {
        lastLine = line;
      });
    const limit = setTimeout(() => {
      console.error(`${name} took longer than ${MAX_RUN_MS / 60_000} minutes and was ended.`);
      endGroup('SIGKILL');
    }, MAX_RUN_MS);
    // Whatever it left running would disturb the next.
    running.once('exit', () => endGroup('SIGKILL'));
    running.once('close', (code) => {
      clearTimeout(limit);
      console.error(`${name}: ${Math.round((performance.now() - startedMs) / 1_000)} s`);
      if (saves && code === 0) saveResult(name, ['npm run bench --', name, ...options].join(' '), lastLine);
      resolve(code ?? 1);
    });
  });

const main = async (words: readonly string[]): Promise<number> => {
  if (words[0] === '--help' || words[0] === '-h') {
    console.log(USAGE);
    return 0;
  }
  const failed: string[] = [];
  const saves = words[0] === '--save';
  for (const [name, options] of chosenOf(saves ? words.slice(1) : words)) {
    console.log(`\n== ${name}`);
    if ((await run(name, options, saves)) !== 0) failed.push(name);
  }
  if (saves) writePage();
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
