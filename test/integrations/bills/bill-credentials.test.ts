import { tmpdir } from 'node:os';
import { CreateSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { emulatorClient } from '../../../fixtures/emulator-client.ts';
import { UnavailableError } from '../../../lambda/domain/errors.ts';
import { type BillCredentials, openBillCredentials } from '../../../lambda/integrations/bills/bill-credentials.ts';
import { type SecretsEmulator, startSecrets } from '../../../local/emulators/secrets.ts';

let emulator: SecretsEmulator;
let client: SecretsManagerClient;
let credentials: BillCredentials;
beforeAll(async () => {
  emulator = await startSecrets({ dataDir: tmpdir() });
  client = new SecretsManagerClient(emulatorClient(emulator.endpoint));
  credentials = openBillCredentials(client, 'bills/');
});
afterAll(async () => {
  client.destroy();
  await emulator.stop();
});

describe("credentials of providers' bills", () => {
  it('are saved, replaced and removed', async () => {
    expect(await credentials.read('account', 'openai')).toBeUndefined();
    await credentials.save('account', 'openai', 'first');
    await credentials.save('account', 'openai', 'second');
    expect(await credentials.read('account', 'openai')).toBe('second');
    await credentials.remove('account', 'openai');
    await credentials.remove('account', 'openai');
    expect(await credentials.read('account', 'openai')).toBeUndefined();
  });

  it('cannot be saved while Secrets Manager still deletes former ones', async () => {
    await credentials.save('account', 'anthropic', 'first');
    await credentials.remove('account', 'anthropic');
    await expect(credentials.save('account', 'anthropic', 'second')).rejects.toThrow(UnavailableError);
    expect(await credentials.read('account', 'anthropic')).toBeUndefined();
    await credentials.save('account', 'anthropic', 'third');
    expect(await credentials.read('account', 'anthropic')).toBe('third');
  });

  it('are saved by one of two who do so at a time', async () => {
    const send = async (command: CreateSecretCommand) => {
      if (command instanceof CreateSecretCommand)
        await client.send(new CreateSecretCommand({ ...command.input, SecretString: 'other' }));
      return client.send(command);
    };
    const { save } = openBillCredentials({ send } as unknown as typeof client, 'bills/');
    await expect(save('account', 'openrouter', 'own')).rejects.toThrow(UnavailableError);
    expect(await credentials.read('account', 'openrouter')).toBe('other');
  });
});
