import { tmpdir } from 'node:os';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { emulatorClient } from '../../fixtures/emulator-client.ts';
import { type SecretsEmulator, startSecrets } from '../../local/emulators/secrets.ts';
import { runOps } from './run-command.ts';

let emulator: SecretsEmulator;
let client: SecretsManagerClient;
beforeAll(async () => {
  emulator = await startSecrets({ dataDir: tmpdir() });
  client = new SecretsManagerClient(emulatorClient(emulator.endpoint));
});
afterAll(async () => {
  client.destroy();
  await emulator.stop();
});

let secrets = 0;
let id: string;
beforeEach(() => {
  id = `secret-${++secrets}`;
});

const rotate = (args: string[], input = '') =>
  runOps('rotate-secret', [...args, '--secret', id], {
    input,
    env: { AWS_ENDPOINT_URL_SECRETS_MANAGER: emulator.endpoint },
  });
const value = async () => (await client.send(new GetSecretValueCommand({ SecretId: id }))).SecretString;

describe('npm run rotate-secret', () => {
  it('gives fingerprints a new key, and takes it back', async () => {
    const before = emulator.ensure({ id, length: 64 });
    expect(await rotate(['fingerprint', '--dry-run'])).toMatchObject({ code: 0 });
    expect(await value()).toBe(before);
    const { stdout } = await rotate(['fingerprint']);
    const after = await value();
    expect(after).toMatch(/^[\w-]{64}$/);
    expect(after).not.toBe(before);
    expect(stdout).not.toContain(after);
    expect((await rotate(['undo'])).stdout).toContain('in force again');
    expect(await value()).toBe(before);
  });

  it('has both signing secrets of the webhook accepted until one is let go', async () => {
    emulator.ensure({ id, value: 'random text of the stack' });
    await rotate(['stripe-webhook'], 'whsec_oldoldoldold\n');
    expect(await value()).toBe('whsec_oldoldoldold');
    expect((await rotate(['stripe-webhook'], 'whsec_newnewnewnew')).stdout).toContain('2 signing secrets are accepted');
    expect(await value()).toBe('whsec_newnewnewnew whsec_oldoldoldold');
    await rotate(['stripe-webhook'], 'whsec_newnewnewnew');
    expect(await value()).toBe('whsec_newnewnewnew');
    await rotate(['stripe-webhook'], 'whsec_newestnewest');
    expect(await value()).toBe('whsec_newestnewest whsec_newnewnewnew');
    await rotate(['stripe-webhook', '--finish']);
    expect(await value()).toBe('whsec_newestnewest');
    expect((await rotate(['stripe-webhook', '--finish'])).stdout).toContain('has this value already');
  });

  it('takes what Stripe makes and nothing else', async () => {
    const before = emulator.ensure({ id });
    expect(await rotate(['stripe-key'], 'whsec_0123456789ab')).toMatchObject({
      code: 1,
      stderr: 'What stands on standard input is no API key of Stripe.\n',
    });
    expect(await rotate(['stripe-webhook'], '')).toMatchObject({ code: 1 });
    expect(await value()).toBe(before);
    await rotate(['stripe-key'], 'rk_live_0123456789abcdef\n');
    expect(await value()).toBe('rk_live_0123456789abcdef');
  });

  it.each([
    ['fingerprint', 'whsec_newnewnewnew whsec_oldoldoldold', 'stripe-webhook'],
    ['stripe-webhook', 'rk_live_0123456789abcdef', 'stripe-key'],
    ['stripe-key', 'f'.repeat(64), 'fingerprint'],
    ['fingerprint', 'random text of the stack', 'Stripe'],
  ])('puts no %s in the place of another secret', async (kind, before, other) => {
    emulator.ensure({ id, value: before });
    const stderr = `--secret names the secret of ${other}. Nothing was changed.\n`;
    expect(
      await rotate([kind], kind === 'stripe-key' ? 'rk_live_0123456789abcdef' : 'whsec_newestnewest'),
    ).toMatchObject({ code: 1, stderr });
    expect(await value()).toBe(before);
  });

  it('says of a secret that is none', async () => {
    expect(await rotate(['fingerprint'])).toMatchObject({ code: 1, stderr: 'There is no such secret.\n' });
    emulator.ensure({ id });
    expect(await rotate(['undo'])).toMatchObject({ code: 1 });
    expect(await rotate(['password'])).toMatchObject({ code: 2 });
  });
});
