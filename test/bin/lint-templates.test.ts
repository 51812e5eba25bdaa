import { spawnSync } from 'node:child_process';
import { expect, it } from '@jest/globals';

const lint = (env: Record<string, string>) =>
  spawnSync(process.execPath, ['bin/lint-templates.ts'], { env: { PATH: '/nowhere', ...env }, encoding: 'utf8' });

it('npm run lint:templates fails without cfn-lint in CI, and is skipped elsewhere', () => {
  expect(lint({ CI: 'true' })).toMatchObject({ status: 1, stderr: expect.stringContaining('pip install') });
  expect(lint({ CODEBUILD_BUILD_ID: '1' }).status).toBe(1);
  expect(lint({})).toMatchObject({ status: 0, stdout: expect.stringContaining('skipped') });
});
