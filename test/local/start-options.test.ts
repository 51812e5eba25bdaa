import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { runIdle } from '../ops/run-command.ts';

const start = (args: readonly string[], cwd: string) => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', 'local/start.ts', ...args],
    { cwd, encoding: 'utf8', timeout: 60_000, killSignal: 'SIGKILL' },
  );
  return { status, stdout, stderr };
};

describe('npm start', () => {
  it.each<[option: string, problem: string, ...env: Record<string, string>[]]>([
    ['--mok', "Unknown option '--mok'"],
    ['--port=http', '--port: must be a number'],
    ['--port=65536', '--port: must be at most 65535'],
    // An unset variable of the shell. The data, with its keys and secrets, would go to the checkout, where git sees them.
    ['--data=', '--data: takes a value'],
    ['--port=', '--port: takes a value'],
    ['--port= ', '--port: takes a value'],
    ['--set=', '--set: takes a value'],
    ['--set=x', '--set takes NAME=VALUE'],
    // As npm runs `npm start --mock`: without it, calls would go to the real providers.
    ['--port=0', 'npm took --mock for its own: write -- before it', { npm_config_mock: 'true' }],
  ])('given %s says what is wrong, and how it is used', async (option, problem, ...[env]) => {
    const { code, stdout, stderr } = await runIdle('local/start.ts', [option], env);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr.startsWith(problem)).toBe(true);
    expect(stderr).toContain('\n\nnpm start [-- --mock]');
  });

  it('says in one sentence that the pages cannot be built, with the output of the build', () => {
    const checkout = join(tmpdir(), 'checkout');
    for (const folder of ['local', 'web', 'bin', 'lib'])
      cpSync(folder, join(checkout, folder), {
        recursive: true,
        filter: (path) => !/^(node_modules|dist|\.dist-.*)$/.test(basename(path)),
      });
    for (const name of readdirSync('.').filter((name) => !['local', 'web', 'bin', 'lib', '.git'].includes(name)))
      symlinkSync(resolve(name), join(checkout, name));
    writeFileSync(join(checkout, 'web/src/main.tsx'), 'const unfinished = {;');
    const { status, stderr } = start(['--mock', '--port=0', `--data=${join(tmpdir(), 'pages')}`], checkout);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^The web dashboard could not be built:\n[\s\S]*main\.tsx/);
    expect(stderr).not.toMatch(/current-build\.ts|Node\.js v/);
    const cdk = ['node_modules/aws-cdk/bin/cdk', 'synth', '*/web', '--exclusively', '--no-notices', '--no-validation'];
    const synth = spawnSync(process.execPath, cdk, { cwd: checkout, encoding: 'utf8' });
    expect(synth.status).toBe(1);
    expect(synth.stderr).toMatch(/The web dashboard could not be built:\n[\s\S]*main\.tsx/);
    expect(synth.stderr).not.toMatch(/aws-cdk-lib|Node\.js v/);
  });
});
