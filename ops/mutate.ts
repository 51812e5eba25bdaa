import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { CommandError, flag, runCommand, wholeNumber } from './command.ts';
import { groupNames, type RunOptions } from './mutate/groups.ts';

const USAGE = `npm run mutate -- [--static] [--every N] [--minutes N] [--workers N] [--dry-run] [GROUP…]

Changes the code of a group in small ways, one at a time, and prints the changes that its tests do not notice, and how many they do
(the score) in each file. Groups: ${groupNames.join(', ')}; without any, all.
What is known is kept in .mutate/GROUP.json: only what is new or has other tests is tried again.

  --static     also changes what runs as a module is loaded: each takes a process of its own
  --every N    tries the changes of every Nth line, and keeps no results: a sample of a group that takes hours
  --minutes N  stops each group after N minutes, before its report; the next run goes on from there
  --workers N  processes side by side: as many as the machine has processors, by default
  --dry-run    only runs the tests without a change`;

/** Stryker's exit code at SIGINT. */
const STOPPED = 130;

const schema = z.object({
  _: z.array(z.enum(groupNames, `GROUP is one of ${groupNames.join(', ')}.`)),
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
  if (wasStopped) console.log(`${name} was stopped after ${minutes} minutes: the next run goes on from there.`);
  else if (status !== 0) throw new CommandError(`${name}: the run failed`);
};

await runCommand({ usage: USAGE, schema }, async (options) => {
  const { _: names, ...rest } = options;
  for (const name of names.length > 0 ? names : groupNames) mutate({ name, ...rest });
});
