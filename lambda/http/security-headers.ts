import type middy from '@middy/core';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { HttpResult } from './http-result.ts';

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
