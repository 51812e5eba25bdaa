import type { Writable } from 'node:stream';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { ClientResponse, GatewayRequest } from '../protocol/client.ts';
import { withoutHeaders } from '../protocol/headers.ts';
import { providerInPath } from '../protocol/target.ts';

export type LambdaResponseStream = Writable;

/** The platform's decoding may leave half of a surrogate pair, which cannot be encoded. */
const encode = (text: string): string => encodeURIComponent(text.toWellFormed());

/**
 * The query string. API Gateway hands it over decoded and grouped by name, so it is encoded again: the values are the
 * client's, the order of names and the escapes are the platform's.
 */
const queryOf = (parameters: APIGatewayProxyEvent['multiValueQueryStringParameters']): string => {
  const parts = Object.entries(parameters ?? {}).flatMap(([name, values]) =>
    (values ?? []).map((value) => `${encode(name)}=${encode(value)}`),
  );
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
};

/** The address that API Gateway gives an API. It serves where the stage has no domain of its own, and names no provider: the path does. */
const isOwnAddress = (host: string | undefined): boolean => host?.includes('.execute-api.') === true;

/** The gateway request in an API Gateway proxy event (REST, v1 shape). Binary bodies arrive as base64. */
export const gatewayRequest = (event: APIGatewayProxyEvent): GatewayRequest => {
  const headers = Object.entries(event.multiValueHeaders ?? {}).flatMap(([name, values]) =>
    (values ?? []).flatMap((value) => [name, value]),
  );
  const body = event.body === null ? null : Buffer.from(event.body, event.isBase64Encoded ? 'base64' : 'utf8');
  const host = event.requestContext.domainName;
  const target = event.path + queryOf(event.multiValueQueryStringParameters);
  return {
    method: event.httpMethod,
    host,
    target,
    ...(isOwnAddress(host) && providerInPath(target)),
    headers: withBodyLength(headers, body),
    body,
  };
};

const framing = new Set(['content-length', 'transfer-encoding']);

/**
 * API Gateway has removed chunked framing: the body is whole and its length is known. It is the last header: behind it Node's client decodes
 * a `Content-Disposition` as UTF-8, and sends other bytes or none.
 */
const withBodyLength = (headers: readonly string[], body: Buffer | null): string[] => {
  const kept = withoutHeaders(headers, framing);
  return body === null ? kept : [...kept, 'Content-Length', String(body.length)];
};

/**
 * Status and headers for API Gateway, which takes single and repeated headers separately.
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/response-transfer-mode-lambda.html
 */
const metadataOf = (statusCode: number, flat: readonly string[]): Record<string, unknown> => {
  const values = new Map<string, string[]>();
  for (let i = 0; i < flat.length; i += 2) {
    const name = (flat[i] as string).toLowerCase();
    const all = values.get(name);
    if (all) all.push(flat[i + 1] as string);
    else values.set(name, [flat[i + 1] as string]);
  }
  const headers: Record<string, string> = {};
  const multiValueHeaders: Record<string, string[]> = {};
  for (const [name, all] of values) {
    if (all.length === 1) headers[name] = all[0] as string;
    else multiValueHeaders[name] = all;
  }
  return { statusCode, headers, multiValueHeaders };
};

/** API Gateway responds with 502 if the metadata does not end within the first 16 KB of the stream. */
const MAX_METADATA_BYTES = 16_000;

const sizeOf = (metadata: Record<string, unknown>): number => Buffer.byteLength(JSON.stringify(metadata));

/** Drops the largest headers until the metadata fits: the client gets its response without them. */
const withoutLargest = (status: number, headers: readonly string[]): Record<string, unknown> => {
  const kept = [...headers];
  for (;;) {
    const metadata = metadataOf(status, kept);
    if (sizeOf(metadata) <= MAX_METADATA_BYTES) return metadata;
    let largest = 0;
    for (let i = 2; i < kept.length; i += 2)
      if ((kept[i + 1] as string).length > (kept[largest + 1] as string).length) largest = i;
    kept.splice(largest, 2);
  }
};

const boundedMetadata = (status: number, headers: readonly string[]): Record<string, unknown> => {
  // JSON needs at most six bytes for one character.
  const characters = headers.reduce((sum, text) => sum + text.length + 4, 0);
  return 6 * characters < MAX_METADATA_BYTES ? metadataOf(status, headers) : withoutLargest(status, headers);
};

/** The client's side over Lambda's response stream. API Gateway passes neither trailers nor the status message. */
export const lambdaResponse = (
  stream: LambdaResponseStream,
): { client: ClientResponse; isInterrupted: () => boolean; requestId: () => string | undefined } => {
  let output = stream;
  let interrupted = false;
  let requestId: string | undefined;
  const client: ClientResponse = {
    start: (status, _message, headers) => {
      const at = headers.lastIndexOf('X-Service-Request-Id');
      if (at !== -1) requestId = headers[at + 1];
      output = awslambda.HttpResponseStream.from(stream, boundedMetadata(status, headers));
      // The first write sends the metadata, even an empty one.
      output.write('');
    },
    write: (chunk) => output.write(chunk),
    onDrain: (listener) => {
      output.on('drain', listener);
    },
    end: (_trailers, last) => {
      output.end(last);
    },
    abort: () => {
      interrupted = true;
    },
    // The platform does not report a disconnected client: the response is read and metered to its end. It stops
    // taking the response itself at the function's time-out.
    onDisconnect: (listener) => {
      stream.on('close', () => stream.writableFinished || listener());
    },
  };
  return { client, isInterrupted: () => interrupted, requestId: () => requestId };
};
