import { type AwsCredentials, requestSigner } from './sign.ts';
import { type AwsResponse, type AwsTransport, DeadConnectionError } from './transport.ts';

/** Provides AWS credentials. Called before each call: the source caches and renews them itself. */
export type AwsCredentialsSource = () => AwsCredentials | Promise<AwsCredentials>;

/**
 * An error response from AWS. Its code, such as `ResourceNotFoundException`, is its name too, as the AWS SDKs have it. `message` is AWS's
 * text: it may name resources but contains no payload.
 */
export class AwsCallError extends Error {
  override readonly name: string;
  readonly code: string;
  readonly status: number;
  /** The whole response: a conditional write that fails may return the item. */
  readonly output: Readonly<Record<string, unknown>>;
  constructor(output: Readonly<Record<string, unknown>>, status: number) {
    super(String(output['message'] ?? output['Message'] ?? ''));
    this.code = errorCode(output);
    this.name = this.code;
    this.status = status;
    this.output = output;
  }
}

/** One operation of an AWS service that speaks the JSON protocol. */
export type AwsCall = (operation: string, input: object, timeoutMs: number) => Promise<Record<string, unknown>>;

interface Service {
  /** Signing name, such as `sqs`. */
  readonly name: string;
  /** The part of X-Amz-Target before the operation. */
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
 * A service in the region AWS_REGION. AWS_ENDPOINT_URL_* replace its endpoint, as they do for the AWS SDKs.
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

/** Credentials from the environment variables that Lambda sets. @throws Error if they are missing */
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

/** @throws AwsCallError (AWS refused), Error (not JSON) */
const parseResponse = ({ status, body }: AwsResponse): Record<string, unknown> => {
  let output: Record<string, unknown>;
  try {
    output = body.length === 0 ? {} : (JSON.parse(body.toString('utf8')) as Record<string, unknown>);
  } catch {
    throw new Error(`the response (status ${status}) is not JSON`);
  }
  if (status >= 200 && status < 300) return output;
  throw new AwsCallError(output, status);
};

/**
 * Signs (Signature Version 4) and posts calls to one service. The AWS SDK's clients do more, but loading two of them costs
 * 38 ms on every cold start, which a client waits for.
 *
 * The call rejects with AwsCallError (AWS refused), an error of the credentials' source, or Error: no response that can be read, in time. It
 * retries only when a kept connection turns out to be closed: every operation used here may run twice.
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
    const found = credentials();
    const body = JSON.stringify(input);
    const headers = sign(`${targetPrefix}.${operation}`, body, found instanceof Promise ? await found : found);
    try {
      const postOnce = () => post({ headers, body }, timeoutMs);
      const response = await postOnce().catch((error: unknown) => {
        if (error instanceof DeadConnectionError) return postOnce();
        throw error;
      });
      return parseResponse(response);
    } catch (error) {
      if (error instanceof AwsCallError) throw error;
      throw new Error(`${name} ${operation}: ${(error as Error).message}`, { cause: error });
    }
  };
};

/** `com.amazonaws.sqs#QueueDoesNotExist` → `QueueDoesNotExist`. */
const errorCode = (output: Record<string, unknown>): string => {
  const type = String(output['__type'] ?? output['code'] ?? 'UnknownError');
  return type.slice(type.lastIndexOf('#') + 1);
};
