import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { APIGatewayEventIdentity, APIGatewayProxyEvent } from 'aws-lambda';
import { LOCAL_ACCOUNT } from '../template/names.ts';

/** Claims of a verified token as API Gateway passes them: texts. */
export type Claims = Readonly<Record<string, string>>;

export interface ProxyRequest {
  readonly request: IncomingMessage;
  readonly requestId: string;
  readonly body: Buffer;
  readonly apiId: string;
  /** `/requests/{requestId}` */
  readonly resourcePath: string;
  readonly pathParameters: Readonly<Record<string, string>>;
  readonly claims: Claims | undefined;
  /** Media types whose bodies travel as base64. */
  readonly binaryMediaTypes: readonly string[];
}

/** Groups pairs by name, in order. */
const grouped = (pairs: Iterable<readonly [string, string]>): Record<string, string[]> =>
  Object.fromEntries(
    [...Map.groupBy(pairs, ([name]) => name)].map(([name, group]) => [name, group.map(([, value]) => value)]),
  );

const lastOfEach = (groups: Record<string, string[]>): Record<string, string> =>
  Object.fromEntries(Object.entries(groups).map(([name, values]) => [name, values.at(-1) ?? '']));

const orNull = <T extends object>(members: T): T | null => (Object.keys(members).length > 0 ? members : null);

const headerPairs = (rawHeaders: readonly string[]): [string, string][] =>
  rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? '']] : []));

const isBinary = (contentType: string | undefined, binaryMediaTypes: readonly string[]): boolean =>
  binaryMediaTypes.includes('*/*') || binaryMediaTypes.includes(contentType?.split(';')[0]?.trim() ?? '');

/** The event of a Lambda proxy integration of a REST API (format 1.0). */
export const proxyEvent = (incoming: ProxyRequest): APIGatewayProxyEvent => {
  const { request, requestId, body, apiId, resourcePath, pathParameters, claims, binaryMediaTypes } = incoming;
  const [path = '/', query = ''] = (request.url ?? '/').split(/\?(.*)/s);
  const sourceIp = request.socket.remoteAddress ?? '127.0.0.1';
  const headers = grouped([
    ...headerPairs(request.rawHeaders),
    ['X-Forwarded-For', sourceIp],
    ['X-Forwarded-Proto', 'http'],
    [
      'X-Amzn-Trace-Id',
      `Root=1-${Math.floor(Date.now() / 1000).toString(16)}-${randomUUID().replaceAll('-', '').slice(0, 24)}`,
    ],
  ]);
  const parameters = grouped(new URLSearchParams(query));
  const binary = isBinary(request.headers['content-type'], binaryMediaTypes);
  const now = new Date();
  return {
    resource: resourcePath,
    path,
    httpMethod: request.method ?? 'GET',
    headers: lastOfEach(headers),
    multiValueHeaders: headers,
    queryStringParameters: orNull(lastOfEach(parameters)),
    multiValueQueryStringParameters: orNull(parameters),
    pathParameters: orNull(pathParameters),
    stageVariables: null,
    body: body.length === 0 ? null : body.toString(binary ? 'base64' : 'utf8'),
    isBase64Encoded: body.length > 0 && binary,
    requestContext: {
      accountId: LOCAL_ACCOUNT,
      apiId,
      authorizer: claims && { claims },
      domainName: request.headers.host?.split(':')[0] ?? 'localhost',
      extendedRequestId: requestId,
      httpMethod: request.method ?? 'GET',
      // The other members are about callers who sign with IAM, or send a client's certificate.
      identity: { sourceIp, userAgent: request.headers['user-agent'] ?? null } as APIGatewayEventIdentity,
      path,
      protocol: 'HTTP/1.1',
      requestId,
      requestTime: now.toUTCString(),
      requestTimeEpoch: now.getTime(),
      resourceId: resourcePath,
      resourcePath,
      stage: 'local',
    },
  };
};
