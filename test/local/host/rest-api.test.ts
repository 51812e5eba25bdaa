import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  AdminCreateUserCommand,
  AdminInitiateAuthCommand,
  AdminSetUserPasswordCommand,
  CognitoIdentityProviderClient,
} from '@aws-sdk/client-cognito-identity-provider';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Jwks } from 'aws-jwt-verify/jwk';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { emulatorClient } from '../../../fixtures/emulator-client.ts';
import { urlOf } from '../../../fixtures/listen.ts';
import { type CognitoEmulator, startCognito } from '../../../local/emulators/cognito.ts';
import type { LambdaFunction } from '../../../local/host/lambda/functions.ts';
import { createInvoker, type Invoker } from '../../../local/host/lambda/invoker.ts';
import { userPoolSeeds } from '../../../local/host/resources/user-pools.ts';
import { restApiServer } from '../../../local/host/rest-api/server.ts';
import { appOf, stackOf } from './stack-of.ts';

/** Responds with the event it got, or as the path says. */
const HANDLER = `
export const echo = async (event) => {
  if (event.path.endsWith('/fail')) throw new Error('broken');
  if (event.path.endsWith('/odd')) return { hello: 1 };
  if (event.path.endsWith('/binary')) return { statusCode: 200, body: 'AAEC', isBase64Encoded: true, multiValueHeaders: { 'Set-Cookie': ['a=1', 'b=2'] } };
  const [, digits] = /\\/(\\d+)$/.exec(event.path) ?? [];
  if (digits) return { statusCode: 200, body: 'x'.repeat(Number(digits)) };
  return { statusCode: 201, headers: { 'X-Made': 'yes' }, body: JSON.stringify(event) };
};
export const stream = globalThis.awslambda?.streamifyResponse(async (event, output) => {
  if (event.path.endsWith('/before')) throw new Error('broken at once');
  const body = awslambda.HttpResponseStream.from(output, { statusCode: 202, headers: { 'content-type': 'text/csv' } });
  for (let line = 0; line < 5000; line++) {
    if (!body.write('line ' + line + ' of many\\n')) await new Promise((resolve) => body.once('drain', resolve));
    if (event.path.endsWith('/midway') && line === 10) throw new Error('broken midway');
  }
  body.end();
});
`;

const invocation = (name: string) =>
  `arn:aws:apigateway:x:lambda:path/functions/arn:aws:lambda:x:0:function:${name}/invocations`;
const method = (integration: object, more: object = {}) => ({
  ...more,
  'x-amazon-apigateway-integration': { type: 'aws_proxy', ...integration },
});
const echo = { uri: invocation('echo') };
const stream = { uri: invocation('stream'), responseTransferMode: 'STREAM' };
const preflight = {
  type: 'mock',
  responses: {
    default: {
      statusCode: '204',
      responseParameters: { 'method.response.header.Access-Control-Allow-Origin': "'https://a.example'" },
      responseTemplates: { 'application/json': '#if($origin == "https://b.example")\n#end' },
    },
  },
};

const definition = {
  paths: {
    '/open/{what}': { get: method(echo), put: method(echo) },
    '/closed': { get: method(echo, { security: [{ token: [] }] }), options: method(preflight) },
    '/streamed/{how}': { get: method(stream) },
  },
  components: {
    securitySchemes: {
      token: {
        type: 'apiKey',
        name: 'Authorization',
        in: 'header',
        'x-amazon-apigateway-authorizer': {
          type: 'cognito_user_pools',
          providerARNs: [{ 'Fn::GetAtt': ['Pool', 'Arn'] }],
        },
      },
    },
  },
  'x-amazon-apigateway-gateway-responses': {
    UNAUTHORIZED: {
      statusCode: '401',
      responseParameters: { 'gatewayresponse.header.X-Why': "'token'" },
      responseTemplates: { 'application/json': '{"code":"UNAUTHORIZED","id":"$context.requestId"}' },
    },
    DEFAULT_5XX: {
      responseTemplates: { 'application/json': '{"code":"INTERNAL","said":$context.error.messageString}' },
    },
  },
};

