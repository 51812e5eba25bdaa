import type { Logger } from '@aws-lambda-powertools/logger';
import type middy from '@middy/core';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { type ErrorBody, errorCodes } from './error-codes.ts';
import { mapError } from './error-map.ts';
import type { HttpResult } from './http-result.ts';
import { mcpErrorBody, RESOURCE_METADATA } from './mcp-http.ts';
import { OAuthError, oAuthErrorResult } from './oauth-error.ts';
import { InvalidJsonError, originOf } from './parse-request.ts';

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
