import {
  CreateSecretCommand,
  DeleteSecretCommand,
  GetSecretValueCommand,
  InvalidRequestException,
  PutSecretValueCommand,
  ResourceExistsException,
  ResourceNotFoundException,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { UnavailableError } from '../../domain/errors.ts';

/** Secrets Manager still deletes the secret of this name. */
const isGoing = (error: unknown): boolean => error instanceof InvalidRequestException;

/**
 * Credentials that read bills, one secret for each account and provider: they are never shown again.
 * @param prefix of their names; functions may use no other secrets with it
 */
export const openBillCredentials = (client: Pick<SecretsManagerClient, 'send'>, prefix: string) => {
  const nameOf = (accountId: string, provider: string) => `${prefix}${accountId}/${provider}`;
  return {
    /** @throws UnavailableError while a former one is deleted, or another is saved */
    save: async (accountId: string, provider: string, credential: string): Promise<void> => {
      const name = nameOf(accountId, provider);
      try {
        await client
          .send(new PutSecretValueCommand({ SecretId: name, SecretString: credential }))
          .catch((error: unknown) => {
            if (!(error instanceof ResourceNotFoundException)) throw error;
            return client.send(new CreateSecretCommand({ Name: name, SecretString: credential }));
          });
      } catch (error) {
        if (!isGoing(error) && !(error instanceof ResourceExistsException)) throw error;
        throw new UnavailableError('The former credential is still being replaced. Try again in a minute.');
      }
    },
    /** Undefined where there is none. */
    read: async (accountId: string, provider: string): Promise<string | undefined> => {
      try {
        const { SecretString } = await client.send(
          new GetSecretValueCommand({ SecretId: nameOf(accountId, provider) }),
        );
        return SecretString;
      } catch (error) {
        if (isGoing(error) || error instanceof ResourceNotFoundException) return undefined;
        throw error;
      }
    },
    /** At once: a deleted secret could be restored for days. Succeeds where there is none. */
    remove: async (accountId: string, provider: string): Promise<void> => {
      try {
        await client.send(
          new DeleteSecretCommand({ SecretId: nameOf(accountId, provider), ForceDeleteWithoutRecovery: true }),
        );
      } catch (error) {
        if (!(error instanceof ResourceNotFoundException)) throw error;
      }
    },
  };
};

export type BillCredentials = ReturnType<typeof openBillCredentials>;