const app = appOf(
  stackOf('api', {
    Api: { Type: 'AWS::ApiGateway::RestApi', Properties: { Body: definition, MinimumCompressionSize: 300 } },
    Pool: { Type: 'AWS::Cognito::UserPool', Properties: { Schema: [{ Name: 'email' }, { Name: 'accountId' }] } },
    Client: {
      Type: 'AWS::Cognito::UserPoolClient',
      Properties: { UserPoolId: { Ref: 'Pool' }, IdTokenValidity: 5, TokenValidityUnits: { IdToken: 'minutes' } },
    },
  }),
);

const folder = tmpdir();
let invoker: Invoker;
let cognito: CognitoEmulator;
let server: Server;
let url: string;

beforeAll(async () => {
  jest.spyOn(console, 'error').mockImplementation(() => {});
  await writeFile(join(folder, 'index.mjs'), HANDLER);
  cognito = await startCognito({ dataDir: folder, userPools: userPoolSeeds(app) });
  invoker = createInvoker({ endpoints: {}, logFolder: folder });
  const lambda = (name: string): LambdaFunction => ({
    name,
    arn: `arn:aws:lambda:x:0:function:${name}`,
    label: name,
    file: join(folder, 'index.mjs'),
    exportName: name,
    timeoutMs: 60_000,
    memoryMb: 128,
    environment: {},
  });
  const readJwks = async () => (await (await fetch(cognito.jwksUri)).json()) as Jwks;
  const serve = await restApiServer(app, [lambda('echo'), lambda('stream')], invoker, readJwks);
  server = createServer((request, response) => void serve(request, response)).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  url = urlOf(server);
});
afterAll(async () => {
  server.close();
  server.closeAllConnections();
  await invoker.stop();
  await cognito.stop();
  jest.restoreAllMocks();
});

const idToken = async (): Promise<string> => {
  const idp = new CognitoIdentityProviderClient(emulatorClient(cognito.endpoint));
  const user = { UserPoolId: cognito.userPoolId, Username: 'ada@example.com' };
  const UserAttributes = [
    { Name: 'email', Value: 'ada@example.com' },
    { Name: 'custom:accountId', Value: 'svc_1' },
  ];
  await idp.send(new AdminCreateUserCommand({ ...user, UserAttributes, MessageAction: 'SUPPRESS' }));
  await idp.send(new AdminSetUserPasswordCommand({ ...user, Password: 'Secret-1234', Permanent: true }));
  const result = await idp.send(
    new AdminInitiateAuthCommand({
      UserPoolId: cognito.userPoolId,
      ClientId: cognito.clientId,
      AuthFlow: 'ADMIN_USER_PASSWORD_AUTH',
      AuthParameters: { USERNAME: 'ada@example.com', PASSWORD: 'Secret-1234' },
    }),
  );
  return result.AuthenticationResult?.IdToken ?? '';
};

