import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { PartMessage, PartQuestion, PartStats } from './parts/serve-part.ts';

/** A part of the service in a process of its own. It ends when this process does, however that ends. */
export interface Part {
  readonly port: number;
  readonly pid: number;
  /** What it printed. */
  output(): string;
  stats(): Promise<PartStats>;
  /** kill -9. */
  kill(): Promise<void>;
  /** Asks it to end, and waits. */
  stop(): Promise<void>;
}

const messageOf = <K extends PartMessage['kind']>(
  child: ChildProcess,
  kind: K,
): Promise<Extract<PartMessage, { kind: K }>> =>
  new Promise((resolve, reject) => {
    const onMessage = (message: PartMessage): void => {
      if (message.kind !== kind) return;
      stopListening();
      resolve(message as Extract<PartMessage, { kind: K }>);
    };
    const onExit = (code: number | null): void => {
      stopListening();
      reject(new Error(`The part ended with code ${code}.`));
    };
    const stopListening = (): void => {
      child.off('message', onMessage);
      child.off('exit', onExit);
    };
    child.on('message', onMessage);
    child.on('exit', onExit);
  });

const MAX_OUTPUT = 64 * 2 ** 20;

/** @param entry a file of ./parts */
export const startPart = async (entry: string, env: Readonly<Record<string, string>>): Promise<Part> => {
  const child = fork(new URL(`./parts/${entry}.ts`, import.meta.url), {
    env: { PATH: process.env['PATH'], ...env },
    execArgv: ['--disable-warning=ExperimentalWarning', '--expose-gc'],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (bytes: Buffer) => {
      if (output.length < MAX_OUTPUT) output += bytes.toString('utf8');
    });
  const ask = (question: PartQuestion): void => void child.send(question);
  const end = async (begin: () => void): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    begin();
    await exited;
  };
  const { port } = await messageOf(child, 'ready').catch((error: Error) => {
    throw new Error(`${error.message} ${output}`);
  });
  return {
    port,
    pid: child.pid ?? 0,
    output: () => output,
    stats: async () => {
      const response = messageOf(child, 'stats');
      ask('stats');
      return (await response).stats;
    },
    kill: () => end(() => child.kill('SIGKILL')),
    stop: () => end(() => ask('stop')),
  };
};
