import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { ask } from '../../../fixtures/exchange.ts';
import { type ScriptedOrigin, startScriptedOrigin } from '../../../fixtures/scripted-origin.ts';
import { type GatewayHost, type HostSettings, KEYS, startGatewayHost } from '../../gateway/gateway-host.ts';
import { captureConsole } from '../captured-console.ts';
import { eventually } from '../eventually.ts';
import { atSomePace } from '../paces.ts';
import { exchangeRaw, statusesOf } from '../raw/raw-client.ts';
import type { Scale, Scenario, ScenarioGroup } from '../scenario.ts';

interface Context {
  readonly origin: ScriptedOrigin;
}

const CREDENTIAL = 'sk-server-secret';
const GOOD = `Host: openai.gateway.test\r\nX-Service-Key: ${KEYS.active}\r\nAuthorization: Bearer ${CREDENTIAL}\r\n`;
const headers = { Host: 'openai.gateway.test', 'X-Service-Key': KEYS.active, Authorization: `Bearer ${CREDENTIAL}` };

const scenario = (
  name: string,
  settings: Partial<HostSettings>,
  run: (host: GatewayHost, scale: Scale) => Promise<string>,
): Scenario<Context> => ({
  name,
  run: async ({ origin }, scale) => {
    origin.script = (request, response) =>
      request.url === '/wait' ? request.on('end', () => response.end()) : response.end(request.url);
    const host = await startGatewayHost({ origin: origin.origin, ...settings });
    try {
      return await run(host, scale);
    } finally {
      await host.close();
    }
  },
});

const errorOf = (text: string): { readonly code: string; readonly requestId: string } =>
  JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)).error;

const refused = (name: string, pieces: readonly string[], status: number, code: string): Scenario<Context> =>
  scenario(name, {}, async (host) => {
    const { text, end } = await exchangeRaw({ port: host.port, pieces });
    assert.deepEqual(statusesOf(text), [status]);
    assert.equal(errorOf(text).code, code);
    assert.match(errorOf(text).requestId, /^[0-9a-f-]{36}$/);
    assert.equal(end, 'closed');
    return `${status} ${code}`;
  });

const fault = (message: string) => () => {
  throw new Error(`${message} ${CREDENTIAL}`);
};

const ourFault = (name: string, parts: HostSettings['parts']): Scenario<Context> =>
  scenario(name, { parts: parts ?? {} }, async (host) => {
    const captured = captureConsole();
    const result = await ask({ port: host.port, path: '/v1/models', headers }).finally(captured.restore);
    assert.equal(result.status, 500);
    assert.equal(JSON.parse(result.body.toString()).error.code, 'INTERNAL');
    assert.match(captured.lines.join('\n'), /"gateway fault"/);
    assert.doesNotMatch(captured.lines.join('\n'), new RegExp(CREDENTIAL));
    const health = await ask({ port: host.port, path: '/health', headers });
    assert.equal(health.status, 200, 'the process goes on');
    return '500 INTERNAL; the process goes on';
  });

/** A fault of ours in a step that only records does not reach the client. */
const unnoticedFault = (name: string, parts: HostSettings['parts'], route: string): Scenario<Context> =>
  scenario(name, { parts: parts ?? {} }, async (host) => {
    const captured = captureConsole();
    const result = await ask({ port: host.port, path: '/v1/models', headers });
    const close = await host.closeOf(String(result.headers['x-service-request-id'])).finally(captured.restore);
    assert.deepEqual([result.status, result.headers['x-service-route']], [200, route]);
    assert.deepEqual([close.outcome, close.route, close.providerKey], ['completed', route, null]);
    assert.match(captured.lines.join('\n'), /"gateway fault"/);
    assert.doesNotMatch(captured.lines.join('\n'), new RegExp(CREDENTIAL));
    return `the provider's response; ${route}`;
  });

/** A scenario in which a client's time is up; the server responds in far less unless the machine stands still. */
const timed = (
  name: string,
  settings: Partial<HostSettings>,
  run: (host: GatewayHost, scale: Scale) => Promise<string>,
): Scenario<Context> => ({
  name,
  run: (context, scale) =>
    atSomePace((pace) => {
      const limitMs = 1_500 * pace;
      const server = { headersTimeout: limitMs, requestTimeout: limitMs, connectionsCheckingInterval: 50 };
      return scenario(name, { ...settings, server }, run).run(context, scale);
    }),
});

const SLOW_CLIENTS = { quick: 200, full: 1_500 } as const;
/** Held up is who waits until the slow ones are gone; figures come from the full run. */
const MAX_MEDIAN_MS = { quick: 1_000, full: 500 } as const;

