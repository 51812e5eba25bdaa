import type { Logger } from '@aws-lambda-powertools/logger';
import middy from '@middy/core';
import { executionModeStreamifyResponse } from '@middy/core/StreamifyResponse';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { isForTokens, type Permission, permits, rolesWith } from '../domain/accounts/permissions.ts';
import { ForbiddenError } from '../domain/errors.ts';
import { cors } from './cors.ts';
import { errorResponse } from './error-response.ts';
import { type HttpResult, streamedResult } from './http-result.ts';
import { findRoute, matchRoute } from './match-route.ts';
import { checkMcpHeaders } from './mcp-http.ts';
import type { Caller, Input, Operation, Route } from './operation.ts';
import {
  callerOf,
  formBodyOf,
  headersOf,
  jsonBodyOf,
  type MembershipOf,
  parseWith,
  queryOf,
  type TokenOwnerOf,
  tokenCallerOf,
} from './parse-request.ts';
import { type CountRequest, enforceRateLimits } from './rate-limits.ts';
import { requestLog } from './request-log.ts';
import { securityHeaders } from './security-headers.ts';

export interface HttpStackOptions {
  readonly logger: Pick<Logger, 'info' | 'error' | 'warn'>;
  /** Origins that browsers may call from. */
  readonly corsOrigins: readonly string[];
  readonly membershipOf: MembershipOf;
  /** Needed by operations for machines. */
  readonly tokenOwnerOf?: TokenOwnerOf;
  /** Needed by operations with rate limits. */
  readonly countRequest?: CountRequest;
}

/**
 * The one check of permissions.
 *
 * @throws ForbiddenError if the caller's role lacks the operation's permission, or it is not for API tokens
 */
export const requirePermission = (caller: Caller, permission: Permission): Caller => {
  if (caller.tokenId !== undefined && !isForTokens(permission))
    throw new ForbiddenError(`No API token has the permission ${permission}: log in as a person for this.`);
  if (permits(caller.role, permission)) return caller;
  throw new ForbiddenError(
    `Your role ${caller.role} lacks the permission ${permission}. Roles that have it: ${rolesWith(permission).join(', ')}. An owner or admin can change your role.`,
  );
};

/** Only a role that has just been read refuses an operation: one that was given more rights holds at once. */
const permittedCaller = async (event: APIGatewayProxyEvent, permission: Permission, membershipOf: MembershipOf) => {
  const caller = await callerOf(event, membershipOf);
  return requirePermission(
    permits(caller.role, permission) ? caller : await callerOf(event, membershipOf, true),
    permission,
  );
};

/** Parses the request of an operation. Path parameters come first, so that a wrong id is reported whatever the body contains. */
const inputOf = async (
  { params, query, body, permission, access, isOAuth }: Operation,
  event: APIGatewayProxyEvent,
  pathParameters: Record<string, string>,
  { membershipOf, tokenOwnerOf }: HttpStackOptions,
): Promise<Input<Operation>> =>
  ({
    caller:
      permission &&
      (access === 'machine'
        ? requirePermission(await tokenCallerOf(event, tokenOwnerOf), permission)
        : await permittedCaller(event, permission, membershipOf)),
    params: params && parseWith(params, pathParameters),
    query: query && parseWith(query, queryOf(event, query)),
    body: body && parseWith(body, isOAuth ? formBodyOf(event) : jsonBodyOf(event)),
    authorization: headersOf(event)['authorization'],
    requestId: event.requestContext.requestId,
    clientAddress: event.requestContext.identity?.sourceIp,
  }) as Input<Operation>;

const respond = async ({ success, isMcp }: Operation, output: unknown): Promise<HttpResult> => {
  if (success.streamed) return streamedResult(success.status, success.streamed, output as AsyncIterable<string>);
  if (isMcp && output === undefined) return { statusCode: 202, headers: {}, body: '' };
  if (success.schema === undefined) return { statusCode: success.status, headers: {}, body: '' };
  // The output is parsed too: a response that does not match its schema is a bug, and members outside the schema are dropped.
  return {
    statusCode: success.status,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(success.schema.parse(output)),
  };
};

/** The protocol with errors of its own that a request is for. */
const kindOf =
  (routes: readonly Route[]) =>
  ({ httpMethod, path }: APIGatewayProxyEvent) => {
    const { isOAuth, isMcp } = findRoute(routes, httpMethod, path)?.route.operation ?? {};
    if (isMcp) return 'mcp';
    return isOAuth ? 'oauth' : undefined;
  };

const stack = (routes: readonly Route[], options: HttpStackOptions, plugin: middy.PluginObject) =>
  middy<APIGatewayProxyEvent, HttpResult>(plugin)
    .use(requestLog(options.logger))
    .use(securityHeaders())
    .use(cors(options.corsOrigins))
    .use(errorResponse(options.logger, kindOf(routes)))
    .handler(async (event) => {
      const { route, params } = matchRoute(routes, event.httpMethod, event.path);
      if (route.operation.isMcp) checkMcpHeaders(headersOf(event), options.corsOrigins);
      const input = await inputOf(route.operation, event, params, options);
      await enforceRateLimits(route.operation, input, options.countRequest);
      return respond(route.operation, await route.run(input));
    });

/**
 * A Lambda handler for API Gateway REST proxy events that serves the given routes. It matches, authorizes and parses each
 * request, runs the operation, and validates the response by the operation's schema.
 */
export const httpStack = (routes: readonly Route[], options: HttpStackOptions) => stack(routes, options, {});

/** The same for an integration with response streaming, which operations with a streamed response need. */
export const streamingHttpStack = (routes: readonly Route[], options: HttpStackOptions) =>
  stack(routes, options, { executionMode: executionModeStreamifyResponse });
