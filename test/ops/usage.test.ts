import { describe, expect, it } from '@jest/globals';
import { runOps } from './run-command.ts';

describe.each(['fuzz', 'meter', 'prices'])('npm run %s', (name) => {
  it('says how it is used, where asked for and where an option is none of its own', async () => {
    const [help, typo] = await Promise.all([runOps(name, ['--help']), runOps(name, ['--no-such-option'])]);
    expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining(`npm run ${name} -- `), stderr: '' });
    expect(typo).toMatchObject({ code: 2, stdout: '' });
    expect(typo.stderr).toMatch(new RegExp(`^Unknown option '--no-such-option'[^]*npm run ${name} -- `));
  });
});

it('a wrong value is reported with its option', async () => {
  const [meter, prices] = await Promise.all([
    runOps('meter', ['--seed', 'x', 'FILE']),
    runOps('prices', ['--at', 'yesterday']),
  ]);
  expect(meter).toMatchObject({ code: 2, stderr: expect.stringContaining('--seed: ') });
  expect(prices).toMatchObject({ code: 2, stderr: expect.stringContaining('--at: ') });
});
