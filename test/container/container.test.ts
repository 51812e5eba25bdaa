import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import WebSocket from 'ws';
import { emulatedQueue } from '../../fixtures/emulated-queue.ts';
import { emulatorVariables } from '../../fixtures/emulator-client.ts';
import { ask } from '../../fixtures/exchange.ts';
import { gatewayVariables } from '../../fixtures/gateway-variables.ts';
import { type ScriptedOrigin, startScriptedOrigin } from '../../fixtures/scripted-origin.ts';
import { serviceKeyKey } from '../../lambda/data/table/keys.ts';
import { secretHash } from '../../lambda/domain/accounts/issued-secret.ts';
import { providerLabels } from '../../lambda/domain/providers.ts';
import { KEYS } from '../gateway/gateway-host.ts';
import { startSocketOrigin } from '../gateway/websocket/scripted-socket-origin.ts';
import { tableForTests } from '../table-for-tests.ts';

const table = tableForTests();
let origin: ScriptedOrigin;
let queues: Awaited<ReturnType<typeof emulatedQueue>>;
let container: ChildProcess | undefined;

beforeAll(async () => {
  expect(spawnSync('npm', ['run', 'build:container'], { encoding: 'utf8' })).toMatchObject({ status: 0 });
  origin = await startScriptedOrigin();
  queues = await emulatedQueue();
  const owner = { accountId: KEYS.active, keyId: 'key-1', keyStatus: 'active', accountStatus: 'active' };
  await table.call('PutItem', {
    TableName: table.name,
    Item: { ...serviceKeyKey(secretHash(KEYS.active)), ...owner },
  });
});

afterEach(() => {
  container?.kill('SIGKILL');
});

afterAll(async () => {
  await queues?.stop();
  await origin?.close();
});

