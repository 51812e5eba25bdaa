import { spawn, spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { emulatorVariables } from '../../fixtures/emulator-client.ts';

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that ends before it does anything. Its file is relative to the checkout. */
interface Run {
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: Record<string, string>;
}

/** Runs such commands one after another in one process. */
export const runAll = (runs: readonly Run[]): CommandResult[] => {
  const paths = runs.map((run) => ({ ...run, file: resolve(run.file) }));
  const { stdout, stderr } = spawnSync(process.execPath, [resolve('test/ops/run-all.js'), JSON.stringify(paths)], {
    // A command that does not refuse as it should writes nothing into the checkout.
    cwd: tmpdir(),
    encoding: 'utf8',
    env: { ...process.env, TABLE_NAME: 'none' },
    timeout: 60_000,
    killSignal: 'SIGKILL',
  });
  if (stdout === '') throw new Error(`The commands did not end: ${stderr}`);
  return JSON.parse(stdout);
};

/** Runs a command of ops/ as an operator would, against emulators. */
export const runOps = async (
  script: string,
  args: readonly string[],
  {
    env = {},
    input = '',
    cwd = '.',
  }: { readonly env?: Record<string, string | undefined>; readonly input?: string; readonly cwd?: string } = {},
): Promise<CommandResult> => {
  const child = spawn(process.execPath, [resolve(`ops/${script}.ts`), ...args], {
    cwd,
    env: {
      ...process.env,
      ...emulatorVariables,
      ...env,
    },
  });
  child.stdin.end(input);
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((done) => child.once('close', done)),
  ]);
  return { code, stdout, stderr };
};
