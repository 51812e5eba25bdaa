import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import aws4 from 'aws4';
import { dropIdleConnections, notingIdleTimes } from '../kept-connections.ts';

/** Where AWS credentials come from. Asked before each call; caching and renewal are the source's business. */
export type AwsCredentialsSource = () => AwsCredentials | Promise<AwsCredentials>;

interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

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

/** AWS keeps idle connections for longer; after a freeze of the process nobody knows. */
const MAX_IDLE_MS = 5_000;

/** AWS answers here are a few kilobytes; anything larger is not what was asked for. */
const MAX_ANSWER_BYTES = 2 ** 20;

/** A kept connection was closed by the other side before it had answered anything. */
class DeadConnectionError extends Error {
  override readonly name = 'DeadConnectionError';
}

const isBroken = ({ code }: NodeJS.ErrnoException): boolean => code === 'ECONNRESET' || code === 'EPIPE';

/**
 * A caller for one service: signs (Signature Version 4, by aws4) and posts over kept-alive connections.
 * The AWS SDK's clients do the same and more, but loading two of them costs 38 ms on every cold start of the hot path.
 *
 * The call rejects with AwsCallError (AWS refused), or Error (time-out, connection, nonsense). It does not retry, but for a kept
 * connection that turns out to be closed: each operation used here may be done twice.
 */
export const awsCaller = (service: Service, credentials: AwsCredentialsSource): AwsCall => {
  const url = new URL(service.endpoint);
  const secure = url.protocol === 'https:';
  const agent = notingIdleTimes(new (secure ? HttpsAgent : HttpAgent)({ keepAlive: true, timeout: MAX_IDLE_MS }));
  const send = secure ? httpsRequest : httpRequest;

  const post = (
    { headers, body }: aws4.Request,
    operation: string,
    timeoutMs: number,
  ): Promise<Record<string, unknown>> =>
    new Promise((resolve, reject) => {
      const request = send(
        {
          agent,
          hostname: url.hostname,
          port: url.port,
          path: '/',
          method: 'POST',
          headers: headers as Record<string, string>,
        },
        (response) => {
          const chunks: Buffer[] = [];
          let bytes = 0;
          response.on('data', (chunk: Buffer) => {
            chunks.push(chunk);
            bytes += chunk.length;
            if (bytes > MAX_ANSWER_BYTES)
              request.destroy(new Error(`${service.name} answered more than ${MAX_ANSWER_BYTES} bytes`));
          });
          response.on('error', reject);
          response.on('end', () => {
            clearTimeout(timer);
            try {
              const answer =
                bytes === 0 ? {} : (JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>);
              const status = response.statusCode ?? 0;
              if (status >= 200 && status < 300) resolve(answer);
              else
                reject(
                  new AwsCallError(errorCode(answer), status, String(answer['message'] ?? answer['Message'] ?? '')),
                );
            } catch {
              reject(new Error(`${service.name} answered ${response.statusCode} with something that is not JSON`));
            }
          });
        },
      );
      const timer = setTimeout(
        () => request.destroy(new Error(`${service.name} ${operation} had no answer within ${timeoutMs} ms`)),
        timeoutMs,
      );
      request.on('error', (error) => {
        clearTimeout(timer);
        reject(request.reusedSocket && isBroken(error) ? new DeadConnectionError(error.message) : error);
      });
      request.end(body);
    });

  return async (operation, input, timeoutMs) => {
    const signed = aws4.sign(
      {
        host: url.host,
        path: '/',
        method: 'POST',
        service: service.name,
        region: service.region,
        headers: { 'Content-Type': service.contentType, 'X-Amz-Target': `${service.targetPrefix}.${operation}` },
        body: JSON.stringify(input),
      },
      await credentials(),
    );
    dropIdleConnections(agent, MAX_IDLE_MS);
    try {
      return await post(signed, operation, timeoutMs);
    } catch (error) {
      if (!(error instanceof DeadConnectionError)) throw error;
      // Where one is closed, others are.
      dropIdleConnections(agent, -1);
      return post(signed, operation, timeoutMs);
    }
  };
};

/** `com.amazonaws.sqs#QueueDoesNotExist` → `QueueDoesNotExist`. */
const errorCode = (answer: Record<string, unknown>): string => {
  const type = String(answer['__type'] ?? answer['code'] ?? 'UnknownError');
  return type.slice(type.lastIndexOf('#') + 1);
};