const slowloris = timed('clients that dribble their headers', {}, async (host, scale) => {
  const clients: Socket[] = [];
  let closed = 0;
  for (let n = 0; n < SLOW_CLIENTS[scale]; n++) {
    const socket = connect({ port: host.port, host: '127.0.0.1' });
    socket.on('error', () => {});
    socket.on('close', () => closed++);
    socket.write('GET /v1/x HTTP/1.1\r\nX-A: ');
    socket.resume();
    clients.push(socket);
  }
  const dribble = setInterval(() => {
    for (const socket of clients) socket.write('a');
  }, 100);
  try {
    const times: number[] = [];
    for (let n = 0; n < 40; n++) {
      const startedAt = performance.now();
      assert.equal((await ask({ port: host.port, path: '/v1/models', headers })).status, 200);
      times.push(performance.now() - startedAt);
    }
    const median = times.sort((a, b) => a - b)[20] as number;
    assert.ok(median < MAX_MEDIAN_MS[scale], `others wait ${median} ms`);
    await eventually(() => closed === clients.length, 'they are closed in the end');
    return `${clients.length} of them; others took ${median.toFixed(1)} ms (median)`;
  } finally {
    clearInterval(dribble);
    for (const socket of clients) socket.destroy();
  }
});

const pipelined = scenario('requests sent without waiting for responses', {}, async (host) => {
  const pieces = Array.from({ length: 20 }, (_, n) => `GET /v1/${n} HTTP/1.1\r\n${GOOD}\r\n`);
  const { text } = await exchangeRaw({
    port: host.port,
    pieces: [pieces.join('')],
    until: (text) => text.includes('/v1/19'),
  });
  assert.deepEqual(
    [...text.matchAll(/^\/v1\/(\d+)/gm)].map(([, n]) => Number(n)),
    Array.from({ length: 20 }, (_, n) => n),
  );
  return '20 responses, each in its turn';
});

const garbageInside = scenario('garbage behind a request whose response has begun', {}, async (host) => {
  const { text } = await exchangeRaw({
    port: host.port,
    pieces: [`GET /v1/x HTTP/1.1\r\n${GOOD}\r\n`, '\0\0\0garbage\r\n\r\n'],
  });
  // Whatever comes first, an error is never written into a response.
  assert.ok(statusesOf(text).length <= 2);
  if (statusesOf(text)[0] === 200) assert.match(text, /\r\n\/v1\/x/);
  return statusesOf(text).join(', ') || 'closed';
});

const STALLED = `POST /v1/files HTTP/1.1\r\n${GOOD}Content-Length: 100\r\n\r\nhello`;

const slowBody = timed('a body that never arrives', { origin: 'http://127.0.0.1:9' }, async (host) => {
  const { text } = await exchangeRaw({ port: host.port, pieces: [STALLED] });
  assert.deepEqual(statusesOf(text), [502]);
  return '502, then closed';
});

const slowBodyWaiting = timed('a body that never arrives, awaited by the provider', {}, async (host) => {
  const { text } = await exchangeRaw({ port: host.port, pieces: [STALLED.replace('/v1/files', '/wait')] });
  assert.deepEqual(statusesOf(text), [408]);
  await eventually(() => host.closes().length === 1, 'the request is finished');
  assert.equal(host.closes()[0]?.outcome, 'client_aborted');
  return '408 REQUEST_TIMEOUT; client_aborted';
});

const slowBodyGetsResponse = timed('a body that never arrives, though it gets a response', {}, async (host) => {
  const { text, end } = await exchangeRaw({ port: host.port, pieces: [STALLED] });
  assert.deepEqual(statusesOf(text), [200], 'no further response');
  assert.equal(end, 'closed');
  return '200, then closed';
});

const idle = scenario('connections kept and left idle', {}, async (host) => {
  const pieces = [`GET /v1/1 HTTP/1.1\r\n${GOOD}\r\n`];
  const { text, end } = await exchangeRaw({ port: host.port, pieces, until: (text) => text.endsWith('/v1/1') });
  assert.match(text, /Keep-Alive: timeout=75/);
  assert.equal(end, 'open');
  return 'kept for 75 s';
});

export const serverGroup: ScenarioGroup<Context> = {
  title: 'The server and its connections',
  open: async () => ({ origin: await startScriptedOrigin() }),
  close: ({ origin }) => origin.close(),
  scenarios: [
    refused('what is no HTTP', ['hello\r\n\r\n'], 400, 'MALFORMED_REQUEST'),
    refused(
      'a body whose framing breaks',
      [`POST /a HTTP/1.1\r\n${GOOD}Transfer-Encoding: chunked\r\n\r\nzz\r\n`],
      400,
      'MALFORMED_REQUEST',
    ),
    refused('headers of 70 KB', [`GET /a HTTP/1.1\r\nX-A: ${'a'.repeat(70_000)}\r\n\r\n`], 431, 'HEADERS_TOO_LARGE'),
    slowBody,
    slowBodyWaiting,
    slowBodyGetsResponse,
    slowloris,
    pipelined,
    garbageInside,
    idle,
    ourFault('a fault of ours at admission', { lookUpAccount: fault('lookup') }),
    unnoticedFault('a fault of ours in the fingerprint', { fingerprint: fault('fingerprint') }, 'governed'),
    ourFault('a fault of ours in the transport', {
      upstream: {
        send: (_request, listener) => {
          setTimeout(() => listener.onHeaders({ status: 200, statusMessage: '', headers: ['bad header', 'x'] }), 5);
          return { abort: () => {}, pause: () => {}, resume: () => {} };
        },
        close: () => {},
      },
    }),
  ],
};
