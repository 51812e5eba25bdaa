import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { nodeUpstream } from '../../../lambda/gateway/upstream/upstream-node.ts';
import { undiciUpstream } from '../../../lambda/gateway/upstream/upstream-undici.ts';
import { type Ask, ask } from '../exchange.ts';
import { type GatewayHost, KEYS, startGatewayHost } from '../gateway-host.ts';
import { type ScriptedOrigin, startScriptedOrigin } from '../scripted-origin.ts';

/*
 * An answer that is here before the queue has said whether its request is registered waits for that word. The queue here gives
 * none, so each waits as long as any may; what came in that time must reach the client as if it had not.
 */

describe.each([
  ['undici', undiciUpstream],
  ['node:http', nodeUpstream],
])('an answer that waits for the queue’s word, over %s', (_transport, transport) => {
  let origin: ScriptedOrigin;
  let host: GatewayHost;
  const { promise: noWord, resolve: giveWord } = Promise.withResolvers<void>();

  beforeAll(async () => {
    origin = await startScriptedOrigin();
    host = await startGatewayHost({
      transport,
      origin: origin.origin,
      send: (event) => (event.kind === 'open' ? noWord : Promise.resolve()),
    });
  });

  afterAll(async () => {
    giveWord();
    await host.close();
    await origin.close();
  });

  const call = async (script: (response: ServerResponse) => void, watch: Partial<Ask> = {}) => {
    origin.script = (_request, response) => script(response);
    const headers = { Host: 'openai.gateway.test', 'X-Service-Key': KEYS.active, Authorization: 'Bearer sk-test' };
    const answer = await ask({ ...watch, port: host.port, headers });
    expect(answer.headers['x-service-route']).toBe('bypassed');
    return { answer, close: await host.closeOf(String(answer.headers['x-service-request-id'])) };
  };

  it.each([
    ['nothing', 0],
    ['a few bytes', 5],
    ['more than is held', 3 * 2 ** 20],
  ])('comes whole: %s', async (_case, bytes) => {
    const body = randomBytes(bytes);
    const { answer, close } = await call((response) => response.end(body));
    expect(answer.whole).toBe(true);
    expect(answer.body.equals(body)).toBe(true);
    expect(close).toMatchObject({ outcome: 'completed', responseBytes: bytes });
  });

  it('comes with its trailers', async () => {
    const { answer } = await call((response) => {
      response.writeHead(200, { Trailer: 'X-Sum' });
      response.write('some');
      response.addTrailers([['X-Sum', '1']]);
      response.end();
    });
    expect(answer.body.toString()).toBe('some');
    expect(answer.rawTrailers).toEqual(['X-Sum', '1']);
  });

  it('breaks off after what the provider sent', async () => {
    const { answer, close } = await call((response) => {
      response.writeHead(200, { 'Content-Length': '100' });
      response.write('half');
      setImmediate(() => response.destroy());
    });
    expect(answer.whole).toBe(false);
    expect(answer.body.toString()).toBe('half');
    expect(close).toMatchObject({ outcome: 'upstream_aborted', responseBytes: 4 });
  });

  it('is not taken in whole while it waits', async () => {
    const body = Buffer.alloc(64 * 2 ** 20);
    let sending: ServerResponse | undefined;
    let untakenBytes = 0;
    const { answer } = await call(
      (response) => {
        sending = response;
        response.end(body);
      },
      {
        onHeaders: () => {
          untakenBytes = sending?.socket?.writableLength ?? 0;
        },
      },
    );
    expect(answer.body.length).toBe(body.length);
    expect(untakenBytes).toBeGreaterThan(body.length / 2);
  });
});
