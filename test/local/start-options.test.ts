import { spawnSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';

const start = (...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', 'local/start.ts', ...args],
    { encoding: 'utf8' },
  );
  return { status, stdout, stderr };
};

describe('npm start', () => {
  it('says how it is used', () => {
    expect(start('--help')).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^npm start .*--mock/),
      stderr: '',
    });
  });

  it.each([
    ['--mok', "Unknown option '--mok'"],
    ['--port=http', 'There is no port http.'],
    ['--set=x', '--set takes NAME=VALUE, not x.'],
  ])('given %s says what is wrong, and how it is used', (option, problem) => {
    const { status, stdout, stderr } = start(option);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr.startsWith(problem)).toBe(true);
    expect(stderr).toContain('\n\nnpm start [-- --mock]');
  });
});
