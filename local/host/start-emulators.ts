import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type CognitoEmulator, startCognito, type UserPoolSeed } from '../emulators/cognito.ts';
import { startDynamoDb } from '../emulators/dynamodb.ts';
import { type SecretsEmulator, startSecrets } from '../emulators/secrets.ts';
import { type MailEmulator, startSes } from '../emulators/ses.ts';
import { startSqs } from '../emulators/sqs.ts';
import type { Emulator } from '../emulators/worker.ts';
import type { DataFolder } from './data-folder.ts';

/** Nothing listens on the discard port. */
const NOWHERE = 'http://127.0.0.1:9';

/**
 * Variables that lead the AWS SDK to the emulators, which take what is signed with their secret. A service without one fails at once, instead of reaching AWS.
 *
 * @see https://docs.aws.amazon.com/sdkref/latest/guide/feature-ss-endpoints.html
 */
export const endpointVariables = (emulators: RunningEmulators): Readonly<Record<string, string>> => ({
  AWS_SECRET_ACCESS_KEY: emulators.secretAccessKey,
  AWS_ENDPOINT_URL: NOWHERE,
  AWS_ENDPOINT_URL_DYNAMODB: emulators.dynamoDb.endpoint,
  AWS_ENDPOINT_URL_SQS: emulators.sqs.endpoint,
  // An address of digits: the SDK puts the bucket into the path then, not into the host's name.
  AWS_ENDPOINT_URL_S3: emulators.sqs.endpoint,
  AWS_ENDPOINT_URL_SES: emulators.ses.endpoint,
  AWS_ENDPOINT_URL_COGNITO_IDENTITY_PROVIDER: emulators.cognito.endpoint,
  AWS_ENDPOINT_URL_SECRETS_MANAGER: emulators.secrets.endpoint,
  // The issuer of the tokens, which has the keys otherwise, is an address of AWS.
  USER_POOL_JWKS_URI: emulators.cognito.jwksUri,
});

export interface RunningEmulators {
  readonly dynamoDb: Emulator;
  /** Its endpoint is that of S3, too. */
  readonly sqs: Emulator;
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
 * @param inFrontOf gives the endpoint at which an emulator is called instead of its own
 * @throws SetupError where the platform has none
 */
export const startEmulators = async (
  data: DataFolder,
  userPools: readonly UserPoolSeed[],
  inFrontOf: (endpoint: string) => Promise<string>,
): Promise<RunningEmulators> => {
  const started: Emulator[] = [];
  const keep = async <T extends Emulator>(starting: Promise<T>): Promise<T> => {
    const emulator = await starting;
    started.push(emulator);
    return { ...emulator, endpoint: await inFrontOf(emulator.endpoint) };
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
