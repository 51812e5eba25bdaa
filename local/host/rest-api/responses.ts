import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import type { TakeChunk } from '../lambda/environment.ts';
import { METADATA_END } from '../lambda/response-stream.ts';
import type { Integration } from './definition.ts';

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
 * @throws ZodError when it is no such response; nothing has been sent then
 */
export const sendProxyResult = (result: unknown, requestId: string, response: ServerResponse): void => {
  const { statusCode, headers, multiValueHeaders, body, isBase64Encoded } = resultSchema.parse(result);
  const content = Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8');
  response.setHeader('x-amzn-RequestId', requestId);
  for (const [name, value] of Object.entries(headers ?? {})) response.setHeader(name, String(value));
  for (const [name, values] of Object.entries(multiValueHeaders ?? {})) response.setHeader(name, values.map(String));
  if (!response.hasHeader('content-type')) response.setHeader('Content-Type', 'application/json');
  // 204 and 304 have no body; Node takes care of the rest.
  response.writeHead(statusCode).end(statusCode === 204 || statusCode === 304 ? undefined : content);
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
