import type { Writable } from 'node:stream';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { ClientResponse, GatewayRequest } from '../protocol/client.ts';

export type LambdaResponseStream = Writable;

/** What was decoded to no text, the platform may have replaced by half a character: that cannot be encoded. */
const escaped = (text: string): string => encodeURIComponent(text.toWellFormed());

/**
 * The query as API Gateway hands it over: decoded, and grouped by name. It is encoded again; the order between different
 * names and the exact escapes are the platform's, the values are the client's.
 */
const queryOf = (parameters: APIGatewayProxyEvent['multiValueQueryStringParameters']): string => {
  const parts = Object.entries(parameters ?? {}).flatMap(([name, values]) =>
    (values ?? []).map((value) => `${escaped(name)}=${escaped(value)}`),
  );
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
};

/** An API Gateway proxy event (REST, v1 shape) as a gateway request. Binary bodies come as base64. */
export const gatewayRequest = (event: APIGatewayProxyEvent): GatewayRequest => {
  const headers = Object.entries(event.multiValueHeaders ?? {}).flatMap(([name, values]) =>
    (values ?? []).flatMap((value) => [name, value]),
  );
  const body = event.body === null ? null : Buffer.from(event.body, event.isBase64Encoded ? 'base64' : 'utf8');
  return {
    method: event.httpMethod,
    host: event.requestContext.domainName,
    target: event.path + queryOf(event.multiValueQueryStringParameters),
    headers: withBodyLength(headers, body),
    body,
  };
};

/** API Gateway has undone chunking: what is left is one body of known length. */
const withBodyLength = (headers: string[], body: Buffer | null): string[] => {
  const kept: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    const name = (headers[i] as string).toLowerCase();
    if (name !== 'content-length' && name !== 'transfer-encoding')
      kept.push(headers[i] as string, headers[i + 1] as string);
  }
  return body === null ? kept : [...kept, 'Content-Length', String(body.length)];
};

/**
 * Single headers, and those that come more than once, as API Gateway wants them apart.
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

/** API Gateway looks for the end of the metadata in the first 16 KB of the stream, and answers 502 where it is not there. */
const MAX_METADATA_BYTES = 16_000;

const sizeOf = (metadata: Record<string, unknown>): number => Buffer.byteLength(JSON.stringify(metadata));

/** The same headers less the largest ones that have no room: without them the client still has its answer. */
const withoutLargest = (status: number, headers: readonly string[]): Record<string, unknown> => {
  const kept = [...headers];
  for (;;) {
    const metadata = metadataOf(status, kept);
    if (kept.length === 0 || sizeOf(metadata) <= MAX_METADATA_BYTES) return metadata;
    let largest = 0;
    for (let i = 2; i < kept.length; i += 2)
      if ((kept[i + 1] as string).length > (kept[largest + 1] as string).length) largest = i;
    kept.splice(largest, 2);
  }
};

const boundedMetadata = (status: number, headers: readonly string[]): Record<string, unknown> => {
  // JSON makes one character six at the most.
  const characters = headers.reduce((sum, text) => sum + text.length + 4, 0);
  return 6 * characters < MAX_METADATA_BYTES ? metadataOf(status, headers) : withoutLargest(status, headers);
};

/** The client's side over Lambda's response stream. Trailers and the status message do not pass API Gateway. */
export const lambdaResponse = (stream: LambdaResponseStream): { client: ClientResponse; broken: () => boolean } => {
  let output = stream;
  let wasBroken = false;
  const client: ClientResponse = {
    start: (status, _message, headers) => {
      output = awslambda.HttpResponseStream.from(stream, boundedMetadata(status, headers));
      // The metadata goes out with the first write: an empty one sends it now.
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
      wasBroken = true;
    },
    // The platform does not tell when a client leaves: the answer is drained and metered whole.
    onLeave: () => {},
  };
  return { client, broken: () => wasBroken };
};
