import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Jwks } from 'aws-jwt-verify/jwk';
import { z } from 'zod';
import { functionOfArn, type LambdaFunction } from '../lambda/functions.ts';
import type { Invoker } from '../lambda/invoker.ts';
import { type App, definitions } from '../template/definitions.ts';
import { cognitoAuthorizers, UnauthorizedError } from './authorizers.ts';
import { type GatewayResponseType, gatewayResponses } from './gateway-responses.ts';
import { answerMock } from './mock-integration.ts';
import { proxyEvent } from './proxy-event.ts';
import { sendProxyResult } from './proxy-result.ts';
import { findRoute, type RouteMatch, routesOf } from './routes.ts';

/** Serves the dashboard API of the templates, as API Gateway would. */
export type ServeRestApi = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** API Gateway's limit of a request body. */
const MAX_BODY_BYTES = 10 * 1024 * 1024;

/** API Gateway answers in place of the function. */
class GatewayAnswer extends Error {
  readonly type: GatewayResponseType;
  constructor(type: GatewayResponseType) {
    super(type);
    this.type = type;
  }
}

const readBody = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new GatewayAnswer('REQUEST_TOO_LARGE');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

const within = async <T>(promise: Promise<T>, timeoutMs: number): Promise<T> => {
  const { promise: timedOut, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new GatewayAnswer('INTEGRATION_TIMEOUT')), timeoutMs);
  try {
    return await Promise.race([promise, timedOut]);
  } finally {
    clearTimeout(timer);
  }
};

const apiSchema = z.object({ BinaryMediaTypes: z.array(z.string()).default([]) });

/** @param readJwks the public keys of a user pool */
export const restApiServer = async (
  app: App,
  functions: readonly LambdaFunction[],
  invoker: Invoker,
  readJwks: (userPoolId: string) => Promise<Jwks>,
): Promise<ServeRestApi> => {
  // The gateway's own streamed routes are served by its node:http adapter: see stack.ts.
  const routes = routesOf(app).filter(({ resourcePath }) => resourcePath.startsWith('/api/'));
  const binaryMediaTypes = new Map(
    definitions(app, apiSchema, 'AWS::ApiGateway::RestApi').map(({ ref, properties }) => [
      ref,
      properties.BinaryMediaTypes,
    ]),
  );
  const authorize = await cognitoAuthorizers(app, readJwks);
  const answerByGateway = gatewayResponses(app);

  const invoke = async (match: RouteMatch, request: IncomingMessage, requestId: string): Promise<unknown> => {
    const { route } = match;
    const claims = await authorize(route, (name) => request.headersDistinct[name.toLowerCase()]?.[0]);
    const lambda = functionOfArn(functions, route.integration.Uri ?? '');
    if (!lambda) throw new GatewayAnswer('DEFAULT_5XX');
    const event = proxyEvent({
      request,
      requestId,
      body: await readBody(request),
      match,
      claims,
      binaryMediaTypes: binaryMediaTypes.get(route.apiId) ?? [],
    });
    return within(invoker.invoke(lambda, event), route.integration.TimeoutInMillis);
  };

  return async (request, response) => {
    const requestId = randomUUID();
    const path = request.url?.split('?')[0] ?? '/';
    const match = findRoute(routes, request.method ?? 'GET', path);
    try {
      if (!match) throw new GatewayAnswer('MISSING_AUTHENTICATION_TOKEN');
      if (match.route.integration.Type === 'MOCK') answerMock(match.route.integration, request, response);
      else sendProxyResult(await invoke(match, request, requestId), requestId, response);
    } catch (error) {
      if (response.headersSent) {
        response.destroy();
        return;
      }
      // The body may not have been read to its end; the connection cannot be used again then.
      if (!request.complete) response.setHeader('Connection', 'close');
      const type =
        error instanceof GatewayAnswer
          ? error.type
          : error instanceof UnauthorizedError
            ? 'UNAUTHORIZED'
            : 'DEFAULT_5XX';
      answerByGateway(match?.route.apiId ?? routes[0]?.apiId, type, requestId, response);
    }
  };
};
