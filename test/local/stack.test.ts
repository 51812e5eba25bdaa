import { execFile } from 'node:child_process';
import { createSign } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { createServer, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { portOf } from '../../fixtures/listen.ts';
import { totpCode } from '../../fixtures/totp.ts';
import { requestSigner } from '../../lambda/gateway/aws/aws-json.ts';
import { type LocalStack, startStack } from '../../local/host/stack.ts';
import { type MockProviders, startMockProviders } from '../../local/mock/providers.ts';
import { SEED_USER, seedData } from '../../local/seed/seed.ts';
import { currentStacks as assembly, STACK_TIMEOUT_MS } from '../dashboard/over-http/stack.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
const SHOW = ['ops/account.ts', 'show'];

const dataDir = tmpdir();
let mock: MockProviders;
let stack: LocalStack;

const start = () =>
  startStack({
    assembly,
    dataDir,
    port: 0,
    environment: { ...mock.environment, OPEN_EVENT_DELAY_SECONDS: '2' },
  });

beforeAll(async () => {
  mock = await startMockProviders();
  stack = await start();
}, STACK_TIMEOUT_MS);
afterAll(async () => {
  await stack?.stop();
  await mock?.stop();
});

interface Session {
  readonly accountId: string;
  readonly userId: string;
  readonly refreshToken: string;
  readonly token: string;
}

const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  fetch(`${stack.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

const user = (email: string) => ({
  email,
  password: 'Correct-Horse-7-Battery',
  firstName: 'Ada',
  lastName: 'Lovelace',
});

const register = async (email: string): Promise<Session> => {
  const response = await post('/api/auth/register', user(email));
  expect(response.status).toBe(201);
  return (await response.json()) as Session;
};

const chat = (session: Session) =>
  post(
    '/gateway/openai/v1/chat/completions',
    { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello. [in 1000, out 100]' }] },
    { 'x-service-key': session.accountId, authorization: 'Bearer sk', 'x-service-tag': 'test' },
  );

interface Totals {
  readonly requests: number;
  readonly costNanoUsd: number;
  readonly unfinishedRequests: number;
}

const totals = async ({ token }: Session): Promise<Totals> => {
  const response = await fetch(`${stack.url}/api/spend`, { headers: { authorization: `Bearer ${token}` } });
  return ((await response.json()) as { readonly totals: Totals }).totals;
};

/** A busy machine may record an open event before its close event. */
const recorded = async (session: Session, requests: number): Promise<Totals> => {
  for (;;) {
    const now = await totals(session);
    if (now.requests >= requests && now.unfinishedRequests === 0) return now;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
};

describe('the local stack', () => {
  it('records what goes through the gateway, and has it after a restart', async () => {
    const session = await register('ada@example.com');
    const response = await chat(session);
    expect(response.status).toBe(200);
    // The first call of a cold gateway on a busy machine need not be governed.
    expect(response.headers.get('x-service-route')).toMatch(/^(governed|bypassed)$/);
    expect(await recorded(session, 1)).toMatchObject({ requests: 1, costNanoUsd: 1000 * 150 + 100 * 600 });

    await stack.stop();
    stack = await start();
    expect(await totals(session)).toMatchObject({ requests: 1, costNanoUsd: 210_000 });
    const login = await post('/api/auth/login', { email: 'ada@example.com', password: 'Correct-Horse-7-Battery' });
    expect(await login.json()).toMatchObject({ accountId: session.accountId });

    // The open event of the first call comes late, finds the record, and changes nothing.
    expect((await chat(session)).status).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    expect(await recorded(session, 2)).toMatchObject({ requests: 2, costNanoUsd: 420_000, unfinishedRequests: 0 });
  });

  it('responds as API Gateway would where no function does', async () => {
    const errorOf = async (response: Response) => [
      response.status,
      ((await response.json()) as { readonly error: { readonly code: string } }).error.code,
    ];
    const get = (path: string, headers: Record<string, string> = {}) => fetch(`${stack.url}${path}`, { headers });
    expect(await errorOf(await get('/api/spend'))).toEqual([401, 'UNAUTHORIZED']);
    expect(await errorOf(await get('/api/spend', { authorization: 'Bearer x.y.z' }))).toEqual([401, 'UNAUTHORIZED']);
    expect(await errorOf(await get('/api/nothing'))).toEqual([404, 'NOT_FOUND']);
    expect(await errorOf(await fetch(`${stack.url}/api/spend`, { method: 'PUT' }))).toEqual([404, 'NOT_FOUND']);
  });

  it('knows gateway hosts, gateway paths and the index', async () => {
    const { port } = stack;
    const byHost = await fetch(`http://127.0.0.1:${port}/gateway/anthropic/health`);
    expect(await byHost.json()).toEqual({ status: 'ok' });
    const unknown = await fetch(`${stack.url}/gateway/acme/v1/x`, {
      headers: { 'x-service-key': 'k', authorization: 'Bearer x' },
    });
    expect(unknown.status).toBe(400);
    expect(await unknown.json()).toMatchObject({ error: { code: 'UNKNOWN_PROVIDER' } });
    expect(await (await fetch(stack.url)).text()).toContain('Dashboard');
    expect((await fetch(`${stack.url}/elsewhere`)).status).toBe(404);
  });

  it('leaves a file that has the runbook’s commands work on it', async () => {
    const { accountId } = await register('joan@example.com');
    const { stdout } = await run(
      'sh',
      ['-c', '. "$0" && exec "$@"', stack.commandsFile, process.execPath, ...SHOW, accountId],
      {
        cwd: ROOT,
        env: {},
      },
    );
    expect(stdout).toContain('FREE');
  });

  it('takes no token that the published key of the emulator signs', async () => {
    const owner = await register('owner@example.com');
    const published = join(ROOT, 'node_modules/cognito-local/lib/keys/cognitoLocal.private.json');
    const { pem } = JSON.parse(await readFile(published, 'utf8')) as { readonly pem: string };
    const [header, payload] = owner.token.split('.');
    const signature = createSign('RSA-SHA256').update(`${header}.${payload}`).sign(pem, 'base64url');
    const audit = async (token: string, path: string) =>
      (await fetch(`${stack.url}/api/${path}`, { headers: { authorization: `Bearer ${token}` } })).status;
    // The authorizer's check, and that of a function behind no authorizer.
    for (const path of ['audit', 'auth/me']) {
      expect(await audit(owner.token, path)).toBe(200);
      expect(await audit(`${header}.${payload}.${signature}`, path)).toBe(401);
    }
    expect((await stat(join(dataDir, 'cognito-key.pem'))).mode & 0o777).toBe(0o600);
  });

  it('takes the code of a second factor once, and lets no refresh renew the time of the log-in', async () => {
    const { email, password } = user('totp@example.com');
    await register(email);
    const { secret } = (await (await post('/api/auth/totp', { email, password })).json()) as { secret: string };
    const now = Date.now();
    await post('/api/auth/totp/confirm', { email, password, totp: totpCode(secret, now) });
    const logIn = (atMs: number) => post('/api/auth/login', { email, password, totp: totpCode(secret, atMs) });
    const first = await logIn(now);
    expect(first.status).toBe(200);
    expect((await logIn(now)).status).toBe(401);
    expect((await logIn(now + 30_000)).status).toBe(200);

    const session = (await first.json()) as Session;
    const claims = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    const { auth_time, iat } = claims(session.token);
    while (Date.now() < (iat + 1) * 1_000) await new Promise((resolve) => setTimeout(resolve, 50));
    const refreshed = await post('/api/auth/refresh', { refreshToken: session.refreshToken });
    const { token } = (await refreshed.json()) as Session;
    expect(claims(token)).toMatchObject({ auth_time });
    expect(claims(token).iat).toBeGreaterThan(iat);
    const me = await fetch(`${stack.url}/api/auth/me`, { headers: { authorization: `Bearer ${token}` } });
    expect(me.status).toBe(200);
  });

  describe('lets no page of a browser reach its emulators', () => {
    const commandsEnvironment = async () =>
      Object.fromEntries(
        [...(await readFile(stack.commandsFile, 'utf8')).matchAll(/^export (\w+)='(.*)'$/gm)].map(
          ([, name = '', value = '']) => [name, value] as const,
        ),
      );
    const endpoints = async () => {
      const variables = Object.entries(await commandsEnvironment());
      return variables.flatMap(([name, url]) =>
        name.startsWith('AWS_ENDPOINT_URL_') ? [[name.slice('AWS_ENDPOINT_URL_'.length), url] as const] : [],
      );
    };
    /** Status of a request that is signed as by whoever knows the secret, and has been changed since. */
    const send = async (
      service: string,
      endpoint: string,
      secretAccessKey: string,
      headers: Record<string, string>,
    ) => {
      const sign = requestSigner({
        name: service.toLowerCase(),
        region: 'eu-central-1',
        host: headers['host'] ?? new URL(endpoint).host,
        contentType: 'application/x-amz-json-1.0',
      });
      const target = service === 'DYNAMODB' ? 'DynamoDB_20120810.ListTables' : 'Service.Operation';
      const signed = sign(target, '{}', { accessKeyId: 'page', secretAccessKey });
      return new Promise<number | undefined>((resolve, reject) => {
        httpRequest(endpoint, { method: 'POST', headers: { ...signed, ...headers } }, (response) => {
          response.resume();
          resolve(response.statusCode);
        })
          .once('error', reject)
          .end('{}');
      });
    };

    it('without the secret of this start', async () => {
      const { AWS_SECRET_ACCESS_KEY: secret = '' } = await commandsEnvironment();
      expect((await stat(stack.commandsFile)).mode & 0o777).toBe(0o600);
      expect(await commandsEnvironment()).toMatchObject({ DATA_DIR: stack.dataDir });
      const found = await endpoints();
      expect(found.map(([service]) => service).sort()).toEqual([
        'COGNITO_IDENTITY_PROVIDER',
        'DYNAMODB',
        'S3',
        'SECRETS_MANAGER',
        'SES',
        'SQS',
      ]);
      for (const [service, endpoint] of found) {
        expect([service, await send(service, endpoint, 'local', {})]).toEqual([service, 403]);
        expect([service, await send(service, endpoint, secret, { 'x-amz-target': 'Service.Other' })]).toEqual([
          service,
          403,
        ]);
        expect([service, await send(service, endpoint, secret, {})]).not.toEqual([service, 403]);
      }
      const unsigned = await fetch(found.find(([service]) => service === 'COGNITO_IDENTITY_PROVIDER')?.[1] ?? '', {
        method: 'POST',
        headers: {
          'content-type': 'application/x-amz-json-1.1',
          'x-amz-target': 'AWSCognitoIdentityProviderService.AdminSetUserPassword',
        },
        body: '{}',
      });
      expect(unsigned.status).toBe(403);
    });

    it('from another origin, or by another name', async () => {
      const { AWS_SECRET_ACCESS_KEY: secret = '' } = await commandsEnvironment();
      const pages = [
        ['mail', stack.mailUrl],
        ['stripe', stack.stripeUrl ?? ''],
      ] as const;
      for (const [service, endpoint] of [...(await endpoints()), ...pages]) {
        for (const headers of [{ origin: 'http://evil.example' }, { origin: 'null' }, { host: 'evil.example' }])
          expect([service, headers, await send(service, endpoint, secret, headers as Record<string, string>)]).toEqual([
            service,
            headers,
            403,
          ]);
        const preflight = await fetch(endpoint, { method: 'OPTIONS', headers: { origin: 'http://evil.example' } });
        expect([service, preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([
          service,
          403,
          null,
        ]);
      }
    });

    it('but the pages that they serve themselves', async () => {
      expect((await fetch(stack.mailUrl)).status).toBe(200);
      expect((await fetch(stack.stripeUrl ?? '')).status).toBe(200);
      const clear = { method: 'POST', headers: { origin: stack.mailUrl } };
      expect((await fetch(`${stack.mailUrl}/clear-store`, clear)).status).toBe(200);
    });

    it('and the AWS SDK with the variables of commands.env does', async () => {
      const variables = await commandsEnvironment();
      const dynamo = new DynamoDBClient({
        endpoint: variables['AWS_ENDPOINT_URL_DYNAMODB'] ?? '',
        region: variables['AWS_REGION'] ?? '',
        credentials: {
          accessKeyId: variables['AWS_ACCESS_KEY_ID'] ?? '',
          secretAccessKey: variables['AWS_SECRET_ACCESS_KEY'] ?? '',
        },
      });
      expect((await dynamo.send(new ListTablesCommand({}))).TableNames).toEqual([stack.table.name]);
    });
  });

  it('says that filling it with seed data was interrupted', async () => {
    const { token } = (await (
      await post('/api/auth/register', { ...user(SEED_USER.email), ...SEED_USER })
    ).json()) as Session;
    const rule = { type: 'cost_threshold', name: 'Daily limit', config: { threshold: 22, period: 'daily' } };
    await post('/api/alert-rules', rule, { authorization: `Bearer ${token}` });
    await expect(seedData(stack.url, stack.table)).rejects.toThrow('interrupted: start with another folder (--data).');
  });

  it('refuses a second instance on the same data, and a busy port, in one sentence', async () => {
    await expect(start()).rejects.toThrow(/is in use by another instance: stop that one, .* --data\.$/);
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const port = portOf(other);
    const busy = startStack({ assembly, dataDir: join(dataDir, 'other'), port });
    await expect(busy).rejects.toThrow(`Port ${port} is in use: choose another with --port, or 0 for a free one.`);
    other.close();
  });
});
