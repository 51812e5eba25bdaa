import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { CommandError, flag, runCommand, wholeNumber } from './command.ts';
import { groupNames } from './mutate/groups.ts';
import { type Report, scoreTable, survivors } from './mutate/report.ts';
import { type RunOptions, reportFile } from './mutate/run-options.ts';

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
