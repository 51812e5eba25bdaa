import { createHash } from 'node:crypto';
import type { Logger } from '@aws-lambda-powertools/logger';
import middy from '@middy/core';
import { executionModeStreamifyResponse } from '@middy/core/StreamifyResponse';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { isForTokens, type Permission, permits, rolesWith } from '../domain/accounts/permissions.ts';
import { scopeOf } from '../domain/accounts/scope.ts';
import { ForbiddenError, invalid, NotFoundError } from '../domain/errors.ts';
import { type HttpResult, streamedResult } from './http-result.ts';
import { checkMcpHeaders } from './mcp-http.ts';
import { errorResponse, requestLog, securityHeaders } from './middleware.ts';
import type { Caller, Input, Operation, Route } from './operation.ts';
import {
  callerOf,
  formBodyOf,
  headersOf,
  jsonBodyOf,
  type MembershipOf,
  originOf,
  parseWith,
  queryOf,
  type TokenOwnerOf,
  tokenCallerOf,
} from './parse-request.ts';
import { parametersIn, segmentsOf } from './path-template.ts';
import { type CountRequest, enforceRateLimits } from './rate-limits.ts';

/** `event.path` begins with the base path behind a base-path mapping, and without it behind a stage. */
const BASE_PATH = /^\/api(?=\/|$)/;

/**
 * Finds the route for a method and path, and its path parameters. The first match wins, so a fixed path must come before a
 * parameter that also matches it.
 */
const findRoute = (routes: readonly Route[], method: string, path: string) => {
  const actual = segmentsOf(path.replace(BASE_PATH, ''));
  for (const route of routes) {
    if (route.operation.method !== method) continue;
    const params = parametersIn(segmentsOf(route.operation.path), actual);
    if (params !== undefined) return { route, params };
  }
  return undefined;
};

/** @throws NotFoundError */
const matchRoute = (routes: readonly Route[], method: string, path: string) => {
  const found = findRoute(routes, method, path);
  if (found === undefined) throw new NotFoundError('There is no such endpoint. GET /api/openapi.json lists them.');
  return found;
};

/** Lets browsers on the given origins read responses. Tokens are sent in a header, so credentials (cookies) stay off. */
const cors = (origins: readonly string[]): middy.MiddlewareObj<APIGatewayProxyEvent, HttpResult> => {
  const add: middy.MiddlewareFn<APIGatewayProxyEvent, HttpResult> = (request) => {
    const origin = headersOf(request.event)['origin'];
    if (request.response == null || origins.length === 0) return;
    request.response.headers = {
      ...request.response.headers,
      Vary: 'Origin',
      ...(origin !== undefined &&
        origins.includes(origin) && {
          'Access-Control-Allow-Origin': origin,
          'Access-Control-Expose-Headers': 'ETag, X-Request-Id, Retry-After',
        }),
    };
  };
  return { after: add, onError: add };
};

/**
 * Tags what a GET returns, and spares the body where the client says that it has it: 304 (RFC 9110, section 13). The tag is weak, since
 * API Gateway compresses the body afterwards.
 */
const conditional = (): middy.MiddlewareObj<APIGatewayProxyEvent, HttpResult> => ({
  before: ({ event }) => {
    // Who changes something with it relies on a comparison that nothing here makes.
    if (event.httpMethod !== 'GET' && headersOf(event)['if-match'] !== undefined)
      throw invalid('If-Match', 'is not compared: leave it out. Of changes at the same time, one gets 409 CONFLICT');
  },
  after: ({ event, response }) => {
    if (event.httpMethod !== 'GET' || typeof response?.body !== 'string') return;
    const tag = `W/"${createHash('sha256').update(response.body).digest('base64url').slice(0, 22)}"`;
    response.headers = { ...response.headers, ETag: tag };
    if (headersOf(event)['if-none-match'] === tag) Object.assign(response, { statusCode: 304, body: '' });
  },
});

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
  if (scopeOf(caller).permits(permission)) return caller;
  if (permits(caller.role, permission))
    throw new ForbiddenError(
      `You see some projects of this account only, and the permission ${permission} is about the whole account. An owner or admin can change that.`,
    );
  throw new ForbiddenError(
    `Your role ${caller.role} lacks the permission ${permission}. Roles that have it: ${rolesWith(permission).join(', ')}. An owner or admin can change your role.`,
  );
};

/**
 * What changes something is judged by the membership as it is now: every method but GET, which the types allow without `audits` since it
 * changes nothing. A read is judged by a cached one, which is read again before it refuses, so that a role with more rights holds at once.
 */
const permittedCaller = async (
  event: APIGatewayProxyEvent,
  { method, permission }: { readonly method: Operation['method']; readonly permission: Permission },
  membershipOf: MembershipOf,
) => {
  const isRead = method === 'GET';
  const caller = await callerOf(event, membershipOf, !isRead);
  const isOutdated = isRead && !scopeOf(caller).permits(permission);
  return requirePermission(isOutdated ? await callerOf(event, membershipOf, true) : caller, permission);
};

/** Parses the request of an operation. Path parameters come first, so that a wrong id is reported even if the body is wrong, too. */
const inputOf = async (
  { method, params, query, body, permission, access, isOAuth }: Operation,
  event: APIGatewayProxyEvent,
  pathParameters: Record<string, string>,
  { membershipOf, tokenOwnerOf }: HttpStackOptions,
): Promise<Input<Operation>> =>
  ({
    caller:
      permission &&
      (access === 'machine'
        ? requirePermission(await tokenCallerOf(event, tokenOwnerOf), permission)
        : await permittedCaller(event, { method, permission }, membershipOf)),
    params: params && parseWith(params, pathParameters),
    query: query && parseWith(query, queryOf(event, query)),
    body: body && parseWith(body, isOAuth ? formBodyOf(event) : jsonBodyOf(event)),
    authorization: headersOf(event)['authorization'],
    requestId: event.requestContext.requestId,
    origin: originOf(event),
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
    .use(conditional())
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
