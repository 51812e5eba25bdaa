import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { CognitoJwtVerifier } from 'aws-jwt-verify';
import { JwtBaseError } from 'aws-jwt-verify/error';
import type { Jwks } from 'aws-jwt-verify/jwk';
import { MAX_EVENT_BYTES } from '../lambda/environment.ts';
import { functionOfArn, type LambdaFunction } from '../lambda/functions.ts';
import type { Invoker } from '../lambda/invoker.ts';
import type { App } from '../template/definitions.ts';
import { type ApiBody, findRoute, type Route, type RouteMatch, restApis, routesOf } from './definition.ts';
import { type Claims, proxyEvent } from './proxy-event.ts';
import {
  type GatewayResponseType,
  gatewayResponses,
  respondWithMock,
  sendProxyResult,
  streamedResult,
} from './responses.ts';

/** API Gateway responds in place of the function. */
class GatewayResponse extends Error {
  readonly type: GatewayResponseType;
  constructor(type: GatewayResponseType) {
    super(type);
    this.type = type;
  }
}

/**
 * Admits a request to a route.
 *
 * @returns the token's claims; undefined where the route is open
 * @throws GatewayResponse where there is no token, or not one of the pool's
 */
type Authorize = (route: Route, header: (name: string) => string | undefined) => Promise<Claims | undefined>;

/** API Gateway passes every claim as text. */
const texts = (payload: object): Claims =>
  Object.fromEntries(
    Object.entries(payload).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  );

/** @param readJwks the public keys of a user pool */
const cognitoAuthorizers = async (
  { components }: ApiBody,
  readJwks: (userPoolId: string) => Promise<Jwks>,
): Promise<Authorize> => {
  const authorizers = new Map<string, { readonly headerName: string; verify(token: string): Promise<object> }>();
  for (const [id, { name, 'x-amazon-apigateway-authorizer': authorizer }] of Object.entries(
    components.securitySchemes,
  )) {
    const [, userPoolId = ''] = authorizer.providerARNs[0].split('userpool/');
    // API Gateway takes the ID token of any client of the pool.
    const verifier = CognitoJwtVerifier.create({ userPoolId, clientId: null, tokenUse: 'id' });
    verifier.cacheJwks(await readJwks(userPoolId));
    authorizers.set(id, { headerName: name, verify: (token) => verifier.verify(token) });
  }

  return async (route, header) => {
    if (route.authorizer === undefined) return undefined;
    const authorizer = authorizers.get(route.authorizer);
    if (!authorizer) throw new Error(`${route.resourcePath} has an authorizer that cannot run locally.`);
    const token = header(authorizer.headerName)?.replace(/^Bearer /, '');
    if (!token) throw new GatewayResponse('UNAUTHORIZED');
    try {
      return texts(await authorizer.verify(token));
    } catch (error) {
      throw error instanceof JwtBaseError ? new GatewayResponse('UNAUTHORIZED') : error;
    }
  };
};

/** Serves the dashboard API of the templates, as API Gateway would. */
export type ServeRestApi = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * API Gateway's limits.
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html
 */
const MAX_BODY_BYTES = 10 * 2 ** 20;
const MAX_HEAD_BYTES = 10_240;

/** The request line and all headers. */
const headBytes = ({ method = '', url = '', rawHeaders }: IncomingMessage): number =>
  [method, url, ...rawHeaders].reduce((sum, text) => sum + text.length, 0);

const readBody = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new GatewayResponse('REQUEST_TOO_LARGE');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

const within = async <T>(promise: Promise<T>, timeoutMs: number): Promise<T> => {
  const { promise: timedOut, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new GatewayResponse('INTEGRATION_TIMEOUT')), timeoutMs);
  try {
    return await Promise.race([promise, timedOut]);
  } finally {
    clearTimeout(timer);
  }
};

/**
 * @param functions those of one API, which is served; the gateway is not among them, it has its own server
 * @param readJwks the public keys of a user pool
 */
export const restApiServer = async (
  app: App,
  functions: readonly LambdaFunction[],
  invoker: Invoker,
  readJwks: (userPoolId: string) => Promise<Jwks>,
): Promise<ServeRestApi> => {
  const servedBy = ({ integration }: Route) => functionOfArn(functions, integration.uri ?? '');
  const api = restApis(app).find(({ properties: { Body } }) =>
    routesOf(Body).some((route) => servedBy(route) !== undefined),
  );
  if (!api) throw new Error('No REST API of the templates leads to one of the functions.');
  const { Body: definition, MinimumCompressionSize: compressedFromBytes } = api.properties;
  const routes = routesOf(definition);
  const binaryMediaTypes = definition['x-amazon-apigateway-binary-media-types'];
  const authorize = await cognitoAuthorizers(definition, readJwks);
  const respondAsGateway = gatewayResponses(definition);

  const respond = async (
    { route, pathParameters }: RouteMatch,
    request: IncomingMessage,
    requestId: string,
    response: ServerResponse,
  ) => {
    const { integration } = route;
    if (integration.type === 'mock') return respondWithMock(integration, request, response);
    const claims = await authorize(route, (name) => request.headersDistinct[name.toLowerCase()]?.[0]);
    const lambda = servedBy(route);
    if (!lambda) throw new GatewayResponse('DEFAULT_5XX');
    const event = proxyEvent({
      request,
      requestId,
      body: await readBody(request),
      apiId: api.ref,
      resourcePath: route.resourcePath,
      pathParameters,
      claims,
      binaryMediaTypes,
    });
    if (Buffer.byteLength(JSON.stringify(event)) > MAX_EVENT_BYTES) throw new GatewayResponse('REQUEST_TOO_LARGE');
    if (integration.responseTransferMode === 'STREAM') {
      await within(invoker.invoke(lambda, event, streamedResult(requestId, response)), integration.timeoutInMillis);
      response.end();
    } else {
      const takesGzip = /\bgzip\b/.test(String(request.headers['accept-encoding']));
      sendProxyResult(
        await within(invoker.invoke(lambda, event), integration.timeoutInMillis),
        requestId,
        response,
        (bytes) => takesGzip && bytes >= compressedFromBytes,
      );
    }
  };

  return async (request, response) => {
    const requestId = randomUUID();
    const path = request.url?.split('?')[0] ?? '/';
    const match = findRoute(routes, request.method ?? 'GET', path);
    try {
      if (headBytes(request) > MAX_HEAD_BYTES) throw new GatewayResponse('REQUEST_TOO_LARGE');
      if (!match) throw new GatewayResponse('MISSING_AUTHENTICATION_TOKEN');
      await respond(match, request, requestId, response);
    } catch (error) {
      if (response.headersSent) {
        response.destroy();
        return;
      }
      // The body may not have been read to its end; the connection cannot be used again then.
      if (!request.complete) response.setHeader('Connection', 'close');
      respondAsGateway(error instanceof GatewayResponse ? error.type : 'DEFAULT_5XX', requestId, response);
    }
  };
};
