import { Readable } from 'node:stream';
import type middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';

/** A handler's response: API Gateway's proxy result, whose body is a stream if the integration streams. */
export type HttpResult = Omit<APIGatewayProxyResult, 'body'> & { body: string | Readable };

async function* chain(first: IteratorResult<string>, rest: AsyncIterator<string>): AsyncGenerator<string> {
  for (let next = first; !next.done; next = await rest.next()) yield next.value;
}

/**
 * A result whose body is streamed. It waits for the first piece: an error before that becomes an error response, a later error
 * interrupts the response.
 */
export const streamedResult = async (
  statusCode: number,
  { contentType, filename }: { readonly contentType: string; readonly filename: string },
  pieces: AsyncIterable<string>,
): Promise<HttpResult> => {
  const iterator = pieces[Symbol.asyncIterator]();
  const first = await iterator.next();
  return {
    statusCode,
    headers: { 'Content-Type': contentType, 'Content-Disposition': `attachment; filename="${filename}"` },
    body: Readable.from(chain(first, iterator)),
  };
};

/** The API returns data to programs: browsers must not frame, sniff, cache or run it. */
const headers = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=63072000; includeSubDomains',
  'X-Content-Type-Options': 'nosniff',
};

/** Adds security headers and the request id to every response. */
export const securityHeaders = (): middy.MiddlewareObj<APIGatewayProxyEvent, HttpResult> => {
  const add: middy.MiddlewareFn<APIGatewayProxyEvent, HttpResult> = (request) => {
    if (request.response == null) return;
    request.response.headers = {
      ...headers,
      'X-Request-Id': request.event.requestContext.requestId,
      ...request.response.headers,
    };
  };
  return { after: add, onError: add };
};
