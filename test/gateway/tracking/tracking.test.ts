import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ask } from '../../../fixtures/exchange.ts';
import { type ScriptedOrigin, startScriptedOrigin } from '../../../fixtures/scripted-origin.ts';
import { secretHash } from '../../../lambda/domain/accounts/issued-secret.ts';
import { closeEventSchema, openEventSchema, type UsageEvent } from '../../../lambda/domain/usage/usage-event.ts';
import { undiciUpstream } from '../../../lambda/gateway/upstream/upstream-undici.ts';
import { type GatewayHost, type HostSettings, KEYS, startGatewayHost } from '../gateway-host.ts';

let origin: ScriptedOrigin;
let host: GatewayHost | undefined;

beforeAll(async () => {
  origin = await startScriptedOrigin();
});

afterEach(async () => {
  await host?.close();
  host = undefined;
});

afterAll(() => origin.close());

const CHAT = JSON.stringify({
  model: 'gpt-4o-2024-08-06',
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
});
const SECRET = 'sk-very-secret';

const call = async (
  settings: Partial<HostSettings> = {},
  headers: Record<string, string> = {},
  answered: Record<string, string> = {},
) => {
  host = await startGatewayHost({ origin: origin.origin, ...settings });
  origin.script = (request, response) => {
    request.on('end', () => {
      response.writeHead(200, { 'Content-Type': 'application/json', ...answered });
      response.end(CHAT);
    });
  };
  const response = await ask({
    port: host.port,
    method: 'POST',
    path: '/v1/chat/completions?api-version=secret-query',
    headers: {
      Host: 'openai.gateway.test',
      'X-Service-Key': KEYS.active,
      Authorization: `Bearer ${SECRET}`,
      'Content-Type': 'application/json',
      ...headers,
    },
    // A Buffer: with a string body Node would send the headers as UTF-8 too.
    body: Buffer.from('{"model":"gpt-4o","messages":[{"role":"user","content":"private words"}]}'),
  });
  expect(response.status).toBe(200);
  expect(response.body.toString()).toBe(CHAT);
  return { response, host, requestId: String(response.headers['x-service-request-id']) };
};

const failing = async (): Promise<void> => {
  throw new Error('queue is down');
};
const only = (kind: UsageEvent['kind'], action: () => Promise<void>) => async (event: UsageEvent) => {
  if (event.kind === kind) await action();
};

