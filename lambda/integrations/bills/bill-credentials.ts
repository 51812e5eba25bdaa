import {
  CreateSecretCommand,
  DeleteSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { ignoring, nameOf, UnavailableError } from '../../domain/errors.ts';

/** Secrets Manager still deletes the secret of this name. */
const IS_GOING = 'InvalidRequestException';
const IS_MISSING = 'ResourceNotFoundException';

/**
 * Credentials that read bills, one secret for each account and provider: they are never shown again.
 * @param prefix of their names; functions may use no other secrets with it
 */
export const openBillCredentials = (client: Pick<SecretsManagerClient, 'send'>, prefix: string) => {
  const secretOf = (accountId: string, provider: string) => `${prefix}${accountId}/${provider}`;
  return {
    /** @throws UnavailableError while a former one is deleted, or another is saved */
    save: async (accountId: string, provider: string, credential: string): Promise<void> => {
      const name = secretOf(accountId, provider);
      try {
        await client
          .send(new PutSecretValueCommand({ SecretId: name, SecretString: credential }))
          .catch((error: unknown) => {
            if (nameOf(error) !== IS_MISSING) throw error;
            return client.send(new CreateSecretCommand({ Name: name, SecretString: credential }));
          });
      } catch (error) {
        if (![IS_GOING, 'ResourceExistsException'].includes(nameOf(error))) throw error;
        throw new UnavailableError('The former credential is still being replaced. Try again in a minute.');
      }
    },
    /** Undefined where there is none. */
    read: async (accountId: string, provider: string): Promise<string | undefined> => {
      const command = new GetSecretValueCommand({ SecretId: secretOf(accountId, provider) });
      return (await client.send(command).catch(ignoring(IS_GOING, IS_MISSING)))?.SecretString;
    },
    /** At once: a deleted secret could be restored for days. Succeeds where there is none. */
    remove: async (accountId: string, provider: string): Promise<void> => {
      const SecretId = secretOf(accountId, provider);
      await client
        .send(new DeleteSecretCommand({ SecretId, ForceDeleteWithoutRecovery: true }))
        .catch(ignoring(IS_MISSING));
    },
  };
};

export type BillCredentials = ReturnType<typeof openBillCredentials>;
