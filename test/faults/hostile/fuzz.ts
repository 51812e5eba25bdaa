import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { type GatewayHost, KEYS, startGatewayHost } from '../../gateway/gateway-host.ts';
import { SEED } from '../../seed.ts';
import { eventually } from '../eventually.ts';
import { type Random, randomFrom } from '../random.ts';
import { exchangeRaw, statusesOf } from '../raw/raw-client.ts';
import { type RawOrigin, startRawOrigin } from '../raw/raw-origin.ts';
import type { Scale, Scenario, ScenarioGroup } from '../scenario.ts';
import { type TransportName, transports } from '../transports.ts';
import { mutate } from './mutate.ts';

interface Context {
  readonly origin: RawOrigin;
  readonly host: GatewayHost;
  /** Addresses that this process opened connections to, other than the two. */
  readonly strangers: Set<string>;
  /** Errors that nobody caught. */
  readonly uncaught: unknown[];
  stop(): void;
}

const REQUESTS: Record<Scale, number> = { quick: 1_000, full: 50_000 };
const RESPONSES: Record<Scale, number> = { quick: 250, full: 10_000 };
const AT_ONCE = 64;
/** A request that is waiting for more of itself is given up after that. */
const WAIT_MS = 60;

const MARKER = /m\d+x/g;
const markersIn = (text: string): string[] => text.match(MARKER) ?? [];

