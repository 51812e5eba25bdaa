import type { Logger } from '@aws-lambda-powertools/logger';
import middy from '@middy/core';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { HttpResult } from '../../http/http-result.ts';
import { errorResponse, requestLog, securityHeaders } from '../../http/middleware.ts';
import { headersOf } from '../../http/parse-request.ts';
import { receiveStripeEvent } from './operations.ts';

/** The HTTP stack of the webhook. It passes on the body's bytes unparsed, because the signature covers them. No CORS: browsers do not call it. */
export const webhookStack = (
  receive: (body: Buffer, signature: string | undefined) => Promise<void>,
  logger: Pick<Logger, 'info' | 'error'>,
) =>
  middy<APIGatewayProxyEvent, HttpResult>()
    .use(requestLog(logger))
    .use(securityHeaders())
    .use(errorResponse(logger, () => undefined))
    .handler(async (event) => {
      const body = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
      await receive(body, headersOf(event)['stripe-signature']);
      const { status, schema } = receiveStripeEvent.success;
      return {
        statusCode: status,
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(schema.parse({ received: true })),
      };
    });
