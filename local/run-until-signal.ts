import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { SetupError } from './setup-error.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** The terminal sends Ctrl-C to the process and npm sends it again: a second signal this soon is the same keystroke. */
const SAME_KEYSTROKE_MS = 500;

/** Calls back at the first SIGINT or SIGTERM. A further one ends the process at once. */
export const onStopSignal = (stop: () => void): void => {
  let firstAt: number | undefined;
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (firstAt === undefined) {
        firstAt = Date.now();
        stop();
      } else if (Date.now() - firstAt > SAME_KEYSTROKE_MS) {
        process.exit(130);
      }
    });
  }
};

const CHECK_MS = 500;

const processOf = (pid: number) => {
  const { stdout } = spawnSync('ps', ['-o', 'ppid=,args=', '-p', String(pid)], { encoding: 'utf8' });
  const [, parent, command] = /^\s*(\d+)\s+(.*)/.exec(stdout ?? '') ?? [];
  return command === undefined ? undefined : { pid, parent: Number(parent), command };
};

/** npm, and the shell that it runs scripts with, where there is one. */
const npmProcesses = (): number[] => {
  if (process.env['npm_lifecycle_event'] === undefined) return [];
  const parent = processOf(process.ppid);
  if (!parent) return [];
  return /^\S*sh -c /.test(parent.command) ? [parent.pid, parent.parent] : [parent.pid];
};

const runs = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/**
 * Calls back once when the npm that started this process has ended, or its shell. A signal that ends them may not reach this process:
 * npm passes SIGTERM on to the shell only, and SIGKILL to nobody.
 */
const onNpmEnd = (stop: () => void): void => {
  const parent = process.ppid;
  const watched = npmProcesses();
  if (watched.length === 0) return;
  const timer = setInterval(() => {
    if (process.ppid === parent && watched.every(runs)) return;
    clearInterval(timer);
    stop();
  }, CHECK_MS);
  timer.unref();
};

/** Prints what went wrong: one line where the message says what to do, everything otherwise. */
export const reportFailure = (error: unknown): void => {
  console.error(error instanceof SetupError ? error.message : error);
};

/**
 * Starts something and stops it at the first signal, or when the npm that started this process ends; a second signal ends the
 * process at once.
 *
 * @param start returns what stops it; may end early with an error where it is interrupted
 */
export const runUntilSignal = async (
  start: (interruption: AbortSignal) => Promise<() => Promise<void>>,
): Promise<void> => {
  const interruption = new AbortController();
  const beginToStop = (): void => interruption.abort();
  onStopSignal(beginToStop);
  onNpmEnd(beginToStop);
  // Whoever read the output has ended, as `head` does.
  process.stdout.on('error', beginToStop);
  try {
    const stop = await start(interruption.signal);
    if (!interruption.signal.aborted) await once(interruption.signal, 'abort');
    await stop();
    process.exit(0);
  } catch (error) {
    // Work that a signal interrupted is no failure.
    if (interruption.signal.aborted) process.exit(130);
    reportFailure(error);
    process.exit(1);
  }
};
