import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';

export interface Running {
  /** Process that does the work. */
  pid(): Promise<number>;
  stop(): Promise<void>;
}

const reachable = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });

/** @throws Error when nothing listens there within 20 s */
export const waitForPort = async (port: number): Promise<void> => {
  for (let i = 0; i < 200; i++) {
    if (await reachable(port)) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`Nothing listens on port ${port}.`);
};

/** A Node process on one core, listening on a port that is in its environment. */
export const startNode = async (
  args: readonly string[],
  env: Record<string, string>,
  port: number,
  core: number,
): Promise<Running> => {
  const child = spawn(
    'taskset',
    ['-c', String(core), process.execPath, '--disable-warning=ExperimentalWarning', ...args],
    {
      // As the container has it (container/Dockerfile); the peers have the good of it, too.
      env: { ...process.env, MALLOC_ARENA_MAX: '1', ...env },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  await waitForPort(port);
  return {
    // taskset becomes the process it starts.
    pid: async () => child.pid as number,
    stop: async () => {
      child.kill('SIGTERM');
      await new Promise((resolve) => child.once('exit', resolve));
    },
  };
};

/**
 * CPU time that the threads of a process have used, in seconds, to the nanosecond. Threads that have ended are not in it: Node and nginx
 * keep theirs.
 *
 * @see https://docs.kernel.org/scheduler/sched-stats.html
 */
export const cpuSeconds = (pid: number): number => {
  const ofThread = (thread: string): number =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
  return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + ofThread(thread), 0) / 1e9;
};

/** Resident memory in megabytes. */
export const residentMB = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