describe('a REST API', () => {
  it('hands the function the event of a proxy integration', async () => {
    const response = await fetch(`${url}/open/a%20b?tag=x&tag=y&q=1%2F2`, {
      method: 'PUT',
      headers: { 'X-Twice': 'one', 'content-type': 'application/json' },
      body: '{"a":"ü"}',
    });
    expect(response.status).toBe(201);
    expect(response.headers.get('x-made')).toBe('yes');
    const event = (await response.json()) as APIGatewayProxyEvent;
    expect(event).toMatchObject({
      resource: '/open/{what}',
      path: '/open/a%20b',
      httpMethod: 'PUT',
      pathParameters: { what: 'a b' },
      queryStringParameters: { tag: 'y', q: '1/2' },
      multiValueQueryStringParameters: { tag: ['x', 'y'], q: ['1/2'] },
      body: '{"a":"ü"}',
      isBase64Encoded: false,
    });
    expect(event.requestContext.requestId).toBe(response.headers.get('x-amzn-requestid'));
  });

  it('compresses a body from the size on that the template says, for a client that takes it', async () => {
    const encodingOf = async (path: string, accepted: string) => {
      const response = await fetch(`${url}${path}`, { headers: { 'accept-encoding': accepted } });
      return [response.headers.get('content-encoding'), (await response.text()).length > 0];
    };
    expect(await encodingOf('/open/a', 'gzip, br')).toEqual(['gzip', true]);
    expect(await encodingOf('/open/a', 'identity')).toEqual([null, true]);
    expect(await encodingOf('/open/299', 'gzip')).toEqual([null, true]);
    expect(await encodingOf('/open/300', 'gzip')).toEqual(['gzip', true]);
    expect(await encodingOf('/streamed/whole', 'gzip')).toEqual([null, true]);
  });

  it('sends binary bodies and repeated headers', async () => {
    const response = await fetch(`${url}/open/binary`);
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(new Uint8Array([0, 1, 2]));
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  });

  it.each(['fail', 'odd'])('responds for a function that goes wrong: %s', async (how) => {
    const response = await fetch(`${url}/open/${how}`);
    expect(response.status).toBe(502);
    expect(await response.json()).toEqual({ code: 'INTERNAL', said: 'Internal server error' });
  });

  it('refuses what Lambda and API Gateway refuse for its size', async () => {
    const statusOf = async (path: string, init: RequestInit = {}) => {
      const response = await fetch(`${url}/open/${path}`, init);
      return [response.status, (await response.arrayBuffer()).byteLength > 200];
    };
    const wholeBytes = 6 * 2 ** 20;
    expect(await statusOf(String(wholeBytes))).toEqual([200, true]);
    expect(await statusOf(String(wholeBytes + 100))).toEqual([502, false]);
    expect(await statusOf('a', { method: 'PUT', body: 'x'.repeat(2 ** 20) })).toEqual([201, true]);
    expect(await statusOf('a', { method: 'PUT', body: 'x'.repeat(wholeBytes) })).toEqual([413, false]);
    expect(await statusOf('a', { headers: { 'x-long': 'x'.repeat(9_000) } })).toEqual([201, true]);
    const headers = { 'x-long': 'x'.repeat(10_240) };
    expect(await statusOf('a', { headers })).toEqual([413, false]);
    // A body that was not read must not come before the next request of its connection.
    const unread = await fetch(`${url}/open/a`, { method: 'PUT', headers, body: 'x'.repeat(2 ** 20) });
    expect([unread.status, unread.headers.get('connection')]).toEqual([413, 'close']);
  });

  it('admits a token of the pool, and passes its claims as texts', async () => {
    const refused = await fetch(`${url}/closed`, { headers: { authorization: 'Bearer nonsense' } });
    expect(refused.status).toBe(401);
    expect(refused.headers.get('x-why')).toBe('token');
    expect(await refused.json()).toEqual({ code: 'UNAUTHORIZED', id: refused.headers.get('x-amzn-requestid') });

    const token = await idToken();
    const response = await fetch(`${url}/closed`, { headers: { authorization: `Bearer ${token}` } });
    const { requestContext } = (await response.json()) as APIGatewayProxyEvent;
    const claims = requestContext.authorizer?.['claims'] as Record<string, string>;
    expect(claims).toMatchObject({ 'custom:accountId': 'svc_1', email_verified: 'false' });
    expect(Number(claims['exp']) - Number(claims['iat'])).toBe(300);
  });

  it.each([
    ['https://b.example', 'https://b.example'],
    ['https://c.example', 'https://a.example'],
  ])('responds to the preflight of %s', async (origin, allowed) => {
    const response = await fetch(`${url}/closed`, { method: 'OPTIONS', headers: { origin } });
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-origin')).toBe(allowed);
  });

  it('has nothing elsewhere', async () => {
    expect((await fetch(`${url}/elsewhere`)).status).toBe(403);
  });
});

describe('a streamed response', () => {
  it('arrives whole, with its metadata', async () => {
    const response = await fetch(`${url}/streamed/whole`);
    expect(response.status).toBe(202);
    expect(response.headers.get('content-type')).toBe('text/csv');
    const text = await response.text();
    expect(text.split('\n')).toHaveLength(5001);
    expect(text.endsWith('line 4999 of many\n')).toBe(true);
  });

  it('is an error where it fails before its first byte', async () => {
    expect((await fetch(`${url}/streamed/before`)).status).toBe(502);
  });

  it('is interrupted for the client where the function interrupts it', async () => {
    const response = await fetch(`${url}/streamed/midway`);
    expect(response.status).toBe(202);
    await expect(response.text()).rejects.toThrow();
  });
});
