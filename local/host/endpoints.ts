import type { Emulator } from '../emulators/emulator.ts';

/** The emulators of a running stack. */
export interface Emulators {
  readonly dynamoDb: Emulator;
  readonly sqs: Emulator;
  readonly ses: Emulator;
  readonly cognito: Emulator;
  readonly secrets: Emulator;
  readonly secretAccessKey: string;
}

/** Nothing listens on the discard port. */
const NOWHERE = 'http://127.0.0.1:9';

/**
 * Variables that lead the AWS SDK to the emulators, which take what is signed with their secret. A service without one fails at once, instead of reaching AWS.
 *
 * @see https://docs.aws.amazon.com/sdkref/latest/guide/feature-ss-endpoints.html
 */
export const endpointVariables = (emulators: Emulators): Readonly<Record<string, string>> => ({
  AWS_SECRET_ACCESS_KEY: emulators.secretAccessKey,
  AWS_ENDPOINT_URL: NOWHERE,
  AWS_ENDPOINT_URL_DYNAMODB: emulators.dynamoDb.endpoint,
  AWS_ENDPOINT_URL_SQS: emulators.sqs.endpoint,
  // An address of digits: the SDK puts the bucket into the path then, not into the host's name.
  AWS_ENDPOINT_URL_S3: emulators.sqs.endpoint,
  AWS_ENDPOINT_URL_SES: emulators.ses.endpoint,
  AWS_ENDPOINT_URL_SESV2: emulators.ses.endpoint,
  AWS_ENDPOINT_URL_COGNITO_IDENTITY_PROVIDER: emulators.cognito.endpoint,
  AWS_ENDPOINT_URL_SECRETS_MANAGER: emulators.secrets.endpoint,
});
