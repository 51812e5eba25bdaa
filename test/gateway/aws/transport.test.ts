import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { listen, portOf, urlOf } from '../../../fixtures/listen.ts';
import { nodeTransport } from '../../../lambda/gateway/aws/transport-node.ts';
import { undiciTransport } from '../../../lambda/gateway/aws/transport-undici.ts';

/** Of its own, so that a test finds the transport's timer among all timers. */
const TIMEOUT_MS = 59_999;
const MAX_RESPONSE_BYTES = 2 ** 20;

let respond: (request: IncomingMessage, response: ServerResponse) => void;
let connections: Socket[];
let requests: number;
let server: ReturnType<typeof createHttpServer>;
let endpoint: string;

beforeEach(async () => {
  [connections, requests] = [[], 0];
  server = createHttpServer((request, response) => {
    requests += 1;
    request.resume().on('end', () => respond(request, response));
  });
  server.on('connection', (socket) => connections.push(socket));
  await listen(server);
  endpoint = urlOf(server);
});
afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
  server.closeAllConnections();
  server.close();
});

const request = { headers: { 'X-Amz-Target': 'target' }, body: '{"a":1}' };

describe.each([
  ['node:http', nodeTransport],
  ['undici', undiciTransport],
])('an AWS call over %s', (name, transport) => {
  it('is a POST to / with its headers and body', async () => {
    let body = '';
    respond = (incoming, response) =>
      response.end(JSON.stringify([incoming.method, incoming.url, incoming.headers['x-amz-target'], body]));
    server.on('request', (incoming: IncomingMessage) => incoming.on('data', (chunk) => (body += chunk)));
    const response = await transport(endpoint)(request, TIMEOUT_MS);
    expect(response.status).toBe(200);
    expect(JSON.parse(response.body.toString())).toEqual(['POST', '/', 'target', '{"a":1}']);
  });

  it('takes a response of exactly a megabyte', async () => {
    respond = (_request, response) => response.writeHead(418).end(Buffer.alloc(MAX_RESPONSE_BYTES));
    const { status, body } = await transport(endpoint)(request, TIMEOUT_MS);
    expect([status, body.length]).toEqual([418, MAX_RESPONSE_BYTES]);
  });

  it('fails, once, when the response is interrupted', async () => {
    respond = (_request, response) => {
      response.writeHead(200, { 'Content-Length': '100' });
      response.write('{"half":', () => response.destroy());
    };
    const post = transport(endpoint);
    await expect(post(request, TIMEOUT_MS)).rejects.toThrow(/aborted|other side closed/);
    await expect(post(request, TIMEOUT_MS)).rejects.not.toMatchObject({ name: 'DeadConnectionError' });
    expect(requests).toBe(2);
  });

  it.each<[string, (response: ServerResponse) => void]>([
    ['responds', (response) => response.end('{}')],
    ['breaks', (response) => response.destroy()],
    [
      'breaks in the middle',
      (response) => {
        response.writeHead(200, { 'Content-Length': '100' });
        response.write('{', () => response.destroy());
      },
    ],
    ['responds with too much', (response) => response.end(Buffer.alloc(MAX_RESPONSE_BYTES + 1))],
  ])('leaves no timer behind when AWS %s', async (_case, finish) => {
    const set = jest.spyOn(globalThis, 'setTimeout');
    const cleared = jest.spyOn(globalThis, 'clearTimeout');
    respond = (_request, response) => finish(response);
    await transport(endpoint)(request, TIMEOUT_MS).catch(() => {});
    await new Promise(setImmediate);
    const timers = set.mock.results.filter((_, call) => set.mock.calls[call]?.[1] === TIMEOUT_MS);
    expect(timers).toHaveLength(1);
    expect(cleared.mock.calls.map(([timer]) => timer)).toContain(timers[0]?.value);
  });

  describe('that takes too long', () => {
    // Only the transport's clock is fake: sockets keep their own.
    beforeEach(() => {
      jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance', 'Date'] });
    });

    it('fails, and its connection is closed', async () => {
      const closed = Promise.withResolvers<void>();
      respond = ({ socket }) => {
        socket.on('close', () => closed.resolve());
        jest.advanceTimersByTime(TIMEOUT_MS - 1);
        setImmediate(() => jest.advanceTimersByTime(1));
      };
      await expect(transport(endpoint)(request, TIMEOUT_MS)).rejects.toThrow('no response within 59999 ms');
      await closed.promise;
    });

    it('fails even before it has a connection', async () => {
      // Accepts connections and never responds to a TLS handshake.
      const silent = createServer((socket) => {
        socket.on('error', () => {});
        socket.once('data', () => jest.advanceTimersByTime(TIMEOUT_MS));
        connections.push(socket);
      });
      await listen(silent);
      const post = transport(`https://127.0.0.1:${portOf(silent)}`);
      await expect(post(request, TIMEOUT_MS)).rejects.toThrow('no response within 59999 ms');
      for (const socket of connections) socket.destroy();
      silent.close();
    });
  });

  it('to an https endpoint uses TLS, and is not repeated when that fails', async () => {
    const firstBytes: number[] = [];
    const plain = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', (bytes: Buffer) => {
        firstBytes.push(bytes[0] as number);
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      });
    });
    await listen(plain);
    const post = transport(`https://127.0.0.1:${portOf(plain)}`);
    await expect(post(request, TIMEOUT_MS)).rejects.not.toMatchObject({ name: 'DeadConnectionError' });
    plain.close();
    const TLS_HANDSHAKE = 22;
    expect(firstBytes).toEqual([TLS_HANDSHAKE]);
  });

  it('fails as one that may be repeated when a kept connection is closed before a response', async () => {
    const post = transport(endpoint);
    respond = (_request, response) => response.end('{}');
    await post(request, TIMEOUT_MS);
    respond = ({ socket }) => socket.destroy();
    await expect(post(request, TIMEOUT_MS)).rejects.toMatchObject({ name: 'DeadConnectionError' });
  });

  if (name === 'node:http')
    it('does not use a connection that was idle for too long by the wall clock', async () => {
      const post = transport(endpoint);
      respond = (_request, response) => response.end('{}');
      const clock = jest.spyOn(Date, 'now').mockReturnValue(1_000_000);
      await post(request, TIMEOUT_MS);
      // The connection becomes idle in a later tick.
      await new Promise(setImmediate);
      clock.mockReturnValue(1_005_000);
      await post(request, TIMEOUT_MS);
      await new Promise(setImmediate);
      expect(connections).toHaveLength(1);
      clock.mockReturnValue(1_010_001);
      await post(request, TIMEOUT_MS);
      expect(connections).toHaveLength(2);
    });
});
