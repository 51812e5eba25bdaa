import { spawnSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';

const start = (args: readonly string[], variables: Record<string, string> = {}) => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', 'local/start.ts', ...args],
    { encoding: 'utf8', env: { ...process.env, ...variables } },
  );
  return { status, stdout, stderr };
};

describe('npm start', () => {
  it.each<[option: string, problem: string, variables?: Record<string, string>]>([
    ['--mok', "Unknown option '--mok'"],
    ['--port=http', '--port: must be a number'],
    ['--port=65536', '--port: must be at most 65535'],
    // An unset variable of the shell. The data, with its keys and secrets, would go to the checkout, where git sees them.
    ['--data=', '--data takes a folder'],
    ['--set=x', '--set takes NAME=VALUE'],
    // As npm runs `npm start --mock`: without it, calls would go to the real providers.
    ['--port=0', 'npm took --mock for its own: write -- before it', { npm_config_mock: 'true' }],
  ])('given %s says what is wrong, and how it is used', (option, problem, variables = {}) => {
    const { status, stdout, stderr } = start([option], variables);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr.startsWith(problem)).toBe(true);
    expect(stderr).toContain('\n\nnpm start [-- --mock]');
  });
});
