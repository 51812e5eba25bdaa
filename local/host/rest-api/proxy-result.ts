import type { ServerResponse } from 'node:http';
import { z } from 'zod';

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
