import { EventEmitter, once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Ask, ask } from '../../../fixtures/exchange.ts';
import { listen, portOf } from '../../../fixtures/listen.ts';
import type { Gateway } from '../../../lambda/gateway/gateway.ts';
import { serveGateway } from '../../../lambda/gateway/hosts/gateway-server.ts';
import { gatewayHttpServer } from '../../../lambda/gateway/hosts/http-server.ts';
import type { ClientResponse, GatewayRequest } from '../../../lambda/gateway/protocol/client.ts';

/* The client's side over node:http, driven by a script instead of the gateway. */

let server: ReturnType<typeof gatewayHttpServer> | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
});

type Script = (client: ClientResponse, response: ServerResponse, request: GatewayRequest) => void;

const start = async (script: Script): Promise<number> => {
  server = gatewayHttpServer((request, response) => {
    const gateway: Gateway = async (received, client) => script(client, response, received);
    void serveGateway(gateway, request, response);
  });
  await listen(server);
  return portOf(server);
};
const received = async (script: Script, request: Partial<Ask> = {}) => ask({ ...request, port: await start(script) });

it('takes the request as it is, unless the host says otherwise', async () => {
  const requests: GatewayRequest[] = [];
  const gateway: Gateway = async (request, client) => {
    requests.push(request);
    client.start(200, '', []);
    client.end([]);
  };
  const overrides = [undefined, { label: 'openai', target: '/other' }].values();
  server = gatewayHttpServer((request, response) => {
    void serveGateway(gateway, request, response, overrides.next().value);
  });
  await listen(server);
  const port = portOf(server);
  const request = { port, method: 'DELETE', path: '/a?b', headers: ['Host', 'x', 'B', '1', 'a', '2'] };
  for (let n = 0; n < 2; n++) await ask(request);
  const same = { method: 'DELETE', host: 'x', headers: expect.arrayContaining(['Host', 'x', 'B', '1', 'a', '2']) };
  expect(requests).toMatchObject([
    { ...same, label: undefined, target: '/a?b' },
    { ...same, label: 'openai', target: '/other' },
  ]);
});

it('sends status, reason, headers, body and trailers', async () => {
  const response = await received((client) => {
    client.start(418, 'I\x01’m caf\xe9', ['X-A', '1', 'Trailer', 'X-B', 'x-a', '2']);
    client.write(Buffer.from('one '));
    client.end(['X-B', '3', 'x-b', '4'], Buffer.from('two'));
  });
  expect(response).toMatchObject({
    status: 418,
    statusMessage: 'Im caf\xe9',
    rawHeaders: expect.arrayContaining(['X-A', '1', 'x-a', '2']),
    rawTrailers: ['X-B', '3', 'x-b', '4'],
    whole: true,
  });
  expect(response.body.toString()).toBe('one two');
  expect(response.headers.date).toBeUndefined();
});

it('headers that come before the body keep their bytes', async () => {
  let client: ClientResponse | undefined;
  const response = await received(
    (started) => {
      client = started;
      started.start(200, 'tr\xe8s bien', ['X-A', 'caf\xe9']);
    },
    { onHeaders: () => client?.end([]) },
  );
  expect(response.statusMessage).toBe('tr\xe8s bien');
  expect(response.headers['x-a']).toBe('caf\xe9');
});

it('names to which Node.js gives a meaning keep their bytes, and those of the others', async () => {
  const named = [
    'Expect',
    'caf\xe9',
    'Content-Disposition',
    'filename="caf\xc3\xa9"',
    'content-disposition',
    'filename="\xe6\x97\xa5 \xe9"',
  ];
  const { rawHeaders } = await received((client) => {
    client.start(200, '', ['Content-Length', '2', ...named]);
    client.end([], Buffer.from('ok'));
  });
  expect(rawHeaders).toEqual(expect.arrayContaining(named));
});

it.each([
  ['a body with a length', 'GET', 200, ['Content-Length', '2']],
  ['no body', 'GET', 304, []],
  ['HEAD', 'HEAD', 200, []],
])('trailers that cannot follow %s are not announced, which Node refuses', async (_case, method, status, headers) => {
  const response = await received(
    (client) => {
      client.start(status, '', ['trailer', 'X-B', 'X-A', '1', ...headers]);
      client.end(['X-B', '2'], Buffer.from('ok'));
    },
    { method },
  );
  expect(response).toMatchObject({ status, rawHeaders: expect.arrayContaining(['X-A', '1']), whole: true });
  expect(response.headers.trailer).toBeUndefined();
});

