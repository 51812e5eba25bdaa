import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { type Ask, ask, type ReceivedResponse } from '../../../fixtures/exchange.ts';
import { nodeUpstream } from '../../../lambda/gateway/upstream/upstream-node.ts';
import { undiciUpstream } from '../../../lambda/gateway/upstream/upstream-undici.ts';
import { CREDENTIALS } from '../gateway-fakes.ts';
import { bytesAtStandstill, gatewayForTests, writeAsTaken } from '../gateway-for-tests.ts';
import { bodies, greets, interruptedResponses, methods, pacedResponses, paths, statuses } from './fidelity-cases.ts';

/*
 * Promise 1: the client gets what the provider sends. Each case calls the origin directly and through the gateway (the
 * node:http server, over both transports), and compares the two responses byte for byte.
 */

describe.each([
  ['undici', undiciUpstream],
  ['node:http', nodeUpstream],
])('over %s', (_transport, transport) => {
  const { origin, host } = gatewayForTests({ transport });
  const gatewayHeaders = ['Host', 'openai.gateway.test', ...CREDENTIALS];

  const hopByHop = /^(connection|keep-alive|transfer-encoding|x-service-(route|request-id))$/i;
  const comparable = (flat: readonly string[]): [string, string][] => {
    const pairs: [string, string][] = [];
    for (let i = 0; i < flat.length; i += 2) pairs.push([flat[i] as string, flat[i + 1] as string]);
    return pairs.filter(([name]) => !hopByHop.test(name));
  };
  const essence = (response: ReceivedResponse) => ({
    status: response.status,
    statusMessage: response.statusMessage,
    headers: comparable(response.rawHeaders),
    trailers: response.rawTrailers,
    whole: response.whole,
    bytes: response.body.length,
  });

  /** Sends the request both ways and expects the same response. */
  const same = async (
    script: (request: IncomingMessage, response: ServerResponse) => void,
    request: Partial<Ask> = {},
  ): Promise<ReceivedResponse> => {
    origin.script = script;
    const headers = (request.headers ?? []) as string[];
    const body = request.body;
    const direct = await ask({
      ...request,
      port: Number(new URL(origin.origin).port),
      headers: ['Host', 'x', 'Authorization', 'Bearer sk-test', ...headers],
      ...(body === undefined ? {} : { body }),
    });
    const relayed = await ask({ ...request, port: host.port, headers: [...gatewayHeaders, ...headers] });
    expect(essence(relayed)).toEqual(essence(direct));
    expect(relayed.body.equals(direct.body)).toBe(true);
    expect(relayed.headers['x-service-route']).toBe('governed');
    return relayed;
  };

  describe('responses', () => {
    it.each(bodies)('%s', async (_case, script) => {
      await same(script);
    });

    it.each(statuses)('status %i', async (status) => {
      await same((_request, response) => {
        response.writeHead(status, 'Said So', { 'Retry-After': '7', 'X-Request-Id': 'req_1' });
        response.end(status === 204 || status === 304 ? undefined : '{"error":{"message":"no"}}');
      });
    });

    it.each(methods)('method %s', async (method) => {
      const response = await same(greets, { method });
      expect(response.body.toString()).toBe(method === 'HEAD' ? '' : 'hello');
      expect(origin.received.at(-1)?.method).toBe(method);
    });

    it('duplicate headers, their order and case, and bytes beyond ASCII', async () => {
      const headers = [
        ['Set-Cookie', 'a=1'],
        ['X-Odd', 'one'],
        ['Set-Cookie', 'b=2'],
        ['x-odd', 'caf\xe9'],
        ['OpenAI-Version', '2020-10-01'],
      ];
      const response = await same((_request, response) => void response.writeHead(200, headers.flat()).end('x'));
      expect(response.headers['set-cookie']).toEqual(['a=1', 'b=2']);
    });

    it('a reason phrase in UTF-8', async () => {
      const response = await same((_request, response) => {
        response.writeHead(200, Buffer.from('Tout va très bien').toString('latin1'));
        response.end('x');
      });
      expect(Buffer.from(response.statusMessage, 'latin1').toString()).toBe('Tout va très bien');
    });

    it('trailers', async () => {
      const response = await same((_request, response) => {
        response.writeHead(200, { Trailer: 'X-Checksum', 'Content-Type': 'text/plain' });
        response.write('body');
        response.addTrailers({ 'X-Checksum': 'abc' });
        response.end();
      });
      expect(response.rawTrailers).toEqual(['X-Checksum', 'abc']);
    });

    it('no date and no server header of ours', async () => {
      const response = await same((_request, response) => response.end('x'));
      expect(response.headers['date']).toBeUndefined();
      expect(response.headers['server']).toBeUndefined();
    });

    it.each(pacedResponses)('%s', async (_case, { script, client, body }) => {
      const response = await same(script, client);
      expect(response.body.toString()).toBe(body);
    });

    it.each([
      ['large', { 'Content-Security-Policy': 'x'.repeat(60_000) }],
      ['many', Object.fromEntries(Array.from({ length: 1_500 }, (_, n) => [`X-${n}`, '1']))],
    ])('%s headers', async (_case, headers) => {
      await same((_request, response) => {
        response.writeHead(200, headers);
        response.end('x');
      });
    });
  });

  describe('interrupted responses are interrupted for the client, too', () => {
    it.each(interruptedResponses)('%s', async (_case, script) => {
      const response = await same(script);
      expect(response.whole).toBe(false);
      expect(response.body.length).toBeGreaterThan(0);
      const close = await host.closeOf(String(response.headers['x-service-request-id']));
      expect(close).toMatchObject({ outcome: 'upstream_aborted', status: 200 });
      expect(close.reading.complete).toBe(false);
    });
  });

  describe('requests', () => {
    const echoed = async (request: Partial<Ask>): Promise<void> => {
      origin.received.length = 0;
      await same((incoming, response) => {
        incoming.on('end', () => response.end('ok'));
      }, request);
      const [direct, relayed] = origin.received;
      expect(relayed?.method).toBe(direct?.method);
      expect(relayed?.url).toBe(direct?.url);
      expect(relayed?.body.equals(direct?.body as Buffer)).toBe(true);
      // undici writes these two itself, in lower case: their values are compared, not their place.
      const named = (flat: readonly string[] = []) =>
        comparable(flat).filter(([name]) => !/^(host|x-service-key|content-length)$/i.test(name));
      const length = (flat: readonly string[] = []) =>
        comparable(flat).find(([name]) => /^content-length$/i.test(name))?.[1];
      expect(length(relayed?.rawHeaders)).toBe(length(direct?.rawHeaders));
      expect(named(relayed?.rawHeaders)).toEqual(named(direct?.rawHeaders));
    };

    it.each(paths)('path %s', async (path) => {
      await echoed({ path });
    });

    it('JSON, with its headers', async () => {
      const body = JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'é'.repeat(2000) }] });
      await echoed({
        method: 'POST',
        body,
        headers: Object.entries({
          'Content-Type': 'application/json',
          'Content-Length': String(Buffer.byteLength(body)),
          'User-Agent': 'OpenAI/Python 1',
          'X-Stainless-Lang': 'python',
          'Accept-Encoding': 'gzip, br',
          'Idempotency-Key': 'x',
        }).flat(),
      });
    });

    it('an upload without a known length', async () => {
      await echoed({
        method: 'POST',
        body: Buffer.concat(Array.from({ length: 40 }, () => randomBytes(10_000))),
        headers: ['Content-Type', 'multipart/form-data; boundary=x', 'Transfer-Encoding', 'chunked'],
      });
    });

    it.each([
      ['without a stream', Buffer.from(JSON.stringify({ model: 'gpt-4o', stream: false }))],
      ['of 17 MB', Buffer.from(JSON.stringify({ stream: true, messages: [{ content: 'x'.repeat(17 * 2 ** 20) }] }))],
    ])('a chunked chat %s', async (_case, body) => {
      await echoed({
        method: 'POST',
        path: '/v1/chat/completions',
        body,
        headers: ['Content-Type', 'application/json', 'Transfer-Encoding', 'chunked'],
      });
    });

    const chunkOf = (usage: object) =>
      `data: ${JSON.stringify({ choices: [{ delta: { content: 'Hi' } }], ...usage })}\n\n`;
    const body = '{"model":"gpt-4o","stream":true}';
    const length = ['Content-Length', String(body.length)];
    const usageChunk = 'data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}\n\n';
    it.each<[string, string[], string[], (text: string) => Buffer | string]>([
      ['with a length', length, ['Content-Type', 'text/event-stream'], (text) => text],
      ['in chunks', ['Transfer-Encoding', 'chunked'], ['Content-Type', 'Text/Event-Stream'], (text) => text],
      [
        'with a compressed response',
        length,
        ['Content-Type', 'text/event-stream', 'Content-Encoding', 'gzip'],
        gzipSync,
      ],
    ])('a chat %s whose usage was asked for: the client sees what it asked for', async (_case, up, down, encode) => {
      origin.received.length = 0;
      origin.script = (incoming, response) => {
        incoming.on('end', () => {
          response.writeHead(200, down);
          response.end(encode(chunkOf({ usage: null }) + usageChunk));
        });
      };
      const response = await ask({
        port: host.port,
        method: 'POST',
        path: '/v1/chat/completions',
        body,
        headers: [...gatewayHeaders, 'Content-Type', 'application/json', ...up],
      });
      expect(response.body.toString()).toBe(chunkOf({}));
      expect(response).toMatchObject({ status: 200, whole: true });
      expect(response.headers['content-encoding']).toBeUndefined();
      expect(origin.received[0]?.body.toString()).toBe(
        '{"model":"gpt-4o","stream":true,"stream_options":{"include_usage":true}}',
      );
      const close = await host.closeOf(response.headers['x-service-request-id'] as string);
      expect(close.reading).toMatchObject({ usage: { prompt_tokens: 9 }, usageSource: 'reported', complete: true });
      expect(close.requestBytes).toBe(body.length);
    });

    it('20 MB up', async () => {
      const body = randomBytes(20 * 2 ** 20);
      await echoed({
        method: 'PUT',
        body,
        headers: ['Content-Length', String(body.length), 'Content-Type', 'audio/wav'],
      });
    });

    it('does not forward hop-by-hop, host, service and forwarding headers', async () => {
      origin.script = (_request, response) => response.end();
      const dropped = {
        'X-Service-Tag': 'batch',
        'X-Service-Usage': 'off',
        'X-Forwarded-For': '1.2.3.4',
        'X-Forwarded-Proto': 'https',
        Forwarded: 'for=1',
        Via: '1.1 x',
        'X-Amzn-Trace-Id': 'Root=1',
        'CloudFront-Viewer-Country': 'DE',
        Connection: 'keep-alive, X-Private',
        'X-Private': 'secret',
      };
      const headers = [...gatewayHeaders, ...Object.entries(dropped).flat(), 'X-Kept', 'yes'];
      await ask({ port: host.port, headers });
      const names = comparable(origin.received.at(-1)?.rawHeaders ?? []).map(([name, value]) => `${name}: ${value}`);
      expect(names[0]?.toLowerCase()).toBe(origin.origin.replace('http://', 'host: '));
      expect(names.slice(1)).toEqual(['Authorization: Bearer sk-test', 'X-Kept: yes']);
    });
  });

  describe('a client', () => {
    it('is slower than the provider: the provider waits, memory does not grow', async () => {
      const total = 48 * 2 ** 20;
      let written = { bytes: 0 };
      origin.script = (_request, response) => {
        written = writeAsTaken(response.writeHead(200), total);
      };
      let writtenToNobody: Promise<number> | undefined;
      const response = await ask({
        port: host.port,
        headers: gatewayHeaders,
        onChunk: (_chunk, client) => {
          if (writtenToNobody) return;
          client.pause();
          writtenToNobody = bytesAtStandstill(written);
          void writtenToNobody.then(() => client.resume());
        },
      });
      expect(response.body.length).toBe(total);
      expect(await writtenToNobody).toBeLessThan(total / 2);
    });
  });
});
