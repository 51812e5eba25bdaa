import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import type { TakeChunk } from '../lambda/environment.ts';
import { METADATA_END } from '../lambda/response-stream.ts';
import type { ApiBody, Integration } from './definition.ts';

/** Responses of API Gateway itself without an override. @see https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html */
const defaults = {
  MISSING_AUTHENTICATION_TOKEN: { status: 403, message: 'Missing Authentication Token' },
  UNAUTHORIZED: { status: 401, message: 'Unauthorized' },
  AUTHORIZER_FAILURE: { status: 500, message: 'Internal server error' },
  REQUEST_TOO_LARGE: { status: 413, message: 'Request Too Long' },
  INTEGRATION_TIMEOUT: { status: 504, message: 'Endpoint request timed out' },
  /** The function failed or returned no valid response. */
  DEFAULT_5XX: { status: 502, message: 'Internal server error' },
} as const;

export type GatewayResponseType = keyof typeof defaults;

type RespondAsGateway = (type: GatewayResponseType, requestId: string, response: ServerResponse) => void;

const HEADER = 'gatewayresponse.header.';

/** Responds where no function does, with the definition's overrides of API Gateway's own responses. */
export const gatewayResponses = ({ 'x-amazon-apigateway-gateway-responses': overrides }: ApiBody): RespondAsGateway => {
  return (type, requestId, response) => {
    const { status, message } = defaults[type];
    const override = overrides[type] ?? overrides[status < 500 ? 'DEFAULT_4XX' : 'DEFAULT_5XX'];
    const variables: Readonly<Record<string, string>> = {
      'context.requestId': requestId,
      'context.extendedRequestId': requestId,
      'context.error.message': message,
      'context.error.messageString': JSON.stringify(message),
      'context.error.responseType': type,
    };
    const template = override?.responseTemplates['application/json'] ?? '{"message":$context.error.messageString}';
    const body = template.replace(
      /\$(context\.[A-Za-z.]*[A-Za-z])/g,
      (whole, name: string) => variables[name] ?? whole,
    );
    const headers = Object.entries(override?.responseParameters ?? {}).flatMap(([name, value]) =>
      name.startsWith(HEADER)
        ? [[name.slice(HEADER.length), value.startsWith("'") ? value.slice(1, -1) : (variables[value] ?? '')] as const]
        : [],
    );
    response
      .writeHead(Number(override?.statusCode ?? status), {
        'Content-Type': 'application/json',
        'x-amzn-RequestId': requestId,
        'x-amzn-ErrorType': type,
        ...Object.fromEntries(headers),
      })
      .end(body);
  };
};

const scalar = z.union([z.string(), z.number(), z.boolean()]);

const resultSchema = z.object({
  statusCode: z.coerce.number().int().min(100).max(599),
  headers: z.record(z.string(), scalar).nullish(),
  multiValueHeaders: z.record(z.string(), z.array(scalar)).nullish(),
  body: z.string().nullish(),
  isBase64Encoded: z.boolean().nullish(),
});

/**
 * Sends the response of a function with a Lambda proxy integration.
 *
 * @param compresses whether the client takes gzip and the API compresses a body of this size
 * @throws ZodError when it is no such response; nothing has been sent then
 */
export const sendProxyResult = (
  result: unknown,
  requestId: string,
  response: ServerResponse,
  compresses: (bytes: number) => boolean,
): void => {
  const { statusCode, headers, multiValueHeaders, body, isBase64Encoded } = resultSchema.parse(result);
  const content = Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8');
  response.setHeader('x-amzn-RequestId', requestId);
  for (const [name, value] of Object.entries(headers ?? {})) response.setHeader(name, String(value));
  for (const [name, values] of Object.entries(multiValueHeaders ?? {})) response.setHeader(name, values.map(String));
  if (!response.hasHeader('content-type')) response.setHeader('Content-Type', 'application/json');
  // Node takes care of the rest.
  if (statusCode === 204 || statusCode === 304) {
    response.writeHead(statusCode).end();
    return;
  }
  const isCompressed = compresses(content.length);
  if (isCompressed) response.setHeader('Content-Encoding', 'gzip');
  response.writeHead(statusCode).end(isCompressed ? gzipSync(content) : content);
};

const metadataSchema = z.object({
  statusCode: z.coerce.number().int().min(100).max(599).default(200),
  headers: z.record(z.string(), z.string()).default({}),
  multiValueHeaders: z.record(z.string(), z.array(z.string())).default({}),
});

/**
 * Forwards the streamed response of a function as it arrives: metadata as JSON, eight NUL bytes, then the body.
 *
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/response-transfer-mode-lambda.html
 */
export const streamedResult = (requestId: string, response: ServerResponse): TakeChunk => {
  let head: Buffer | undefined = Buffer.alloc(0);

  const write = async (bytes: Uint8Array): Promise<void> => {
    if (bytes.length === 0 || response.destroyed || response.write(bytes)) return;
    // A client that disconnected never drains it.
    await Promise.race([once(response, 'drain'), once(response, 'close')]);
  };

  return async (bytes) => {
    if (!head) return write(bytes);
    head = Buffer.concat([head, bytes]);
    const end = head.indexOf(METADATA_END);
    if (end === -1) return undefined;
    const { statusCode, headers, multiValueHeaders } = metadataSchema.parse(JSON.parse(head.toString('utf8', 0, end)));
    const body = head.subarray(end + METADATA_END.length);
    head = undefined;
    response.writeHead(statusCode, { 'x-amzn-RequestId': requestId, ...headers, ...multiValueHeaders });
    response.flushHeaders();
    return write(body);
  };
};

const MOCK_HEADER = 'method.response.header.';

/**
 * A mock integration, which responds to CORS preflights: fixed headers, and an Origin that the response template
 * compares with a further allowed one is let through. No other VTL is run.
 */
export const respondWithMock = (integration: Integration, request: IncomingMessage, response: ServerResponse): void => {
  const fixed = integration.responses?.default;
  const headers = new Map(
    Object.entries(fixed?.responseParameters ?? {})
      .filter(([name]) => name.startsWith(MOCK_HEADER))
      .map(([name, value]) => [name.slice(MOCK_HEADER.length), value.replace(/^'|'$/g, '')]),
  );
  const template = fixed?.responseTemplates['application/json'] ?? '';
  const { origin } = request.headers;
  const others = [...template.matchAll(/\$origin == "([^"]+)"/g)].map(([, allowed]) => allowed);
  if (origin && others.includes(origin)) headers.set('Access-Control-Allow-Origin', origin);
  response.writeHead(Number(fixed?.statusCode ?? 200), Object.fromEntries(headers)).end();
};
