import { fork } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { afterAll, expect } from '@jest/globals';
import { emulatorVariables } from '../../fixtures/emulator-client.ts';

export interface CommandResult {
  readonly code: number | string | null;
  readonly stdout: string;
  readonly stderr: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

interface Run {
  /** Relative to the checkout. */
  readonly file: string;
  readonly args: readonly string[];
  /** All variables that it has. */
  readonly env?: Environment;
  readonly input?: string;
  readonly cwd?: string;
}

const startRunner = () => {
  const child = fork(resolve('test/ops/command-runner.js'), { silent: true, execArgv: [] });
  return { child, exit: once(child, 'exit') };
};
let runner: ReturnType<typeof startRunner> | undefined;
let last: Promise<unknown> = Promise.resolve();

// A command that leaves something open keeps the process from its end.
afterAll(async () => {
  if (runner === undefined) return;
  const { child, exit } = runner;
  const limit = setTimeout(() => child.kill('SIGKILL'), 30_000);
  child.disconnect();
  expect(await exit).toEqual([0, null]);
  clearTimeout(limit);
});

/** Runs a command as an operator would, after those before it. */
export const runCommand = ({ file, env = process.env, input = '', cwd = '.', args }: Run): Promise<CommandResult> => {
  const run = async () => {
    runner ??= startRunner();
    const { child, exit } = runner;
    child.send({ file: resolve(file), args, env: { ...env }, input, cwd: resolve(cwd) });
    const died = exit.then(([code, signal]) => {
      throw new Error(`${file} ended the process of all commands: ${code ?? signal}`);
    });
    return (await Promise.race([once(child, 'message'), died]))[0];
  };
  const result = last.then(run);
  last = result.catch(() => {});
  return result;
};

/** Runs a command that ends before it does anything. A command that does not refuse as it should writes nothing into the checkout. */
export const runIdle = (file: string, args: readonly string[], env: Environment = {}): Promise<CommandResult> =>
  runCommand({ file, args, env: { ...process.env, TABLE_NAME: 'none', ...env }, cwd: tmpdir() });

/** Runs a command of ops/ against emulators. */
export const runOps = (
  script: string,
  args: readonly string[],
  { env, ...options }: Pick<Run, 'env' | 'input' | 'cwd'> = {},
): Promise<CommandResult> =>
  runCommand({ ...options, file: `ops/${script}.ts`, args, env: { ...process.env, ...emulatorVariables, ...env } });
