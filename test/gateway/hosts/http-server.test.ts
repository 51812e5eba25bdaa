import { once } from 'node:events';
import type { RequestListener, ServerOptions } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { listen, portOf } from '../../../fixtures/listen.ts';
import { gatewayHttpServer } from '../../../lambda/gateway/hosts/http-server.ts';

let server: ReturnType<typeof gatewayHttpServer> | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** All that a client gets until its connection closes. `next` is sent once a response has begun. */
const send = async (
  first: string,
  {
    listener = () => {},
    options = {},
    next = '',
  }: { listener?: RequestListener; options?: ServerOptions; next?: string } = {},
): Promise<string> => {
  server = gatewayHttpServer(listener, options);
  await listen(server);
  const socket = connect(portOf(server), '127.0.0.1');
  let received = '';
  socket.on('error', () => {});
  socket.on('data', (bytes) => {
    if (received === '' && next !== '') socket.write(next);
    received += bytes;
  });
  socket.write(first);
  await once(socket, 'close');
  return received;
};

const parse = (response: string) => {
  const [head = '', body = ''] = response.split('\r\n\r\n');
  const [statusLine, ...headers] = head.split('\r\n');
  return { statusLine, headers, body, error: body && JSON.parse(body).error };
};

describe('a request that is not HTTP', () => {
  it.each<[string, number, string, string, ServerOptions]>([
    ['a malformed request line', 400, 'MALFORMED_REQUEST', 'nonsense\r\n\r\n', {}],
    ['headers above the limit', 431, 'HEADERS_TOO_LARGE', `GET / HTTP/1.1\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`, {}],
    [
      'headers that do not arrive in time',
      408,
      'REQUEST_TIMEOUT',
      'GET / HTTP/1.1\r\n',
      { headersTimeout: 20, connectionsCheckingInterval: 10 },
    ],
  ])('%s: %i %s', async (_case, status, code, request, options) => {
    const { statusLine, headers, body, error } = parse(await send(request, { options }));
    expect(statusLine).toBe(`HTTP/1.1 ${status} `);
    expect(headers).toEqual([
      'Connection: close',
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Service-Request-Id: ${error.requestId}`,
    ]);
    expect(error).toMatchObject({ code, type: 'gateway_error' });
  });

  it('an expectation that nobody meets gets 417 in the same shape, and its connection is closed', async () => {
    const { statusLine, headers, error } = parse(await send('GET / HTTP/1.1\r\nHost: x\r\nExpect: 200-ok\r\n\r\n'));
    expect(statusLine).toMatch(/^HTTP\/1.1 417 /);
    expect(headers).toContain(`X-Service-Request-Id: ${error.requestId}`);
    expect(error).toMatchObject({ code: 'EXPECTATION_FAILED', type: 'gateway_error' });
  });

  it('headers up to 64 KB are accepted', async () => {
    const listener: RequestListener = (_request, response) => response.setHeader('Connection', 'close').end('fine');
    expect(await send(`GET / HTTP/1.1\r\nX: ${'x'.repeat(65_000)}\r\n\r\n`, { listener })).toContain('fine');
  });

  it('closes the connection without an error while a response is being sent', async () => {
    const listener: RequestListener = (_request, response) => void response.write('begun');
    const received = await send('GET / HTTP/1.1\r\nHost: x\r\n\r\n', { listener, next: 'nonsense\r\n\r\n' });
    expect(received).toContain('begun');
    expect(received).not.toContain('gateway_error');
  });

  it('closes the connection without an error after a response whose request body is not complete', async () => {
    const listener: RequestListener = (_request, response) => void response.end('early');
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
    const received = await send(head, { listener, next: 'zz\r\n' });
    expect(received).toContain('early');
    expect(received).not.toContain('gateway_error');
  });

  it('gets an error after the response to an earlier request has ended', async () => {
    const listener: RequestListener = (_request, response) => void response.end('done');
    const received = await send('GET / HTTP/1.1\r\nHost: x\r\n\r\n', { listener, next: 'nonsense\r\n\r\n' });
    expect(received).toContain('done');
    expect(received).toContain('MALFORMED_REQUEST');
  });
});
