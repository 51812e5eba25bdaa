import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type CognitoEmulator, startCognito, type UserPoolSeed } from '../emulators/cognito.ts';
import { startDynamoDb } from '../emulators/dynamodb.ts';
import type { Emulator } from '../emulators/emulator.ts';
import { type SecretsEmulator, startSecrets } from '../emulators/secrets.ts';
import { type MailEmulator, startSes } from '../emulators/ses.ts';
import { startSqs } from '../emulators/sqs.ts';
import type { DataFolder } from './data-folder.ts';
import type { Emulators } from './endpoints.ts';

export interface RunningEmulators extends Emulators {
  readonly cognito: CognitoEmulator;
  readonly ses: MailEmulator;
  readonly secrets: SecretsEmulator;
  /** Every request to them is signed with it. It is new at each start. */
  readonly secretAccessKey: string;
  stop(): Promise<void>;
}

/**
 * All emulators, or none: where one cannot start, those that have are stopped.
 *
 * @throws MissingEmulatorError where the platform has none
 */
export const startEmulators = async (
  data: DataFolder,
  userPools: readonly UserPoolSeed[],
): Promise<RunningEmulators> => {
  const started: Emulator[] = [];
  const keep = async <T extends Emulator>(starting: Promise<T>): Promise<T> => {
    const emulator = await starting;
    started.push(emulator);
    return emulator;
  };
  const stop = async () => {
    await Promise.all(started.map((emulator) => emulator.stop()));
  };
  const secretAccessKey = randomBytes(30).toString('base64url');
  const options = (name: string) => ({
    dataDir: data.path,
    logFile: join(data.logs, `${name}.log`),
    secretAccessKey,
  });
  const mailAndUsers = async () => {
    const ses = await keep(startSes(options('ses')));
    const cognito = await keep(startCognito({ ...options('cognito'), userPools, mailEndpoint: ses.endpoint }));
    return { ses, cognito };
  };
  const results = await Promise.allSettled([
    keep(startDynamoDb(options('dynamodb'))),
    keep(startSqs(options('sqs'))),
    keep(startSecrets(options('secrets'))),
    mailAndUsers(),
  ]);
  const [dynamoDb, sqs, secrets, users] = results;
  if (
    dynamoDb.status === 'rejected' ||
    sqs.status === 'rejected' ||
    secrets.status === 'rejected' ||
    users.status === 'rejected'
  ) {
    await stop();
    throw results.find((result) => result.status === 'rejected')?.reason;
  }
  return { dynamoDb: dynamoDb.value, sqs: sqs.value, secrets: secrets.value, ...users.value, secretAccessKey, stop };
};
