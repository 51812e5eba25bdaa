import { spawnSync } from 'node:child_process';

const CHECK_MS = 500;

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

const processOf = (pid: number): Process | undefined => {
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
export const onNpmEnd = (stop: () => void): void => {
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