describe('the two events of a request', () => {
  it('record what happened, and match their schemas', async () => {
    // As long as a tag may be.
    const tag = '👋'.repeat(64);
    const sent = {
      'X-Service-Tag': Buffer.from(tag).toString('latin1'),
      'X-Service-Metadata': '{"team":"search"}',
      'User-Agent': 'claude-cli/2.1.197 (external, sdk-cli)',
      'X-Claude-Code-Session-Id': 'session-1',
      'X-Claude-Code-Agent-Id': 'agent-1',
    };
    const { host, requestId } = await call({}, sent);
    const close = await host.closeOf(requestId);
    expect(closeEventSchema.parse(close)).toEqual(close);
    expect(close).toMatchObject({
      kind: 'close',
      requestId,
      accountId: KEYS.active,
      keyId: 'key-1',
      provider: 'openai',
      providerKey: 'f00d',
      tag,
      tagTruncated: false,
      metadata: { team: 'search' },
      client: 'claude-code',
      session: { id: 'session-1', agentId: 'agent-1' },
      method: 'POST',
      path: '/v1/chat/completions',
      route: 'governed',
      outcome: 'completed',
      status: 200,
      requestBytes: 73,
      responseBytes: CHAT.length,
      reading: { usage: { prompt_tokens: 3 }, modelRequested: 'gpt-4o', modelServed: 'gpt-4o-2024-08-06' },
    });
    expect(close.totalMs).toBeGreaterThanOrEqual(close.ttfbMs ?? Number.POSITIVE_INFINITY);
    expect(close.overheadMs).toBeGreaterThan(0);
    expect(close.overheadMs).toBeLessThan(close.ttfbMs ?? 0);
    const [open] = host.opens();
    expect(openEventSchema.parse(open)).toEqual(open);
    const { metadata, client, session, startedAt } = close;
    expect(open).toMatchObject({ requestId, startedAt, metadata, client, session });
  });

  it('contain no credential, no body, no query', async () => {
    const { host, requestId } = await call();
    await host.closeOf(requestId);
    expect(JSON.stringify(host.events)).not.toMatch(/sk-very-secret|private words|secret-query/);
  });

  it('have the cached tokens that Fireworks reports only in a header', async () => {
    const { host, requestId } = await call(
      {},
      { Host: 'fireworks.gateway.test' },
      { 'Fireworks-Cached-Prompt-Tokens': '2' },
    );
    expect(await host.closeOf(requestId)).toMatchObject({ reading: { billableItems: { 'prompt.cached_tokens': 2 } } });
  });

  it.each(['/v1/chat/completions', '/v1/embeddings'])(
    'follow the request, which is written first on a kept connection: %s',
    async (path) => {
      const order: string[] = [];
      const transport: typeof undiciUpstream = (timeouts) => {
        const upstream = undiciUpstream(timeouts);
        const send: typeof upstream.send = (request, listener) => {
          const pass = listener.onRequestBytes.bind(listener);
          listener.onRequestBytes = (chunk) => {
            order.push('request');
            pass(chunk);
          };
          return upstream.send(request, listener);
        };
        return { ...upstream, send };
      };
      host = await startGatewayHost({
        origin: origin.origin,
        transport,
        send: async ({ kind }) => void order.push(kind),
      });
      origin.script = (request, response) => {
        request.resume().on('end', () => response.end('{}'));
      };
      for (let count = 0; count < 2; count++) {
        order.length = 0;
        const headers = {
          Host: 'openai.gateway.test',
          'X-Service-Key': KEYS.active,
          Authorization: 'Bearer sk',
          'Content-Type': 'application/json',
        };
        await ask({ port: host.port, method: 'POST', path, headers, body: Buffer.from('{}') });
      }
      expect(order).toEqual(['request', 'open', 'close']);
    },
  );

  it('have the time of their request id as startedAt: a request at midnight is of one day', async () => {
    const id = '01a00000-0000-7000-8000-000000000000';
    const { host, requestId } = await call({ parts: { newRequestId: () => id } });
    const close = await host.closeOf(requestId);
    expect(requestId).toBe(id);
    expect(host.events.map((event) => event.kind !== 'untracked' && Date.parse(event.startedAt))).toEqual([
      0x01a000000000, 0x01a000000000,
    ]);
    expect(close.startedAt).toMatch(/^2026-.*Z$/);
  });
});

describe('the route', () => {
  it('bypassed when the queue refuses the open event; the close event is still sent', async () => {
    const { response, host, requestId } = await call({ send: only('open', failing) });
    expect(response.headers['x-service-route']).toBe('bypassed');
    expect(await host.closeOf(requestId)).toMatchObject({ route: 'bypassed' });
    expect(await host.closeOf(requestId)).not.toHaveProperty('isConfirmedLate');
  });

  it('bypassed when the queue does not respond: the headers wait only for the grace period', async () => {
    const { promise, resolve: answerAtLast } = Promise.withResolvers<void>();
    const { response } = await call({ send: only('open', () => promise) });
    answerAtLast();
    expect(response.headers['x-service-route']).toBe('bypassed');
    expect(response.headersMs).toBeGreaterThan(45);
  });

  it('bypassed and confirmed late when the queue responds after the headers have left', async () => {
    const { promise: hasHeaders, resolve: onHeaders } = Promise.withResolvers<void>();
    host = await startGatewayHost({ origin: origin.origin, send: only('open', () => hasHeaders) });
    origin.script = (_request, response) => {
      response.write('first, ');
      void hasHeaders.then(() => setTimeout(() => response.end('last'), 20));
    };
    const headers = { Host: 'xai.gateway.test', 'X-Service-Key': KEYS.active, Authorization: 'x' };
    const response = await ask({ port: host.port, headers, onHeaders });
    expect([response.headers['x-service-route'], response.body.toString()]).toEqual(['bypassed', 'first, last']);
    const close = await host.closeOf(String(response.headers['x-service-request-id']));
    expect([close.route, close.isConfirmedLate]).toEqual(['bypassed', true]);
  });

  it('bypassed when the account store is down and nothing is cached; the key goes along for the recorder', async () => {
    const { response, host, requestId } = await call({}, { 'X-Service-Key': KEYS.storeDown });
    expect(response.headers['x-service-route']).toBe('bypassed');
    expect(await host.closeOf(requestId)).toMatchObject({
      accountId: null,
      keyId: null,
      unverifiedKeyHash: secretHash(KEYS.storeDown),
      route: 'bypassed',
    });
  });
});
