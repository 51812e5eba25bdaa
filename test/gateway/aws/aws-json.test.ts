import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { awsCaller, awsService } from '../../../lambda/gateway/aws/aws-json.ts';
import { nodeTransport } from '../../../lambda/gateway/aws/transport-node.ts';
import { undiciTransport } from '../../../lambda/gateway/aws/transport-undici.ts';

let respond: (request: IncomingMessage, response: ServerResponse) => void;
let connections: Socket[];
let server: ReturnType<typeof createServer>;
let variables: Record<string, string>;

beforeEach(async () => {
  connections = [];
  respond = (_request, response) => response.end('{"ok":true}');
  server = createServer((request, response) => {
    request.resume().on('end', () => respond(request, response));
  });
  server.on('connection', (socket) => connections.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  variables = { AWS_ENDPOINT_URL_SQS: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, AWS_REGION: 'x' };
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** For calls that get a response. */
const PATIENCE_MS = 60_000;

const transports = [
  ['node:http', nodeTransport, 1],
  // Cannot distinguish a new connection from a kept one, so it retries once.
  ['undici', undiciTransport, 2],
] as const;

describe.each(transports)('awsCaller over %s', (_name, transport, mostTries) => {
  const caller = () =>
    awsCaller(awsService('sqs', variables), () => ({ accessKeyId: 'a', secretAccessKey: 'b' }), transport);

  it('reuses its connection', async () => {
    const call = caller();
    for (let n = 0; n < 9; n++) expect(await call('GetItem', {}, PATIENCE_MS)).toEqual({ ok: true });
    // undici leaves a connection unused for a turn of the event loop.
    expect(connections.length).toBeLessThanOrEqual(2);
  });

  it('replaces, once, a kept connection that the other side closes at that moment', async () => {
    const call = caller();
    await call('GetItem', {}, PATIENCE_MS);
    let dropped = 0;
    respond = (request, response) => {
      if (dropped++ === 0) request.socket.destroy();
      else response.end('{"ok":2}');
    };
    expect(await call('GetItem', {}, PATIENCE_MS)).toEqual({ ok: 2 });
    expect(dropped).toBe(2);
  });

  it('does not retry forever when connections close before a response', async () => {
    let requests = 0;
    respond = (request) => {
      requests += 1;
      request.socket.destroy();
    };
    await expect(caller()('GetItem', {}, PATIENCE_MS)).rejects.toThrow(/hang up|ECONNRESET|other side closed/);
    expect(requests).toBe(mostTries);
  });

  it('does not retry after a timeout or an error response', async () => {
    const call = caller();
    await call('GetItem', {}, PATIENCE_MS);
    let requests = 0;
    respond = () => void requests++;
    await expect(call('GetItem', {}, 250)).rejects.toThrow('sqs GetItem: no response within 250 ms');
    respond = (_request, response) => {
      requests += 10;
      response.writeHead(400).end('{"__type":"x#Throttled","message":"slow"}');
    };
    await expect(call('GetItem', {}, PATIENCE_MS)).rejects.toMatchObject({ code: 'Throttled', status: 400 });
    respond = (_request, response) => response.end('<html>');
    await expect(call('GetItem', {}, PATIENCE_MS)).rejects.toThrow(
      'sqs GetItem: the response (status 200) is not JSON',
    );
    respond = (_request, response) => response.end('x'.repeat(2 ** 20 + 1));
    await expect(call('GetItem', {}, PATIENCE_MS)).rejects.toThrow(
      'sqs GetItem: the response is longer than 1048576 bytes',
    );
    // On a stalled machine the first call may time out before the server sees it.
    expect([10, 11]).toContain(requests);
  });
});
