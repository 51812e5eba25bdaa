import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { dispatch, openFront } from '../../../local/host/front.ts';

/** Where a request goes, and with what override. */
const destination = (host: string, url: string): unknown[] => {
  const seen: unknown[] = [];
  dispatch(
    {
      gateway: (_request, _response, override) => seen.push('gateway', override),
      upgrade: () => {},
      dashboard: () => seen.push('dashboard'),
      index: () => seen.push('index'),
    },
    { headers: { host }, url } as IncomingMessage,
    {} as ServerResponse,
  );
  return seen;
};

describe('the one port', () => {
  it.each([
    ['openai.localhost:8787', '/v1/models?x=1', ['gateway', undefined]],
    ['OPENAI.LOCALHOST', '/api/spend', ['gateway', undefined]],
    ['acme.localhost:8787', '/', ['gateway', undefined]],
    [
      'localhost:8787',
      '/gateway/openai/v1/a%2Fb//c?q=%20&q=+#',
      ['gateway', { label: 'openai', target: '/v1/a%2Fb//c?q=%20&q=+#' }],
    ],
    ['127.0.0.1:8787', '/gateway/google', ['gateway', { label: 'google', target: '/' }]],
    ['localhost:8787', '/gateway/google?alt=sse', ['gateway', { label: 'google', target: '/?alt=sse' }]],
    ['localhost:8787', '/api/spend?groupBy=model', ['dashboard']],
    ['localhost:8787', '/api', ['dashboard']],
    ['localhost:8787', '/apiary', ['index']],
    ['localhost:8787', '/', ['index']],
  ])('%s %s', (host, url, expected) => {
    expect(destination(host, url)).toEqual(expected);
  });
});

it.each([
  ['openai.localhost', '/v1/realtime?model=a', undefined],
  ['localhost', '/gateway/openai/v1/realtime?model=a', { label: 'openai', target: '/v1/realtime?model=a' }],
])('passes a WebSocket of %s%s to the gateway', async (host, path, override) => {
  const front = await openFront(0);
  const seen: unknown[] = [];
  const none = (): void => {};
  front.open({
    gateway: none,
    dashboard: none,
    index: none,
    upgrade: (request, socket, _head, given) => {
      seen.push(request.url, given);
      socket.destroy();
    },
  });
  const client = connect(front.port, '127.0.0.1');
  client.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
  client.resume();
  await once(client, 'close');
  await front.close(0);
  expect(seen).toEqual([path, override]);
});
