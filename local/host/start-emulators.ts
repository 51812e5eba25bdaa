import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { startCognito, type UserPoolSeed } from '../emulators/cognito.ts';
import { startDynamoDb } from '../emulators/dynamodb.ts';
import { startSecrets } from '../emulators/secrets.ts';
import { startSes } from '../emulators/ses.ts';
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
  // The emulator of SQS is that of S3, too. An address of digits: the SDK puts the bucket into the path then, not into the host's name.
  AWS_ENDPOINT_URL_S3: emulators.sqs.endpoint,
  AWS_ENDPOINT_URL_SES: emulators.ses.endpoint,
  AWS_ENDPOINT_URL_COGNITO_IDENTITY_PROVIDER: emulators.cognito.endpoint,
  AWS_ENDPOINT_URL_SECRETS_MANAGER: emulators.secrets.endpoint,
  // The issuer of the tokens, which has the keys otherwise, is an address of AWS.
  USER_POOL_JWKS_URI: emulators.cognito.jwksUri,
});

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
) => {
  const started: Emulator[] = [];
  const keep = async <T extends Emulator>(starting: Promise<T>): Promise<T> => {
    const emulator = await starting;
    started.push(emulator);
    return { ...emulator, endpoint: await inFrontOf(emulator.endpoint) };
  };
  const stop = async () => {
    await Promise.all(started.map((emulator) => emulator.stop()));
  };
  // Every request to them is signed with it. It is new at each start.
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
  const starting = [
    keep(startDynamoDb(options('dynamodb'))),
    keep(startSqs(options('sqs'))),
    keep(startSecrets(options('secrets'))),
    mailAndUsers(),
  ] as const;
  try {
    const [dynamoDb, sqs, secrets, users] = await Promise.all(starting);
    return { dynamoDb, sqs, secrets, ...users, secretAccessKey, stop };
  } catch (error) {
    await Promise.allSettled(starting);
    await stop();
    throw error;
  }
};

export type RunningEmulators = Awaited<ReturnType<typeof startEmulators>>;
