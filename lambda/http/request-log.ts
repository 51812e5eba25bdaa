import type { Logger } from '@aws-lambda-powertools/logger';
import type middy from '@middy/core';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { HttpResult } from './http-result.ts';

/** A client may send a service key or an API token in place of its id. */
const maskSecrets = (path: string): string => path.replace(/(svc|sat)_[0-9A-Za-z]+/g, '$1_…');

/** Logs one line per request: method, path, status, duration and user id. No body, query or header. */
export const requestLog = (logger: Pick<Logger, 'info'>): middy.MiddlewareObj<APIGatewayProxyEvent, HttpResult> => {
  const startedAt = new WeakMap<object, number>();
  const log: middy.MiddlewareFn<APIGatewayProxyEvent, HttpResult> = ({ event, response }) => {
    logger.info('request', {
      requestId: event.requestContext.requestId,
      method: event.httpMethod,
      path: maskSecrets(event.path),
      status: response?.statusCode,
      durationMs: Math.round(performance.now() - (startedAt.get(event) ?? performance.now())),
      userId: event.requestContext.authorizer?.['claims']?.sub,
    });
  };
  return {
    before: ({ event }) => {
      startedAt.set(event, performance.now());
    },
    after: log,
    onError: log,
  };
};
