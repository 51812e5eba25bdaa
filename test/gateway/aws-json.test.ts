import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { awsCaller, awsService } from '../../lambda/gateway/aws/aws-json.ts';

let answer: (request: IncomingMessage, response: ServerResponse) => void;
let connections: Socket[];
let server: ReturnType<typeof createServer>;
let variables: Record<string, string>;

beforeEach(async () => {
  connections = [];
  answer = (_request, response) => response.end('{"ok":true}');
  server = createServer((request, response) => {
    request.resume().on('end', () => answer(request, response));
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

/** For calls that are answered. */
const PATIENCE_MS = 60_000;

const caller = () => awsCaller(awsService('sqs', variables), () => ({ accessKeyId: 'a', secretAccessKey: 'b' }));

describe('awsCaller', () => {
  it('uses its connection again', async () => {
    const call = caller();
    for (let n = 0; n < 3; n++) expect(await call('GetItem', {}, PATIENCE_MS)).toEqual({ ok: true });
    expect(connections).toHaveLength(1);
  });

  it('replaces a kept connection that the other side closes at that moment, once', async () => {
    const call = caller();
    await call('GetItem', {}, PATIENCE_MS);
    let dropped = 0;
    answer = (request, response) => {
      if (dropped++ === 0) request.socket.destroy();
      else response.end('{"ok":2}');
    };
    expect(await call('GetItem', {}, PATIENCE_MS)).toEqual({ ok: 2 });
    expect(connections).toHaveLength(2);
  });

  it('does not ask again on a connection that is new', async () => {
    let asked = 0;
    answer = (request) => {
      asked += 1;
      request.socket.destroy();
    };
    await expect(caller()('GetItem', {}, PATIENCE_MS)).rejects.toThrow(/hang up|ECONNRESET/);
    expect(asked).toBe(1);
  });

  it('does not ask again when there is no answer in time, or when the answer is a refusal', async () => {
    const call = caller();
    await call('GetItem', {}, PATIENCE_MS);
    let asked = 0;
    answer = () => void asked++;
    await expect(call('GetItem', {}, 250)).rejects.toThrow('had no answer within 250 ms');
    answer = (_request, response) => {
      asked += 10;
      response.writeHead(400).end('{"__type":"x#Throttled","message":"slow"}');
    };
    await expect(call('GetItem', {}, PATIENCE_MS)).rejects.toMatchObject({ code: 'Throttled', status: 400 });
    // A machine that stands still may give the first up before it is heard: once at most, it is.
    expect([10, 11]).toContain(asked);
  });
});
