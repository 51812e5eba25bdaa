import type { Logger } from '@aws-lambda-powertools/logger';
import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { cors } from './cors.ts';
import { errorResponse } from './error-response.ts';
import { matchRoute } from './match-route.ts';
import type { Input, Operation, Route } from './operation.ts';
import { callerOf, headersOf, jsonBodyOf, parseWith, queryOf } from './parse-request.ts';
import { requestLog } from './request-log.ts';
import { securityHeaders } from './security-headers.ts';

export interface HttpStackOptions {
  readonly logger: Pick<Logger, 'info' | 'error' | 'warn'>;
  /** Origins that browsers may call from. */
  readonly corsOrigins: readonly string[];
}

/** The parsed request of an operation; parameters first, so that a wrong id says so whatever the body holds. */
const inputOf = (
  { params, query, body, access }: Operation,
  event: APIGatewayProxyEvent,
  pathParameters: Record<string, string>,
): Input<Operation> =>
  ({
    caller: access === 'authorizer' ? callerOf(event) : undefined,
    params: params && parseWith(params, pathParameters),
    query: query && parseWith(query, queryOf(event, query)),
    body: body && parseWith(body, jsonBodyOf(event)),
    authorization: headersOf(event)['authorization'],
    requestId: event.requestContext.requestId,
  }) as Input<Operation>;

const respond = ({ success }: Operation, output: unknown): APIGatewayProxyResult => {
  if (success.schema === undefined) return { statusCode: success.status, headers: {}, body: '' };
  // Parsed on the way out too: an answer the document does not describe is a bug of ours, and unlisted members stay in.
  const answer = success.schema.parse(output);
  return {
    statusCode: success.status,
    headers: { 'Content-Type': success.contentType ?? 'application/json' },
    body: success.contentType === undefined ? JSON.stringify(answer) : String(answer),
  };
};

/**
 * A Lambda handler for API Gateway REST proxy events that serves the given routes: each request is matched, authorized,
 * parsed, run, and its answer held against the operation's schema.
 */
export const httpStack = (routes: readonly Route[], { logger, corsOrigins }: HttpStackOptions) =>
  middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
    .use(requestLog(logger))
    .use(securityHeaders())
    .use(cors(corsOrigins))
    .use(errorResponse(logger))
    .handler(async (event) => {
      const { route, params } = matchRoute(routes, event.httpMethod, event.path);
      return respond(route.operation, await route.run(inputOf(route.operation, event, params)));
    });
