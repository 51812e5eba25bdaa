import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { basename } from 'node:path';

/** A child process that cannot outlive this one. */
export interface RunningProcess {
  ended(): boolean;
  /** The last line it printed, for an error message. */
  lastWords(): string;
  stop(): Promise<void>;
  /** Ends it at once, as kill -9 does. */
  kill(): Promise<void>;
}

const STOP_GRACE_MS = 3_000;

/**
 * The child's guardian: it reads its standard input, which only this process holds open, and ends the child when that
 * closes, as it does even when this process is killed with -9.
 */
const GUARD = 'exec 3<&0; "$0" "$@" </dev/null & child=$!; (cat <&3 >/dev/null; kill "$child") & wait "$child"';

/** Starts a program that dies with this process. POSIX only (it needs `sh`). */
export const startProcess = (command: string, args: readonly string[], logFile?: string): RunningProcess => {
  const child = spawn('sh', ['-c', GUARD, command, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    // Its own process group: Ctrl-C in the terminal must not end the emulator before the stack has drained.
    detached: true,
  });
  let ended = false;
  let words = '';
  const log = logFile ? createWriteStream(logFile, { flags: 'a' }) : undefined;
  for (const output of [child.stdout, child.stderr]) {
    output.on('data', (chunk: Buffer) => {
      words = (words + chunk.toString('utf8')).slice(-500);
      log?.write(chunk);
    });
  }
  // The guardian may be gone before its input closes.
  child.stdin.on('error', () => {});
  const lastLine = () => words.trim().split('\n').at(-1) ?? '';
  let stopping = false;
  const exited = new Promise<void>((resolve) => {
    const end = () => {
      ended = true;
      if (!stopping) console.error(`${basename(command)} has ended by itself: ${lastLine() || 'it said nothing'}.`);
      resolve();
    };
    child.once('exit', end);
    child.once('error', end);
    // Later than its end: only then has all it printed been read.
    child.once('close', () => log?.end());
  });
  return {
    ended: () => ended,
    lastWords: lastLine,
    async stop() {
      stopping = true;
      child.stdin.end();
      const grace = setTimeout(() => child.kill('SIGKILL'), STOP_GRACE_MS);
      await exited;
      clearTimeout(grace);
    },
    async kill() {
      stopping = true;
      // The whole group: the program, its guardian, their shell.
      if (!ended && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      await exited;
    },
  };
};
