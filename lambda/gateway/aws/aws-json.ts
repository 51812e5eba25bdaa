import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';
import { type AwsResponse, type AwsTransport, DeadConnectionError } from './transport.ts';

/** From the environment on Lambda, from the task's role in a container. */
interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

interface SignedService {
  readonly name: string;
  readonly region: string;
  /** Host, and port unless it is the scheme's default. */
  readonly host: string;
  readonly contentType: string;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/**
 * Signature Version 4 for one kind of request: a POST of JSON to `/` with X-Amz-Target. Returns the headers.
 *
 * The library aws4 takes 28 to 60 µs, mostly for other kinds of requests and for a new key object each time. Each of our
 * clients' requests needs two signatures. A test compares the two implementations.
 *
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
export const requestSigner = ({ name, region, host, contentType }: SignedService) => {
  let keyScope = '';
  let key: KeyObject | undefined;

  /** Valid for one day and one secret. */
  const signingKey = (secretAccessKey: string, date: string): KeyObject => {
    const wantedScope = date + secretAccessKey;
    if (key && keyScope === wantedScope) return key;
    const bytes = [date, region, name, 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`);
    key = createSecretKey(bytes as Buffer);
    keyScope = wantedScope;
    return key;
  };

  /** @param target such as `AmazonSQS.SendMessageBatch` */
  return (target: string, body: string, credentials: AwsCredentials, now = new Date()): Record<string, string> => {
    const { accessKeyId, secretAccessKey, sessionToken } = credentials;
    // 2026-11-20T19:25:44.123Z → 20261120T192544Z
    const time = `${now.toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;
    const date = time.slice(0, 8);
    const scope = `${date}/${region}/${name}/aws4_request`;
    const token = sessionToken === undefined ? '' : `x-amz-security-token:${sessionToken}\n`;
    const names = `content-type;host;x-amz-date;${token === '' ? '' : 'x-amz-security-token;'}x-amz-target`;
    const canonical = `POST\n/\n\ncontent-type:${contentType}\nhost:${host}\nx-amz-date:${time}\n${token}x-amz-target:${target}\n\n${names}\n${hash('sha256', body)}`;
    const signature = createHmac('sha256', signingKey(secretAccessKey, date))
      .update(`${ALGORITHM}\n${time}\n${scope}\n${hash('sha256', canonical)}`)
      .digest('hex');
    const headers: Record<string, string> = {
      Host: host,
      'Content-Type': contentType,
      'Content-Length': String(Buffer.byteLength(body)),
      'X-Amz-Date': time,
      'X-Amz-Target': target,
      Authorization: `${ALGORITHM} Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
    };
    if (sessionToken !== undefined) headers['X-Amz-Security-Token'] = sessionToken;
    return headers;
  };
};

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
export type AwsCall = (
  operation: string,
  input: object,
  timeoutMs: number,
  sends?: 'once',
) => Promise<Record<string, unknown>>;

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
 * retries only when a kept connection turns out to be closed, and not what is to be sent `once`: all other operations may run twice.
 */
export const awsCaller = (
  service: Service,
  credentials: AwsCredentialsSource,
  makeTransport: (endpoint: string) => AwsTransport,
): AwsCall => {
  const post = makeTransport(service.endpoint);
  const { name, region, contentType, targetPrefix } = service;
  const sign = requestSigner({ name, region, contentType, host: new URL(service.endpoint).host });
  return async (operation, input, timeoutMs, sends) => {
    const found = credentials();
    const body = JSON.stringify(input);
    const headers = sign(`${targetPrefix}.${operation}`, body, found instanceof Promise ? await found : found);
    try {
      const postOnce = () => post({ headers, body }, timeoutMs);
      const response = await postOnce().catch((error: unknown) => {
        if (error instanceof DeadConnectionError && sends !== 'once') return postOnce();
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