const keys = [
  KEYS.active,
  KEYS.active,
  KEYS.active,
  KEYS.active,
  KEYS.absent,
  KEYS.inactive,
  KEYS.storeDown,
  'svc_bad',
];
const methods = ['GET', 'GET', 'POST', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH', 'TRACE', 'FOO'];
const targets = ['/v1/models', '/v1/chat/completions', '//evil.test', '/%2e%2e/', '/a?b=c', '*', 'http://evil.test/'];

const requestWith = (marker: string, random: Random): string => {
  const target = random.pick(targets);
  const body = random.pick([
    '',
    '',
    'hello',
    '{"stream":true,"model":"x"}',
    'GET /smuggled HTTP/1.1\r\nHost: e\r\n\r\n',
  ]);
  const framing = random.pick([
    body === '' ? '' : `Content-Length: ${body.length}\r\n`,
    'Transfer-Encoding: chunked\r\n',
  ]);
  const framed = framing.startsWith('T') ? `${body && `${body.length.toString(16)}\r\n${body}\r\n`}0\r\n\r\n` : body;
  const path = target === '*' ? target : `${target}${target.includes('?') ? '&' : '?'}${marker}`;
  return `${random.pick(methods)} ${path} HTTP/1.1\r\nHost: ${random.pick(['openai', 'xai', 'openrouter', 'nobody'])}.gateway.test\r\nX-Service-Key: ${random.pick(keys)}\r\nAuthorization: Bearer sk\r\nX-Marker: ${marker}\r\nContent-Type: application/json\r\n${framing}\r\n${framed}`;
};

/** Sends work side by side, in slices, so that what is kept of each can be looked at and let go. */
const inSlices = async (
  count: number,
  work: (index: number) => Promise<void>,
  afterSlice: () => Promise<void>,
): Promise<void> => {
  for (let from = 0; from < count; from += 2_000) {
    const to = Math.min(count, from + 2_000);
    let next = from;
    const worker = async (): Promise<void> => {
      for (let index = next++; index < to; index = next++) await work(index);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    await afterSlice();
  }
};

const fuzzedRequests: Scenario<Context> = {
  name: 'requests at random',
  run: async ({ origin, host, strangers, uncaught }, scale) => {
    const random = randomFrom(SEED);
    origin.script = (socket, { head }) => {
      const marker = /^x-marker: *(\S+)/im.exec(head)?.[1] ?? 'none';
      const body = head.startsWith('HEAD ') ? '' : marker;
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${marker.length}\r\nX-Echo: ${marker}\r\n\r\n${body}`);
    };
    const seen = new Map<number, number>();
    // Over all slices: what is sent off at the end of one may arrive in the next.
    let arrived = 0;
    let forwarded = 0;
    await inSlices(
      REQUESTS[scale],
      async (index) => {
        const own = `m${index}x`;
        const wellFormed = `GET /v1/next?${own} HTTP/1.1\r\nHost: openai.gateway.test\r\nX-Service-Key: ${KEYS.active}\r\nAuthorization: x\r\nX-Marker: ${own}\r\n\r\n`;
        const text = mutate(requestWith(own, random), random) + (random.below(3) === 0 ? wellFormed : '');
        const until = (response: string): boolean => response.endsWith(own) || /"\}\}$/.test(response);
        const response = await exchangeRaw({ port: host.port, pieces: [text], until, waitMs: WAIT_MS });
        for (const marker of markersIn(response.text))
          assert.ok(text.includes(marker), `seed ${SEED}, request ${index} got the response of ${marker}`);
        for (const status of statusesOf(response.text)) {
          assert.notEqual(status, 500, `seed ${SEED}, request ${index}`);
          seen.set(status, (seen.get(status) ?? 0) + 1);
        }
      },
      async () => {
        // A body that was taken for a request would make the provider see more requests than were forwarded.
        arrived += origin.requests.length;
        forwarded += host.opens().length;
        assert.ok(arrived <= forwarded, `seed ${SEED}: ${arrived} arrived, ${forwarded} were forwarded`);
        for (const { head } of origin.requests)
          assert.deepEqual(
            [...head.matchAll(/^host: *(.*)\r$/gim)].map(([, value]) => value),
            [`127.0.0.1:${origin.port}`],
            `seed ${SEED}`,
          );
        origin.requests.length = 0;
        host.events.length = 0;
      },
    );
    assert.deepEqual([...strangers], [], 'no connection but to the provider');
    assert.deepEqual(uncaught, [], 'no error that nobody caught');
    const counts = [...seen].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
    return `${REQUESTS[scale]} sent, ${forwarded} forwarded (${counts.join(', ')}), seed ${SEED}`;
  },
};

const respondWith = (random: Random): string => {
  const body = random.pick([
    '{"usage":{"prompt_tokens":1}}',
    'data: {"usage":null}\n\ndata: [DONE]\n\n',
    'x'.repeat(500),
  ]);
  const type = random.pick(['application/json', 'text/event-stream', 'audio/mpeg', '']);
  const encoding = random.pick(['', '', 'gzip', 'br', 'zstd', 'deflate, gzip']);
  const framing = random.pick([`Content-Length: ${body.length}`, 'Transfer-Encoding: chunked', 'Connection: close']);
  const framed = framing.startsWith('T') ? `${body.length.toString(16)}\r\n${body}\r\n0\r\nX-Trailer: 1\r\n\r\n` : body;
  return `HTTP/1.1 ${random.pick([200, 200, 204, 304, 400, 429, 500])} OK\r\nContent-Type: ${type}\r\nContent-Encoding: ${encoding}\r\n${framing}\r\n\r\n${framed}`;
};

const fuzzedResponses: Scenario<Context> = {
  name: 'responses at random',
  run: async ({ origin, host, uncaught }, scale) => {
    const random = randomFrom(SEED + 1);
    origin.script = (socket) => {
      socket.write(Buffer.from(mutate(respondWith(random), random), 'latin1'));
      if (random.below(2) === 0) socket.end();
    };
    let responses = 0;
    let finished = 0;
    host.events.length = 0;
    await inSlices(
      RESPONSES[scale],
      async (index) => {
        // The gateway ends every exchange, by its time-outs where the provider does not: nobody has to give up.
        const chat = '{"stream":true,"messages":[]}';
        const { text } = await exchangeRaw({
          port: host.port,
          pieces: [
            `POST /v1/chat/completions HTTP/1.1\r\nHost: openai.gateway.test\r\nX-Service-Key: ${KEYS.active}\r\nAuthorization: x\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: ${chat.length}\r\n\r\n${chat}`,
          ],
        });
        if (text !== '') responses++;
        assert.doesNotMatch(text, /^HTTP\/1\.1 500[\s\S]*INTERNAL/, `seed ${SEED}, response ${index}`);
      },
      async () => {
        const opened = host.opens().map(({ requestId }) => requestId);
        const open = (): number => {
          const closed = new Set(host.closes().map(({ requestId }) => requestId));
          return opened.filter((requestId) => !closed.has(requestId)).length;
        };
        await eventually(() => open() === 0, 'every request is finished');
        finished += opened.length;
        host.events.length = 0;
        origin.requests.length = 0;
      },
    );
    // Some more where requests of the scenario before were still on their way.
    assert.ok(finished >= RESPONSES[scale], `${finished} forwarded and finished`);
    assert.deepEqual(uncaught, [], 'no error that nobody caught');
    return `${RESPONSES[scale]} requests, ${finished} forwarded and finished, ${responses} with a response, seed ${SEED + 1}`;
  },
};

export const fuzzGroup = (transport: TransportName): ScenarioGroup<Context> => ({
  title: `Fuzzing, ${transport}`,
  open: async () => {
    const origin = await startRawOrigin();
    const host = await startGatewayHost({
      origin: origin.origin,
      transport: transports[transport],
      timeouts: { connectTimeoutMs: 1_000, headersTimeoutMs: 1_000, idleTimeoutMs: 1_000 },
    });
    const own = new Set([origin.port, host.port]);
    const strangers = new Set<string>();
    const onSocket = (message: unknown): void => {
      const { socket } = message as { readonly socket: Socket };
      socket.once('connect', () => {
        if (!own.has(socket.remotePort ?? 0)) strangers.add(`${socket.remoteAddress}:${socket.remotePort}`);
      });
    };
    subscribe('net.client.socket', onSocket);
    const uncaught: unknown[] = [];
    const onUncaught = (error: unknown): void => void uncaught.push(error);
    process.on('uncaughtException', onUncaught);
    process.on('unhandledRejection', onUncaught);
    return {
      origin,
      host,
      strangers,
      uncaught,
      stop: () => {
        unsubscribe('net.client.socket', onSocket);
        process.off('uncaughtException', onUncaught);
        process.off('unhandledRejection', onUncaught);
      },
    };
  },
  close: async ({ origin, host, stop }) => {
    stop();
    await host.close();
    await origin.close();
  },
  scenarios: [fuzzedRequests, fuzzedResponses],
});
