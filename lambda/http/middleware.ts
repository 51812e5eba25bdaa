import type { Logger } from '@aws-lambda-powertools/logger';
import type middy from '@middy/core';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { type ErrorBody, errorCodes } from './error-codes.ts';
import { mapError } from './error-map.ts';
import type { HttpResult } from './http-result.ts';
import { mcpErrorBody, RESOURCE_METADATA } from './mcp-http.ts';
import { OAuthError, oAuthErrorResult } from './oauth-error.ts';
import { InvalidJsonError, originOf } from './parse-request.ts';

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

/**
 * Turns a thrown error into an error response. Unexpected errors are logged in full, and the response does not reveal them.
 *
 * @param kindOf a protocol with errors of its own that a request is for
 */
export const errorResponse = (
  logger: Pick<Logger, 'error'>,
  kindOf: (event: APIGatewayProxyEvent) => 'oauth' | 'mcp' | undefined,
): middy.MiddlewareObj<APIGatewayProxyEvent, HttpResult> => ({
  onError: (request) => {
    const mapped = mapError(request.error);
    const { code, message, violations, retryAfterSeconds } = mapped;
    const { requestId } = request.event.requestContext;
    const ofKind = (): { statusCode?: number; headers?: Record<string, string>; body: object } => {
      const kind = kindOf(request.event);
      if (kind === 'oauth') return oAuthErrorResult(request.error, mapped);
      if (kind === 'mcp')
        return {
          headers: {
            ...(code === 'UNAUTHORIZED' && {
              'WWW-Authenticate': `Bearer resource_metadata="${originOf(request.event)}${RESOURCE_METADATA}"`,
            }),
            ...(code === 'METHOD_NOT_ALLOWED' && { Allow: 'POST' }),
          },
          body: mcpErrorBody(mapped, requestId, !(request.error instanceof InvalidJsonError)),
        };
      const details = violations && { details: violations.map((violation) => ({ ...violation })) };
      const body: ErrorBody = { error: { code, message, type: 'gateway_error', requestId, ...details } };
      return { body };
    };
    if (errorCodes[code].status >= 500 && !(request.error instanceof OAuthError))
      logger.error('request failed', { requestId, code, error: request.error as Error });
    const { statusCode = errorCodes[code].status, headers, body } = ofKind();
    request.response = {
      statusCode,
      headers: {
        'Content-Type': 'application/json',
        ...headers,
        ...(retryAfterSeconds !== undefined && { 'Retry-After': String(retryAfterSeconds) }),
      },
      body: JSON.stringify(body),
    };
  },
});

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
