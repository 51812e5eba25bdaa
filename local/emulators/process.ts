import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';

/** A child process that cannot outlive this one. */
export interface RunningProcess {
  ended(): boolean;
  /** The end of what it printed, for an error message. */
  lastWords(): string;
  stop(): Promise<void>;
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
  const exited = new Promise<void>((resolve) => {
    const end = () => {
      ended = true;
      log?.end();
      resolve();
    };
    child.once('exit', end);
    child.once('error', end);
  });
  return {
    ended: () => ended,
    lastWords: () => words.trim(),
    async stop() {
      child.stdin.end();
      const grace = setTimeout(() => child.kill('SIGKILL'), STOP_GRACE_MS);
      await exited;
      clearTimeout(grace);
    },
  };
};
