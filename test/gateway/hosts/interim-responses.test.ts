import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { listen, urlOf } from '../../../fixtures/listen.ts';
import { type GatewayHost, KEYS, startGatewayHost } from '../gateway-host.ts';

/* Bare sockets on both sides of the server: what a provider sends before its response, and the bytes of its status lines. */

let origin: Server;
let gateway: GatewayHost;
let provider: PromiseWithResolvers<Socket>;
beforeAll(async () => {
  origin = createServer((socket) => socket.on('data', () => provider.resolve(socket)));
  await listen(origin);
  gateway = await startGatewayHost({ origin: urlOf(origin) });
});
afterAll(async () => {
  await gateway.close();
  origin.close();
});

/**
 * Has the provider send some parts.
 *
 * @param isAwaited each part only when the client has the one before it
 * @returns all that the client has at the connection's end
 */
const receive = async (
  parts: readonly string[],
  { head = [], version = '1.1', isAwaited = false }: { head?: string[]; version?: string; isAwaited?: boolean } = {},
): Promise<string> => {
  provider = Promise.withResolvers();
  const client = connect(gateway.port, '127.0.0.1');
  const lines = [
    'Host: openai.gateway.test',
    `X-Service-Key: ${KEYS.active}`,
    'Authorization: Bearer sk-test',
    ...head,
  ];
  client.write(`GET /v1/models HTTP/${version}\r\n${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`);
  let received = '';
  let onBytes = (): void => {};
  client.on('data', (bytes) => {
    received += bytes.toString('latin1');
    onBytes();
  });
  const closed = once(client, 'close');
  const socket = await provider.promise;
  for (const part of parts) {
    socket.write(part, 'latin1');
    if (isAwaited && part !== parts.at(-1))
      await new Promise<void>((resolve) => {
        onBytes = () => received.endsWith(part) && resolve();
        onBytes();
      });
    // Whether the gateway reads them one by one or at once, the result is the same.
    else for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate);
  }
  await closed;
  return received;
};

const processing = 'HTTP/1.1 102 Processing\r\n\r\n';
const hints = [
  'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nlink: </b.js>; rel=preload\r\nX-Odd: caf\xe9\r\n\r\n',
  'HTTP/1.1 103 Deux fois tr\xe8s t\xf4t\r\nLink: </c>\r\n\r\n',
];
const final = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

it('interim responses reach the client when they come, unchanged, before the response', async () => {
  const received = await receive([processing, ...hints, final], { isAwaited: true });
  const interim = [processing, ...hints].join('');
  expect(received.slice(0, interim.length)).toBe(interim);
  expect(received.slice(interim.length)).toMatch(/^HTTP\/1\.1 200 OK\r\nContent-Length: 2\r\n(?:.+\r\n)+\r\nok$/);
  expect(received).toContain('X-Service-Route: governed');
});

it('headers of one connection are taken out of them', async () => {
  const own = 'HTTP/1.1 103 Early Hints\r\nConnection: keep-alive\r\nKeep-Alive: timeout=1\r\nLink: <x>\r\n\r\n';
  const received = await receive([own, final]);
  expect(received).toMatch(/^HTTP\/1\.1 103 Early Hints\r\nLink: <x>\r\n\r\nHTTP\/1\.1 200 OK/);
});

it.each([
  ['a client of HTTP/1.0', { version: '1.0' }],
  ['a load balancer', { head: ['X-Amzn-Trace-Id: Root=1'] }],
])('%s gets the response alone', async (_case, request) => {
  const received = await receive([...hints, final], request);
  expect(received).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(received).toMatch(/\r\n\r\nok$/);
});

it.each([
  ['in latin1', ['HTTP/1.1 200 Tout va tr\xe8s bien\r\nContent-Length: 2\r\n\r\nok']],
  ['in UTF-8', [`HTTP/1.1 200 ${Buffer.from('très').toString('latin1')}\r\nContent-Length: 2\r\n\r\nok`]],
  ['in two parts', ['HTTP/1.1 200 Half', ' and half\r\nContent-Length: 2\r\n\r\nok']],
  ['that is empty', ['HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nok']],
])('a reason phrase %s keeps its bytes', async (_case, parts) => {
  const received = await receive(parts);
  expect(received.split('\r\n')[0]).toBe(parts.join('').split('\r\n')[0]);
});
