import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type CognitoEmulator, startCognito } from '../../local/emulators/cognito.ts';
import { tableForTests } from '../table-for-tests.ts';
import { runOps } from './run-command.ts';

const table = tableForTests();
let cognito: CognitoEmulator;
beforeAll(async () => {
  cognito = await startCognito({ dataDir: tmpdir() });
});
afterAll(() => cognito.stop());

const run = (...args: string[]) => {
  const env = {
    AWS_ENDPOINT_URL_DYNAMODB: table.endpoint,
    AWS_ENDPOINT_URL_COGNITO_IDENTITY_PROVIDER: cognito.endpoint,
  };
  const where = ['--table', table.name, '--user-pool', cognito.userPoolId];
  return runOps('create-owner', [...where, '--first-name', 'Ada', '--last-name', 'Lovelace', ...args], { env });
};
const items = async () => (await table.call('Scan', { TableName: table.name })).Items ?? [];

describe('npm run create-owner', () => {
  it('creates an account with its owner, whose address is not verified yet, once', async () => {
    expect(await run('--email', 'Ada@Example.com', '--dry-run')).toMatchObject({ code: 0 });
    expect(await items()).toEqual([]);
    const created = await run('--email', 'Ada@Example.com');
    expect(created).toMatchObject({ code: 0, stdout: expect.stringContaining('ada@example.com owns a new account') });
    expect(await items()).toContainEqual(
      expect.objectContaining({ email: 'ada@example.com', role: 'owner', emailVerifiedAt: null, companyName: null }),
    );
    // The account key is a credential: the owner sees it in the dashboard.
    expect(created.stdout).not.toContain('svc_');
    expect(await run('--email', 'ada@example.com')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('already'),
    });
  });
});
