import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { emulatorVariables } from '../../fixtures/emulator-client.ts';

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

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
