import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { listen, stopServer, urlOf } from '../../fixtures/listen.ts';
import { providerLabels } from '../../lambda/domain/providers.ts';
import { runOps } from './run-command.ts';

/** The service as a smoke test sees it, with whatever is to be wrong with it. */
type Respond = (request: IncomingMessage, response: ServerResponse) => void;
let broken: Map<string, Respond>;
let asked: string[];
let lookUps: number;
let server: ReturnType<typeof createServer>;
let url: string;

const json = (response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}) =>
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));

const healthy: Respond = (request, response) => {
  const path = request.url ?? '';
  if (path.endsWith('/health')) return json(response, 200, { status: 'ok' });
  if (path === '/gateway/openai/v1/models')
    return json(response, 401, {}, { 'X-Service-Route': 'governed', 'X-Service-Request-Id': 'req-1' });
  if (path === '/api/auth/login') return json(response, 200, { token: 'jwt' });
  if (path === '/api/requests/req-1') return json(response, lookUps++ < 1 ? 404 : 200, {});
  return json(response, 401, {});
};

beforeEach(async () => {
  broken = new Map();
  asked = [];
  lookUps = 0;
  server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    (broken.get(request.url ?? '') ?? healthy)(request, response);
  });
  await listen(server);
  url = urlOf(server);
});
afterEach(() => stopServer(server));

const canary = { CANARY_SERVICE_KEY: 'svc_canary', CANARY_EMAIL: 'canary@acme.dev', CANARY_PASSWORD: 'pass-word' };
const smoke = (env: Record<string, string> = canary) =>
  runOps('smoke', ['--gateway-url', `${url}/gateway/{label}`, '--dashboard-url', `${url}/api`], { env });

describe('npm run smoke', () => {
  it('asks every host, and follows a request of the canary account to its record', async () => {
    const { code, stdout } = await smoke();
    expect(stdout).not.toContain('FAILED');
    expect(code).toBe(0);
    for (const label of providerLabels) expect(asked).toContain(`GET /gateway/${label}/health`);
    expect(asked.filter((line) => line === 'GET /api/requests/req-1')).toHaveLength(2);
    for (const secret of Object.values(canary)) expect(stdout).not.toContain(secret);
  });

  it('says so where there is no canary account, and is content', async () => {
    const { code, stdout } = await smoke({});
    expect(code).toBe(0);
    expect(stdout).toContain('skipped the canary account');
  });

  it('forgives one bypassed request, as the first of a new process may be', async () => {
    let requests = 0;
    broken.set('/gateway/openai/v1/models', (request, response) =>
      requests++ > 0
        ? healthy(request, response)
        : json(response, 401, {}, { 'X-Service-Route': 'bypassed', 'X-Service-Request-Id': 'req-0' }),
    );
    expect(await smoke()).toMatchObject({ code: 0 });
    expect(asked).toContain('GET /api/requests/req-1');
  });

  it.each<[string, string, Respond, string]>([
    [
      'a host is not well',
      '/gateway/xai/health',
      (_, response) => json(response, 503, {}),
      'health of xai: responded 503',
    ],
    [
      'a host says something else',
      '/gateway/xai/health',
      (_, response) => response.end('<html>'),
      'health of xai: responded 200',
    ],
    ['a host is gone', '/gateway/xai/health', (request) => request.socket.destroy(), 'FAILED  health of xai'],
    [
      'the dashboard API is open',
      '/api/spend',
      (_, response) => json(response, 200, {}),
      'dashboard API: responded 200 without a token, not 401',
    ],
    [
      'requests are bypassed',
      '/gateway/openai/v1/models',
      (_, response) => json(response, 401, {}, { 'X-Service-Route': 'bypassed', 'X-Service-Request-Id': 'req-1' }),
      'the route is bypassed',
    ],
    [
      'nobody can log in',
      '/api/auth/login',
      (_, response) => json(response, 503, {}),
      'canary: its record: login responded 503',
    ],
  ])('fails where %s', async (_case, path, respond, problem) => {
    broken.set(path, respond);
    const { code, stdout } = await smoke();
    expect(code).toBe(1);
    expect(stdout).toContain(problem);
  });

  it('knows the hosts of a stage', async () => {
    const { code, stdout } = await runOps('smoke', ['--stage', 'dev', '--dry-run']);
    expect(code).toBe(0);
    expect(stdout).toContain('https://openai.gateway.example.com/health');
    expect(await runOps('smoke', ['--stage', 'nowhere'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^stage: cdk\.json has no stages\.nowhere; it has .*dev/),
    });
    expect(await runOps('smoke', [])).toMatchObject({ code: 2 });
  });

  it('says what is wrong with the settings of a stage, and nothing else', async () => {
    const cwd = await mkdtemp(join(tmpdir(), 'smoke-'));
    await writeFile(join(cwd, 'cdk.json'), JSON.stringify({ context: { stages: { try: { gatewayDomain: 'x' } } } }));
    const { code, stderr } = await runOps('smoke', ['--stage', 'try', '--dry-run'], { cwd });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^stages\.try\.gatewayDomain: .*\n$/) });
    await rm(cwd, { recursive: true });
  });

  it('asks the hosts that the operator added to a stage', async () => {
    const cwd = await mkdtemp(join(tmpdir(), 'smoke-'));
    const own = { 'own-vllm': { origin: 'https://vllm.acme.dev', compatible: 'openai' } };
    const stages = { try: { gateway: { hosts: { clouds: ['azure'], own } } } };
    await writeFile(join(cwd, 'cdk.json'), JSON.stringify({ context: { stages } }));
    const { stdout } = await runOps('smoke', ['--stage', 'try', '--dry-run'], { cwd });
    await rm(cwd, { recursive: true });
    for (const label of ['openai', 'azure', 'own-vllm'])
      expect(stdout).toContain(`https://${label}.gateway.example.com/health`);
  });
});