/** What the image runs. */
const start = async (drainMs = 10_000, upstream = origin.origin) => {
  const child = spawn(process.execPath, ['container/dist/main.mjs'], {
    env: {
      PORT: '0',
      DRAIN_MS: String(drainMs),
      KEEP_ALIVE_MS: '315000',
      TABLE_NAME: table.name,
      USAGE_QUEUE_URL: queues.queue,
      ...gatewayVariables(upstream, 0),
      UPSTREAM_ORIGINS: JSON.stringify(Object.fromEntries(providerLabels.map((label) => [label, upstream]))),
      ...emulatorVariables,
      AWS_ENDPOINT_URL_DYNAMODB: table.endpoint,
      AWS_ENDPOINT_URL_SQS: queues.endpoint,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: 'http://127.0.0.1:9',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  container = child;
  let log = '';
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const port = await new Promise<number>((resolve, reject) => {
    child.stderr.on('data', (text: Buffer) => {
      log += text.toString();
      const found = /"listening".*"port":(\d+)/.exec(log)?.[1];
      if (found) resolve(Number(found));
    });
    child.once('exit', () => reject(new Error(log)));
  });
  return { port, exited, stop: () => child.kill('SIGTERM'), log: () => log };
};

const headers = ['Host', 'openai.gateway.test', 'X-Service-Key', KEYS.active, 'Authorization', 'Bearer sk-test'];

/** A stream of so many pieces, 50 ms apart. */
const streaming = (pieces: number): void => {
  origin.script = (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    let sent = 0;
    const timer = setInterval(() => {
      response.write(`data: ${sent}\n\n`);
      if (++sent < pieces) return;
      clearInterval(timer);
      response.end();
    }, 50);
    response.on('close', () => clearInterval(timer));
  };
};

const closeEventOf = async (requestId: string) => {
  const events = (await queues.bodies(queues.queue)).map((body) => JSON.parse(body));
  return events.find((event) => event.requestId === requestId && event.kind === 'close');
};

describe('the container', () => {
  it('responds to a load balancer’s health check by address', async () => {
    const { port } = await start();
    for (const host of [`127.0.0.1:${port}`, 'openai.gateway.test']) {
      const response = await ask({ port, path: '/health', headers: ['Host', host] });
      expect([response.status, response.body.toString()]).toEqual([200, '{"status":"ok"}']);
    }
    expect((await ask({ port, path: '/v1', headers: ['Host', `127.0.0.1:${port}`] })).status).toBe(400);
    // A path of the provider's, whatever port the client names.
    const own = ['Host', `openai.gateway.test:${port}`];
    expect((await ask({ port, method: 'POST', path: '/health', headers: own })).status).toBe(400);
  });

  it('keeps a connection between two requests for longer than its load balancer does', async () => {
    const { port } = await start();
    const agent = new Agent({ keepAlive: true });
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get({ port, path: '/health', agent }, resolve).on('error', reject);
    });
    response.resume();
    expect(response.headers['keep-alive']).toBe('timeout=315');
    agent.destroy();
  });

  it('logs its open requests, alone on a line, for a metric', async () => {
    const { log } = await start();
    expect(log().split('\n')).toContain('{"openRequests":0}');
  });

  it('completes a stream after SIGTERM, accepts nothing new, delivers every event, and exits', async () => {
    const { port, exited, stop } = await start();
    streaming(20);
    let signalled = 0;
    const response = await ask({ port, headers, onChunk: () => void (signalled++ === 0 && stop()) });
    expect(response.whole).toBe(true);
    expect(response.body.toString().match(/data:/g)).toHaveLength(20);
    expect(await exited).toBe(0);
    await expect(ask({ port, headers })).rejects.toThrow('ECONNREFUSED');
    const close = await closeEventOf(String(response.headers['x-service-request-id']));
    expect(close).toMatchObject({ outcome: 'completed', route: expect.any(String) });
  });

  it('lets a request that was on its way finish, says that it is draining, and keeps no connection', async () => {
    const { port, exited, stop, log } = await start();
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(`GET /health HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`);
    // Its beginning has been read once a later request has a response.
    await ask({ port, path: '/health' });
    stop();
    while (!log().includes('draining')) await new Promise(setImmediate);
    const response = text(socket);
    socket.write('\r\n');
    expect(await response).toMatch(/^HTTP\/1\.1 503 .*\r\nConnection: close\r\n.*\{"status":"draining"\}/s);
    expect(await exited).toBe(0);
  });

  it('interrupts a request that takes too long, and records that', async () => {
    const { port, exited, stop } = await start(300);
    streaming(1_000);
    let pieces = 0;
    const response = await ask({ port, headers, onChunk: () => void (pieces++ === 0 && stop()) });
    expect(response.whole).toBe(false);
    expect(await exited).toBe(0);
    const close = await closeEventOf(String(response.headers['x-service-request-id']));
    expect(close).toMatchObject({ outcome: 'client_aborted' });
  });

  it.each(['between responses', 'in a response'])(
    'ends a WebSocket that takes too long with 1001: %s',
    async (when) => {
      const provider = await startSocketOrigin();
      const usage = { input_tokens: 3, output_tokens: 4, total_tokens: 7 };
      const types = ['response.created', 'response.done', 'response.created'].slice(
        0,
        when === 'in a response' ? 3 : 2,
      );
      provider.onSocket = (socket) => {
        for (const [i, type] of types.entries())
          socket.send(JSON.stringify({ type, response: { id: i < 2 ? 'a' : 'b', usage: i === 1 ? usage : null } }));
      };
      const { port, exited, stop, log } = await start(300, provider.origin);
      const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/realtime?model=gpt-realtime`, {
        headers: { Host: 'openai.gateway.test', 'X-Service-Key': KEYS.active, Authorization: 'Bearer sk-test' },
      });
      const received: unknown[] = [];
      socket.on('message', (data) => received.push(data) === types.length && stop());
      const [response] = await once(socket, 'upgrade');
      expect((await once(socket, 'close'))[0]).toBe(1_001);
      expect(await exited).toBe(0);
      await provider.close();
      expect(log()).not.toMatch(/unhandled|"level":"ERROR"/i);
      const tail = String(response.headers['x-service-request-id']).slice(19);
      const events = (await queues.bodies(queues.queue)).map((body) => JSON.parse(body));
      const closes = events.filter(({ kind, requestId }) => kind === 'close' && requestId.endsWith(tail));
      expect(closes.map(({ outcome, reading }) => [outcome, reading.dialect, reading.usage]).sort()).toEqual([
        ['client_aborted', 'free', null],
        ...(when === 'in a response' ? [['client_aborted', 'openai-responses', null]] : []),
        ['completed', 'openai-responses', usage],
      ]);
    },
  );

  it('names the missing variable', () => {
    const { status, stderr } = spawnSync(process.execPath, ['container/dist/main.mjs'], {
      env: { AWS_REGION: 'x', GATEWAY_DOMAIN: 'gateway.test' },
      encoding: 'utf8',
    });
    expect(status).not.toBe(0);
    expect(stderr).toContain('TABLE_NAME');
  });
});
