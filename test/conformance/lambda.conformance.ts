import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type Ask, ask, type ReceivedResponse } from '../../fixtures/exchange.ts';
import { type LambdaGateway, startLambdaGateway } from '../../fixtures/lambda-gateway/lambda-gateway.ts';
import { type Script, type ScriptedOrigin, startScriptedOrigin } from '../../fixtures/scripted-origin.ts';
import { findEvents } from '../../ops/events/find-events.ts';
import { converseStream } from '../clients/clouds.ts';
import { KEYS } from '../gateway/gateway-host.ts';
import {
  bodies,
  greets,
  interruptedResponses,
  methods,
  pacedResponses,
  paths,
  statuses,
} from '../gateway/relay/fidelity-cases.ts';

/*
 * Promise 1 on Lambda: the bundle that is deployed, under the runtime that Lambda runs it with. What API Gateway itself does to a
 * request and a response is not in it, but for the shape of event and stream: docs/architecture.md says what holds.
 */

describe('the gateway on Lambda', () => {
  let origin: ScriptedOrigin;
  let lambda: LambdaGateway;

  beforeAll(async () => {
    origin = await startScriptedOrigin();
    lambda = await startLambdaGateway(origin.origin, KEYS);
  }, 300_000);

  afterAll(async () => {
    await lambda?.stop();
    await origin?.close();
  });

  const credentials = ['X-Service-Key', KEYS.active, 'Authorization', 'Bearer sk-test'];
  const through = (request: Partial<Ask> = {}, label = 'openai'): Promise<ReceivedResponse> =>
    ask({
      ...request,
      port: lambda.port,
      headers: ['Host', `${label}.gateway.test`, ...credentials, ...((request.headers ?? []) as string[])],
    });

  /** Names in lower case, sorted: neither case nor order between names survives the platform's objects. */
  const comparable = (flat: readonly string[]): [string, string][] => {
    const pairs: [string, string][] = [];
    for (let i = 0; i < flat.length; i += 2) pairs.push([(flat[i] as string).toLowerCase(), flat[i + 1] as string]);
    const ownOrHop = /^(connection|keep-alive|transfer-encoding|x-service-route|x-service-request-id)$/;
    return pairs.filter(([name]) => !ownOrHop.test(name)).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  };

  const same = async (script: Script, request: Partial<Ask> = {}): Promise<ReceivedResponse> => {
    origin.script = script;
    const direct = await ask({
      ...request,
      port: Number(new URL(origin.origin).port),
      headers: ['Host', 'x', 'Authorization', 'Bearer sk-test', ...((request.headers ?? []) as string[])],
    });
    const relayed = await through(request);
    expect(relayed.status).toBe(direct.status);
    expect(comparable(relayed.rawHeaders)).toEqual(comparable(direct.rawHeaders));
    expect(relayed.whole).toBe(direct.whole);
    expect(relayed.body.equals(direct.body)).toBe(true);
    // Governed where the queue has responded in time, which on a busy machine it may not: see `tracking` below.
    expect(relayed.headers['x-service-route']).toMatch(/^(governed|bypassed)$/);
    await lambda.idle();
    expect(lambda.hasEnded()).toBe(false);
    return relayed;
  };

  describe('responses', () => {
    it.each(bodies)('%s', async (_case, script) => {
      await same(script);
    });

    it.each(statuses)('status %i', async (status) => {
      await same((_request, response) => {
        response.writeHead(status, { 'Retry-After': '7', 'X-Request-Id': 'req_1' });
        response.end(status === 204 || status === 304 ? undefined : '{"error":{"message":"no"}}');
      });
    });

    it.each(methods)('method %s', async (method) => {
      const result = await same(greets, { method });
      expect(result.body.toString()).toBe(method === 'HEAD' ? '' : 'hello');
      expect(origin.received.at(-1)?.method).toBe(method);
    });

    it('duplicate headers', async () => {
      const result = await same((_request, response) => {
        response.writeHead(200, ['Set-Cookie', 'a=1', 'X-Odd', 'one', 'Set-Cookie', 'b=2', 'x-odd', 'two']);
        response.end('x');
      });
      expect(result.headers['set-cookie']).toEqual(['a=1', 'b=2']);
    });

    it.each(pacedResponses)('%s', async (_case, { script, client, body }) => {
      const result = await same(script, client);
      expect(result.body.toString()).toBe(body);
    });

    it('headers larger than the platform reads: the response comes without the largest', async () => {
      origin.script = (_request, response) => {
        response.writeHead(200, { 'Content-Security-Policy': 'x'.repeat(60_000), 'X-Request-Id': 'req_1' });
        response.end('whole');
      };
      const result = await through();
      expect(result).toMatchObject({ status: 200, whole: true });
      expect(result.body.toString()).toBe('whole');
      expect(result.headers['x-request-id']).toBe('req_1');
      expect(result.headers['content-security-policy']).toBeUndefined();
    });

    it('a client slower than the provider', async () => {
      const body = randomBytes(16 * 2 ** 20);
      await same((_request, response) => response.end(body), {
        onChunk: (chunk, response) => {
          if (chunk.length % 7 !== 0) return;
          response.pause();
          setTimeout(() => response.resume(), 5);
        },
      });
    });
  });

  describe('broken responses break for the client too', () => {
    it.each(interruptedResponses)('%s', async (_case, script) => {
      const result = await same(script);
      expect(result.whole).toBe(false);
      expect(result.body.length).toBeGreaterThan(0);
      const events = await lambda.eventsOf(String(result.headers['x-service-request-id']));
      expect(events.find(({ kind }) => kind === 'close')).toMatchObject({ outcome: 'upstream_aborted', status: 200 });
    });

    it('a reset before the headers: 502 with the one error body', async () => {
      origin.script = (request) => request.socket.destroy();
      const result = await through();
      expect(result.status).toBe(502);
      expect(JSON.parse(result.body.toString())).toMatchObject({ error: { code: 'PROVIDER_ERROR' } });
    });

    it('and the next request is none the worse', async () => {
      await same((_request, response) => response.end('fine'));
    });
  });

  describe('connections to the provider, of a process that freezes', () => {
    const portsOf = async (pauseMs: number): Promise<(number | undefined)[]> => {
      const ports: (number | undefined)[] = [];
      for (const _ of [1, 2]) {
        origin.script = (request, response) => {
          ports.push(request.socket.remotePort);
          response.end('hello');
        };
        expect((await through()).status).toBe(200);
        await lambda.idle();
        lambda.freeze();
        await sleep(pauseMs);
        lambda.thaw();
      }
      return ports;
    };

    it('are used again by a request that follows soon', async () => {
      const [first, second] = await portsOf(300);
      expect(second).toBe(first);
    });

    it('are not used again after a while in which nobody could have seen them close', async () => {
      const [first, second] = await portsOf(4_500);
      expect(second).not.toBe(first);
    });
  });

  describe('requests', () => {
    const echoed = async (request: Partial<Ask>): Promise<void> => {
      origin.received.length = 0;
      await same((incoming, response) => {
        incoming.resume();
        incoming.on('end', () => response.end('ok'));
      }, request);
      const [direct, relayed] = origin.received;
      expect(relayed?.method).toBe(direct?.method);
      expect(relayed?.body.equals(direct?.body as Buffer)).toBe(true);
      // Order and escapes of the query are the platform's; path and values are not.
      const [path, query] = (relayed?.url ?? '').split(/\?(.*)/s);
      const [directPath, directQuery] = (direct?.url ?? '').split(/\?(.*)/s);
      expect(path).toBe(directPath);
      expect([...new URLSearchParams(query)].sort()).toEqual([...new URLSearchParams(directQuery)].sort());
      const named = (flat: readonly string[] = []) =>
        comparable(flat).filter(([name]) => !/^(host|x-service-key|content-length)$/.test(name));
      expect(named(relayed?.rawHeaders)).toEqual(named(direct?.rawHeaders));
    };

    it.each(paths.filter((path) => !path.includes('#')))('path %s', async (path) => {
      await echoed({ path });
    });

    it('JSON, with its headers', async () => {
      const body = JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'é'.repeat(2000) }] });
      await echoed({
        method: 'POST',
        body: Buffer.from(body),
        headers: ['Content-Type', 'application/json', 'User-Agent', 'OpenAI/Python 1', 'Idempotency-Key', 'x'],
      });
    });

    it('an upload of any bytes, as large as the platform takes', async () => {
      await echoed({
        method: 'POST',
        body: randomBytes(4 * 2 ** 20),
        headers: ['Content-Type', 'multipart/form-data; boundary=x', 'Transfer-Encoding', 'chunked'],
      });
    });
  });

  describe('the gateway’s own responses', () => {
    it('GET /health on every host', async () => {
      for (const label of ['openai', 'anthropic', 'openrouter']) {
        const result = await ask({ port: lambda.port, path: '/health', headers: ['Host', `${label}.gateway.test`] });
        expect(result.status).toBe(200);
        expect(JSON.parse(result.body.toString())).toEqual({ status: 'ok' });
      }
    });

    it.each([
      ['MISSING_SERVICE_KEY', 400, 'openai', ['Authorization', 'x']],
      ['MISSING_AUTH', 400, 'openai', ['X-Service-Key', KEYS.active]],
      ['UNKNOWN_PROVIDER', 400, 'nobody', credentials],
      ['INVALID_SERVICE_KEY', 401, 'openai', ['X-Service-Key', KEYS.absent, 'Authorization', 'x']],
      ['ACCOUNT_INACTIVE', 403, 'openai', ['X-Service-Key', KEYS.inactive, 'Authorization', 'x']],
    ])('%s', async (code, status, label, headers) => {
      const result = await ask({ port: lambda.port, headers: ['Host', `${label}.gateway.test`, ...headers] });
      expect(result.status).toBe(status);
      expect(JSON.parse(result.body.toString())).toMatchObject({ error: { code, type: 'gateway_error' } });
    });
  });

  describe('tracking', () => {
    jest.retryTimes(2);

    /** The provider responds once the open event is on the queue, so that the request is governed however busy the machine is. */
    const respondsWhenTracked = async (script: Script): Promise<void> => {
      const before = await lambda.takeEvents();
      origin.script = async (request, response) => {
        try {
          await lambda.moreEventsThan(before);
          await script(request, response);
        } catch {
          response.destroy();
        }
      };
    };

    it('has both events on the queue by the time the platform may freeze the process', async () => {
      const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
      await respondsWhenTracked((_request, response) => {
        response.writeHead(200, { 'Content-Type': 'application/json' });
        response.end(JSON.stringify({ model: 'gpt-4o-2024-08-06', usage }));
      });
      const result = await through({
        method: 'POST',
        path: '/v1/chat/completions',
        body: Buffer.from('{"model":"gpt-4o","messages":[]}'),
      });
      const events = await lambda.eventsOf(String(result.headers['x-service-request-id']));
      expect(events.map(({ kind }) => kind).sort()).toEqual(['close', 'open']);
      expect(events.find(({ kind }) => kind === 'close')).toMatchObject({
        route: 'governed',
        outcome: 'completed',
        providerKey: expect.stringMatching(/^[0-9a-f]{16}$/),
        reading: { usage, modelServed: 'gpt-4o-2024-08-06' },
      });
    });

    it('reads a stream of binary messages that arrives in any pieces, and changes no byte of it', async () => {
      origin.script = async (_request, response) => {
        response.writeHead(200, { 'Content-Type': 'application/vnd.amazon.eventstream' });
        for (let at = 0; at < converseStream.length; at += 7) {
          response.write(converseStream.subarray(at, at + 7));
          await new Promise(setImmediate);
        }
        response.end();
      };
      const path = '/us-east-1/model/us.amazon.nova-pro-v1%3A0/converse-stream';
      const result = await through({ method: 'POST', path, body: Buffer.from('{"messages":[]}') }, 'bedrock');
      expect(result.body.equals(converseStream)).toBe(true);
      expect(origin.received.at(-1)?.url).toBe(path.slice('/us-east-1'.length));
      const events = await lambda.eventsOf(String(result.headers['x-service-request-id']));
      expect(events.find(({ kind }) => kind === 'close')).toMatchObject({
        outcome: 'completed',
        reading: {
          usage: { inputTokens: 1_200, outputTokens: 34, totalTokens: 1_234 },
          complete: true,
          streamed: true,
        },
      });
    });

    it.each([
      ['were closed', 'drop', 200],
      ['were forgotten by the network', 'forget', 5_500],
    ] as const)(
      'is none the worse for connections that %s while the process was frozen',
      async (_case, end, frozenMs) => {
        const greet: Script = (_request, response) => response.end('hello');
        await same(greet);
        await respondsWhenTracked(greet);
        lambda.freeze();
        expect(lambda.relays.sqs.connections()).toBeGreaterThan(0);
        for (const relay of Object.values(lambda.relays)) relay[end]();
        await sleep(frozenMs);
        const pending = through();
        await sleep(100);
        lambda.thaw();
        const result = await pending;
        expect(result.body.toString()).toBe('hello');
        expect(result.headers['x-service-route']).toBe('governed');
        expect(await lambda.eventsOf(String(result.headers['x-service-request-id']))).toHaveLength(2);
      },
    );

    it('meters a whole response where the client disconnected: the platform does not report it', async () => {
      origin.script = (_request, response) => {
        response.writeHead(200, { 'Content-Type': 'text/event-stream' });
        let count = 0;
        const timer = setInterval(() => {
          response.write(`data: {"n":${count}}\n\n`);
          if (++count < 10) return;
          clearInterval(timer);
          response.end('data: [DONE]\n\n');
        }, 20);
      };
      const result = await through({ onChunk: (_chunk, response) => response.destroy() });
      const events = await lambda.eventsOf(String(result.headers['x-service-request-id']));
      expect(events.find(({ kind }) => kind === 'close')).toMatchObject({ outcome: 'completed', responseBytes: 164 });
    });

    it('leaves an event in the log, to be replayed, where neither queue nor table can be reached', async () => {
      await Promise.all(Object.values(lambda.relays).map((relay) => relay.stop()));
      origin.script = (_request, response) => response.end('hello');
      const result = await through();
      expect(result.body.toString()).toBe('hello');
      expect(result.headers['x-service-route']).toBe('bypassed');
      await lambda.idle();
      await lambda.hasLogged('usage event not delivered');
      const { events, unreadable } = findEvents([lambda.log()]);
      expect(unreadable).toBe(0);
      const lost = events.filter(
        (event) => event.kind !== 'untracked' && event.requestId === result.headers['x-service-request-id'],
      );
      expect(lost).toEqual([expect.objectContaining({ kind: 'close', outcome: 'completed' })]);
      expect(lambda.log()).not.toContain('sk-test');
    });
  });
});
