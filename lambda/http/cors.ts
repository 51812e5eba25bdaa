import type middy from '@middy/core';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { HttpResult } from './http-result.ts';
import { headersOf } from './parse-request.ts';

/** Lets browsers on the given origins read responses. Tokens are sent in a header, so credentials (cookies) stay off. */
export const cors = (origins: readonly string[]): middy.MiddlewareObj<APIGatewayProxyEvent, HttpResult> => {
  const add: middy.MiddlewareFn<APIGatewayProxyEvent, HttpResult> = (request) => {
    const origin = headersOf(request.event)['origin'];
    if (request.response == null || origins.length === 0) return;
    request.response.headers = {
      ...request.response.headers,
      Vary: 'Origin',
      ...(origin !== undefined &&
        origins.includes(origin) && {
          'Access-Control-Allow-Origin': origin,
          'Access-Control-Expose-Headers': 'X-Request-Id, Retry-After',
        }),
    };
  };
  return { after: add, onError: add };
};