it('an aborted response is interrupted after its headers and what was written, never ended', async () => {
  const script =
    (...chunks: string[]): Script =>
    (client) => {
      client.start(201, '', ['Content-Length', '100']);
      for (const chunk of chunks) client.write(Buffer.from(chunk));
      client.abort();
    };
  expect(await received(script())).toMatchObject({ status: 201, whole: false });
  server?.close();
  const response = await received(script('half'));
  expect([response.body.toString(), response.whole]).toEqual(['half', false]);
});

it('a slow client gets all that was written of an aborted response, within a time', async () => {
  const body = Buffer.alloc(16 * 2 ** 20);
  let timeoutMs: number | undefined;
  const response = await received((client, { socket }) => {
    client.start(200, '', ['Content-Length', String(body.length + 1)]);
    client.write(body);
    client.abort();
    setImmediate(() => (timeoutMs = socket?.timeout));
  });
  expect([response.body.length, response.whole]).toEqual([body.length, false]);
  expect(timeoutMs).toBe(30_000);
});

describe('onDisconnect', () => {
  it('calls back when the client disconnects before the end', async () => {
    const disconnected = Promise.withResolvers<void>();
    const port = await start((client) => client.onDisconnect(disconnected.resolve));
    const socket = connect(port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(server as EventEmitter, 'request');
    socket.destroy();
    await disconnected.promise;
  });

  it('calls back at once when the client has already disconnected', async () => {
    const result = Promise.withResolvers<boolean>();
    const port = await start((client, response) => {
      response.on('close', () => {
        let isCalled = false;
        client.onDisconnect(() => {
          isCalled = true;
        });
        result.resolve(isCalled);
      });
      response.destroy();
    });
    await ask({ port }).catch(() => {});
    expect(await result.promise).toBe(true);
  });

  it('does not call back after the end', async () => {
    let calls = 0;
    const closed = Promise.withResolvers<void>();
    await received((client, response) => {
      client.onDisconnect(() => calls++);
      response.on('close', () => closed.resolve());
      client.start(200, '', []);
      client.end([]);
    });
    await closed.promise;
    expect(calls).toBe(0);
  });
});

/** A response that records the calls on it. */
const recordedResponse = () => {
  const calls: string[] = [];
  const response = Object.assign(new EventEmitter(), {
    destroyed: false,
    writeHead: () => calls.push('writeHead'),
    flushHeaders: () => calls.push('flushHeaders'),
    write: () => calls.push('write'),
    end: () => calls.push('end'),
  });
  const { promise, resolve } = Promise.withResolvers<ClientResponse>();
  const gateway: Gateway = async (_request, client) => resolve(client);
  const request = { method: 'GET', url: '/', headers: {}, rawHeaders: [] } as unknown as IncomingMessage;
  void serveGateway(gateway, request, response as unknown as ServerResponse);
  return { calls, response, client: promise };
};

describe('the headers', () => {
  const callsAfter = async (script: (client: ClientResponse) => void, destroyed = false): Promise<string[]> => {
    const { calls, response, client } = recordedResponse();
    script(await client);
    response.destroyed = destroyed;
    await new Promise(setImmediate);
    return calls;
  };

  it('go out with the first bytes where those are already here', async () => {
    const begin = (client: ClientResponse) => client.start(200, '', []);
    expect(await callsAfter(begin)).toEqual(['writeHead', 'flushHeaders']);
    expect(
      await callsAfter((client) => {
        begin(client);
        client.write(Buffer.from('a'));
      }),
    ).toEqual(['writeHead', 'write']);
    expect(
      await callsAfter((client) => {
        begin(client);
        client.end([]);
      }),
    ).toEqual(['writeHead', 'end']);
    expect(await callsAfter(begin, true)).toEqual(['writeHead']);
  });
});

it('a write to a closed connection is no fault of the process', async () => {
  const { response, client } = recordedResponse();
  await client;
  expect(() => response.emit('error', new Error('write after end'))).not.toThrow();
});

it('passes on that the client has caught up', async () => {
  const { response, client } = recordedResponse();
  let drained = 0;
  (await client).onDrain(() => drained++);
  response.emit('drain');
  expect(drained).toBe(1);
});
