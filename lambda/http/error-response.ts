import type { Logger } from '@aws-lambda-powertools/logger';
import type middy from '@middy/core';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { type ErrorBody, errorCodes } from './error-codes.ts';
import { mapError } from './error-map.ts';
import type { HttpResult } from './http-result.ts';

/** Turns a thrown error into an error response. Unexpected errors are logged in full, and the response does not reveal them. */
export const errorResponse = (
  logger: Pick<Logger, 'error'>,
): middy.MiddlewareObj<APIGatewayProxyEvent, HttpResult> => ({
  onError: (request) => {
    const { code, message, violations, retryAfterSeconds } = mapError(request.error);
    const { requestId } = request.event.requestContext;
    if (errorCodes[code].status >= 500)
      logger.error('request failed', { requestId, code, error: request.error as Error });
    const body: ErrorBody = {
      error: {
        code,
        message,
        type: 'gateway_error',
        requestId,
        ...(violations !== undefined && { details: violations.map((violation) => ({ ...violation })) }),
      },
    };
    request.response = {
      statusCode: errorCodes[code].status,
      headers: {
        'Content-Type': 'application/json',
        ...(retryAfterSeconds !== undefined && { 'Retry-After': String(retryAfterSeconds) }),
      },
      body: JSON.stringify(body),
    };
  },
});
