import { type AwsCredentials, requestSigner } from './sign.ts';
import { type AwsAnswer, type AwsTransport, DeadConnectionError } from './transport.ts';

/** Where AWS credentials come from. Asked before each call; caching and renewal are the source's business. */
export type AwsCredentialsSource = () => AwsCredentials | Promise<AwsCredentials>;

/** AWS answered with an error. `message` is AWS's own text and may name resources, never payloads. */
class AwsCallError extends Error {
  override readonly name = 'AwsCallError';
  readonly code: string;
  readonly status: number;
  constructor(code: string, status: number, message: string) {
    super(`${code}: ${message}`);
    this.code = code;
    this.status = status;
  }
}

/** One operation of an AWS service that speaks the JSON protocol. */
export type AwsCall = (operation: string, input: object, timeoutMs: number) => Promise<Record<string, unknown>>;

interface Service {
  /** Signing name, such as `sqs`. */
  readonly name: string;
  /** What stands before the operation in X-Amz-Target. */
  readonly targetPrefix: string;
  readonly contentType: string;
  /** Origin of the regional endpoint, or of an emulator. */
  readonly endpoint: string;
  readonly region: string;
}

const services = {
  dynamodb: {
    targetPrefix: 'DynamoDB_20120810',
    contentType: 'application/x-amz-json-1.0',
    variable: 'AWS_ENDPOINT_URL_DYNAMODB',
  },
  sqs: { targetPrefix: 'AmazonSQS', contentType: 'application/x-amz-json-1.0', variable: 'AWS_ENDPOINT_URL_SQS' },
  secretsmanager: {
    targetPrefix: 'secretsmanager',
    contentType: 'application/x-amz-json-1.1',
    variable: 'AWS_ENDPOINT_URL_SECRETS_MANAGER',
  },
} as const;

/**
 * A service of the region that AWS_REGION names. AWS_ENDPOINT_URL_* point elsewhere, as they do for the AWS SDKs.
 * @see https://docs.aws.amazon.com/sdkref/latest/guide/feature-ss-endpoints.html
 */
export const awsService = (
  name: keyof typeof services,
  variables: Readonly<Record<string, string | undefined>>,
): Service => {
  const { targetPrefix, contentType, variable } = services[name];
  const region = variables['AWS_REGION'] ?? 'us-east-1';
  const endpoint = variables[variable] ?? variables['AWS_ENDPOINT_URL'] ?? `https://${name}.${region}.amazonaws.com`;
  return { name, targetPrefix, contentType, endpoint, region };
};

/** Credentials from the environment, where Lambda puts them. @throws Error when there are none */
export const environmentCredentials = (
  variables: Readonly<Record<string, string | undefined>>,
): AwsCredentialsSource => {
  return () => {
    const accessKeyId = variables['AWS_ACCESS_KEY_ID'];
    const secretAccessKey = variables['AWS_SECRET_ACCESS_KEY'];
    if (!accessKeyId || !secretAccessKey) throw new Error('Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.');
    const sessionToken = variables['AWS_SESSION_TOKEN'];
    return sessionToken ? { accessKeyId, secretAccessKey, sessionToken } : { accessKeyId, secretAccessKey };
  };
};

/** Reads an answer. @throws AwsCallError (AWS refused), Error (no JSON) */
const read = ({ status, body }: AwsAnswer): Record<string, unknown> => {
  let answer: Record<string, unknown>;
  try {
    answer = body.length === 0 ? {} : (JSON.parse(body.toString('utf8')) as Record<string, unknown>);
  } catch {
    throw new Error(`an answer (status ${status}) that is not JSON`);
  }
  if (status >= 200 && status < 300) return answer;
  throw new AwsCallError(errorCode(answer), status, String(answer['message'] ?? answer['Message'] ?? ''));
};

/**
 * A caller for one service: signs (Signature Version 4) and posts. The AWS SDK's clients do the same and more, but
 * loading two of them costs 38 ms on every cold start of the hot path.
 *
 * The call rejects with AwsCallError (AWS refused), or Error (time-out, connection, nonsense). It does not retry, but for a kept
 * connection that turns out to be closed: each operation used here may be done twice.
 */
export const awsCaller = (
  service: Service,
  credentials: AwsCredentialsSource,
  makeTransport: (endpoint: string) => AwsTransport,
): AwsCall => {
  const post = makeTransport(service.endpoint);
  const { name, region, contentType, targetPrefix } = service;
  const sign = requestSigner({ name, region, contentType, host: new URL(service.endpoint).host });
  return async (operation, input, timeoutMs) => {
    const given = credentials();
    const body = JSON.stringify(input);
    const headers = sign(`${targetPrefix}.${operation}`, body, given instanceof Promise ? await given : given);
    try {
      const once = () => post({ headers, body }, timeoutMs);
      const answer = await once().catch((error: unknown) => {
        if (error instanceof DeadConnectionError) return once();
        throw error;
      });
      return read(answer);
    } catch (error) {
      if (error instanceof AwsCallError) throw error;
      throw new Error(`${name} ${operation}: ${(error as Error).message}`, { cause: error });
    }
  };
};

/** `com.amazonaws.sqs#QueueDoesNotExist` → `QueueDoesNotExist`. */
const errorCode = (answer: Record<string, unknown>): string => {
  const type = String(answer['__type'] ?? answer['code'] ?? 'UnknownError');
  return type.slice(type.lastIndexOf('#') + 1);
};
