import { randomUUID } from 'node:crypto';
import type { Logger } from '@aws-lambda-powertools/logger';
import { expect, jest } from '@jest/globals';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { type HttpStackOptions, httpStack } from '../../lambda/http/http-stack.ts';
import type { Caller, Membership, Route } from '../../lambda/http/operation.ts';

export interface ApiCall {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | readonly string[] | undefined>> | undefined;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
  readonly rawBody?: string;
  readonly isBase64Encoded?: boolean;
  /** The user that the Cognito authorizer accepted, the user's account and role (by default, the owner's). */
  readonly caller?: (Partial<Membership> & { readonly accountId: string; readonly userId: string }) | undefined;
  /** The claims of the token that the authorizer accepted, instead of `caller`. */
  readonly claims?: Readonly<Record<string, string>>;
}

type Handler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

const memberships = new Map<string, Membership>();

/** A fake lookup: the memberships of the callers so far. */
export const membershipOf = async ({ userId }: { userId: string }): Promise<Membership | undefined> =>
  memberships.get(userId);

export const APP_CLIENT_ID = 'localclient0000000000000001';

/** Claims of a user who has just signed in. */
const claimsOf = (userId: string) => ({
  sub: userId,
  aud: APP_CLIENT_ID,
  auth_time: String(Math.floor(Date.now() / 1_000)),
});

/** A fake counter: no rate limit is ever reached. */
export const countRequest = async () => ({ requests: 1, endsInSeconds: 60 });

/** The REST proxy event of API Gateway, limited to the members that handlers use. */
export const apiEvent = (call: ApiCall) => {
  if (call.caller) memberships.set(call.caller.userId, { role: 'owner', name: 'ada@example.com', ...call.caller });
  return {
    httpMethod: call.method,
    path: call.path,
    headers: call.headers ?? {},
    multiValueQueryStringParameters: Object.fromEntries(
      Object.entries(call.query ?? {}).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, [value].flat()]],
      ),
    ),
    body: call.rawBody ?? (call.body === undefined ? null : JSON.stringify(call.body)),
    isBase64Encoded: call.isBase64Encoded ?? false,
    requestContext: {
      identity: { sourceIp: '192.0.2.1' },
      requestId: randomUUID(),
      authorizer: (call.claims ?? call.caller) && { claims: call.claims ?? claimsOf(call.caller?.userId ?? '') },
    },
  } as unknown as APIGatewayProxyEvent;
};

/** Calls a handler as API Gateway does, and checks the response against the OpenAPI document. */
export const invoke = async (handler: unknown, call: ApiCall) => {
  const event = apiEvent(call);
  const result = await (handler as Handler)(event, {} as Context);
  const mediaType = result.headers?.['Content-Type'] as string | undefined;
  // Most files that take a logger from here call nothing: they need no description of the API.
  const { checkDescribed } = await import('./described-api.ts');
  checkDescribed(call.method, call.path.replace(/^\/api/, ''), {
    status: result.statusCode,
    mediaType,
    text: result.body,
  });
  return {
    requestId: event.requestContext.requestId,
    status: result.statusCode,
    headers: result.headers as Record<string, string>,
    text: result.body,
    body: mediaType === 'application/json' && result.body !== '' ? JSON.parse(result.body) : undefined,
  };
};

/** Calls by somebody, with what `as` changes of them. */
export const callAs =
  (handler: unknown, caller: NonNullable<ApiCall['caller']>) =>
  (method: string, path: string, body?: unknown, as: Partial<Caller> = {}, query?: ApiCall['query']) =>
    invoke(handler, { method, path: `/api${path}`, body, caller: { ...caller, ...as }, query });

const messageWith = (part: string | RegExp | undefined) =>
  part === undefined
    ? {}
    : { message: typeof part === 'string' ? expect.stringContaining(part) : expect.stringMatching(part) };

/** What a refused call gets, for `toMatchObject`. @param part of the message */
export const refusedWith = (status: number, code: string, part?: string | RegExp) => ({
  status,
  body: { error: { code, ...messageWith(part) } },
});
/** The same where a member of the body is wrong. */
export const invalidAt = (path: string, part?: string | RegExp) => ({
  status: 400,
  body: { error: { code: 'VALIDATION_ERROR', details: [{ path, ...messageWith(part) }] } },
});

/** A logger that records its calls and prints nothing. */
export const silentLogger = () => ({
  info: jest.fn<Logger['info']>(),
  warn: jest.fn<Logger['warn']>(),
  error: jest.fn<Logger['error']>(),
});

/** Serves routes as a function does, to whom `invoke` names, without rate limits. */
export const serve = (routes: readonly Route[], options: Partial<HttpStackOptions> = {}) =>
  httpStack(routes, { logger: silentLogger(), corsOrigins: [], membershipOf, countRequest, ...options });
