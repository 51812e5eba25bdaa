import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { CommandError, flag, runCommand, wholeNumber } from './command.ts';
import { groupNames, type RunOptions, reportFile } from './mutate/groups.ts';

/** As much as is read of Stryker's report. */
interface Report {
  readonly files: Record<string, { readonly source: string; readonly mutants: readonly Mutant[] }>;
}

interface Position {
  readonly line: number;
  readonly column: number;
}

interface Mutant {
  readonly id: string;
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly status: string;
  readonly location: { readonly start: Position; readonly end: Position };
}

const noticed = ['Killed', 'Timeout'];
const unnoticed = ['Survived', 'NoCoverage'];

const count = (mutants: readonly Mutant[], statuses: readonly string[]): number =>
  mutants.filter(({ status }) => statuses.includes(status)).length;

const row = (name: string, mutants: readonly Mutant[]): string => {
  const found = count(mutants, noticed);
  const missed = count(mutants, unnoticed);
  const score = found + missed > 0 ? `${((100 * found) / (found + missed)).toFixed(1)} %` : '';
  const values = [score, found, count(mutants, ['Survived']), count(mutants, ['NoCoverage'])];
  return [name.padEnd(50), ...values.map((value) => String(value).padStart(10))].join('');
};

/** Each file's score and the group's: of the changes that tests run at all or ought to, how many they notice. */
const scoreTable = (name: string, { files }: Report): string =>
  [
    ['file'.padEnd(50), ...['score', 'noticed', 'survived', 'not run'].map((name) => name.padStart(10))].join(''),
    ...Object.entries(files).map(([file, { mutants }]) => row(file, mutants)),
    row(
      name,
      Object.values(files).flatMap(({ mutants }) => mutants),
    ),
  ].join('\n');

const MAX_TEXT = 100;
const oneLine = (text: string): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > MAX_TEXT ? `${line.slice(0, MAX_TEXT)}…` : line;
};

const textAt = (source: string, { start, end }: Mutant['location']): string => {
  const lines = source.split('\n').slice(start.line - 1, end.line);
  lines[lines.length - 1] = lines.at(-1)!.slice(0, end.column - 1);
  lines[0] = lines[0]!.slice(start.column - 1);
  return lines.join('\n');
};

/** The changes that no test notices, a line each: where, which kind, from what to what. */
const survivors = ({ files }: Report): string =>
  Object.entries(files)
    .flatMap(([file, { source, mutants }]) =>
      mutants
        .filter(({ status }) => unnoticed.includes(status))
        .toSorted((one, other) => one.location.start.line - other.location.start.line)
        .map(({ location, mutatorName, replacement = '', status }) => {
          const change = `${oneLine(textAt(source, location))} -> ${oneLine(replacement)}`;
          return `${file}:${location.start.line} ${mutatorName}${status === 'NoCoverage' ? ' (not run)' : ''}: ${change}\n`;
        }),
    )
    .join('');

const USAGE = `npm run mutate -- [--static] [--every N] [--minutes N] [--workers N] [--dry-run] [GROUP…]

Changes the code of a group in small ways, one at a time, and tells how many changes its tests notice (the score), and in
.mutate/GROUP.txt which they do not. Groups: ${groupNames.join(', ')}; without any, all.
What is known is kept in .mutate/GROUP.json: only what is new or has other tests is tried again.

  --static     also changes what runs as a module is loaded: each takes a process of its own
  --every N    tries the changes of every Nth line, and keeps no results: a sample of a group that takes hours
  --minutes N  stops each group after N minutes; the next run goes on from there
  --workers N  processes side by side: as many as the machine has processors, by default
  --dry-run    only runs the tests without a change`;

/** Stryker's exit code at SIGINT. */
const STOPPED = 130;

const schema = z.object({
  _: z.array(z.enum(groupNames, `groups are ${groupNames.join(', ')}`)),
  static: flag,
  every: wholeNumber.min(1).default(1),
  minutes: wholeNumber.min(1).optional(),
  workers: wholeNumber.min(1).default(availableParallelism()),
  'dry-run': flag,
});

const mutate = ({ minutes, ...options }: RunOptions & { minutes?: number | undefined }): void => {
  const { name } = options;
  const run = new URL('mutate/run-group.ts', import.meta.url).pathname;
  const { status, signal } = spawnSync(process.execPath, [run, JSON.stringify(options)], {
    stdio: 'inherit',
    timeout: minutes && minutes * 60_000,
    killSignal: 'SIGINT',
  });
  rmSync(`.mutate/${name}`, { recursive: true, force: true });
  const wasStopped = minutes !== undefined && (signal === 'SIGINT' || status === STOPPED);
  if (status !== 0 && !wasStopped) throw new CommandError(`${name}: the run failed`);
  if (options['dry-run']) return;
  const file = reportFile(options);
  if (!existsSync(file)) throw new CommandError(`${name} was stopped before a change was tried`);
  const report: Report = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(`.mutate/${name}.txt`, survivors(report));
  console.log(scoreTable(name, report));
  if (wasStopped)
    console.log(`${name} was stopped after ${minutes} minutes: this is the score of what was tried so far`);
};

await runCommand({ usage: USAGE, schema }, async (options) => {
  const { _: names, ...rest } = options;
  for (const name of names.length > 0 ? names : groupNames) mutate({ name, ...rest });
});
