import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type LocalStack, startStack } from '../../local/host/stack.ts';
import { type MockProviders, startMockProviders } from '../../local/mock/providers.ts';
import { currentAssembly } from '../../local/synth.ts';
import { STACK_TIMEOUT_MS } from '../dashboard/over-http/stack.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
const SHOW = ['ops/account.ts', 'show'];

let assembly: string;
let dataDir: string;
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
  assembly = await currentAssembly(ROOT, () => {});
  dataDir = await mkdtemp(join(tmpdir(), 'stack-'));
  mock = await startMockProviders();
  stack = await start();
}, STACK_TIMEOUT_MS);
afterAll(async () => {
  await stack?.stop();
  await mock?.stop();
  await rm(dataDir, { recursive: true, force: true });
});

interface Session {
  readonly accountId: string;
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

const recorded = async (session: Session, requests: number): Promise<Totals> => {
  for (;;) {
    const now = await totals(session);
    if (now.requests >= requests) return now;
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
    // Starts the stack a second time and waits 5 s for the open event.
  }, 90_000);

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

  it('lets a token read its own account alone', async () => {
    const grace = await register('grace@example.com');
    expect(await totals(grace)).toMatchObject({ requests: 0 });
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

  it('refuses a second instance on the same data, and a busy port, in one sentence', async () => {
    await expect(start()).rejects.toMatchObject({ name: 'DataFolderInUseError' });
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    const busy = startStack({ assembly, dataDir: join(dataDir, 'other'), port });
    await expect(busy).rejects.toThrow(`Port ${port} is in use: choose another with --port, or 0 for a free one.`);
    other.close();
  });
});
