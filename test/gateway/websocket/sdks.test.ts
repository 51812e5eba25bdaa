import { once } from 'node:events';
import { connect } from 'node:net';
import { GoogleGenAI, type LiveServerMessage } from '@google/genai';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { OpenAIRealtimeWebSocket } from 'openai/realtime/websocket';
import { ResponsesWS } from 'openai/resources/responses/ws';
import type WebSocket from 'ws';
import { type MockProviders, promptFor, startMockProviders } from '../../../local/mock/providers.ts';
import { type GatewayHost, KEYS, startGatewayHost } from '../gateway-host.ts';
import { type SocketOrigin, startSocketOrigin } from './scripted-socket-origin.ts';

/* The providers' own clients through the gateway. */

let mock: MockProviders;
let live: SocketOrigin;
let host: GatewayHost;

beforeAll(async () => {
  mock = await startMockProviders();
  live = await startSocketOrigin();
  host = await startGatewayHost({
    origin: mock.url,
    proxiesWebSockets: true,
    // The mock knows Gemini Live as v1beta only.
    parts: {
      upstreamOrigins: new Map([
        ['openai', mock.url],
        ['google', live.origin],
        ['xai', live.origin],
      ]),
    },
  });
});
afterAll(async () => {
  await host.close();
  await live.close();
  await mock.stop();
});

const prompt = promptFor('Tell me something.', { inputTokens: 21, outputTokens: 9 });
const HEADERS = { 'X-Service-Key': KEYS.active };

it('Responses over WebSocket with the openai package', async () => {
  const client = new OpenAI({ apiKey: 'sk-test', baseURL: `http://127.0.0.1:${host.port}/gateway/openai/v1` });
  // The client insists on wss.
  const createConnection = (() => connect(host.port, '127.0.0.1')) as never;
  const responses = new ResponsesWS(client, { headers: HEADERS, createConnection });
  const [upgrade] = await once(responses.socket as unknown as WebSocket, 'upgrade');
  const completed = new Promise<{ response: { usage?: object } }>((resolve, reject) => {
    responses.on('response.completed', resolve);
    responses.on('error', reject);
  });
  responses.send({ type: 'response.create', model: 'gpt-4o', input: prompt } as never);
  const { usage } = (await completed).response;
  responses.close();
  const connection = await host.closeOf(upgrade.headers['x-service-request-id']);
  expect(connection).toMatchObject({ outcome: 'completed', reading: { dialect: 'free' } });
  expect(host.closes().filter(({ requestId }) => requestId !== connection.requestId)).toMatchObject([
    { reading: { usage, modelServed: 'gpt-4o', complete: true } },
  ]);
});

it.each([
  ['the path', `/${KEYS.active}`, 'test', {}],
  ['front of the API key', '', `${KEYS.active}:test`, {}],
  ['a header', '', 'test', HEADERS],
])('Gemini Live with @google/genai and the service key in %s', async (_, path, apiKey, headers) => {
  live.handshakes.length = 0;
  const before = host.closes().length;
  const usageMetadata = { promptTokenCount: 21, responseTokenCount: 9, totalTokenCount: 30 };
  live.onSocket = (socket) => {
    const send = (message: object): void => socket.send(Buffer.from(JSON.stringify(message)));
    socket.once('message', () => {
      send({ setupComplete: {} });
      socket.once('message', () => {
        send({ serverContent: { modelTurn: { parts: [{ text: 'Hello' }] } } });
        send({ serverContent: { turnComplete: true }, usageMetadata });
      });
    });
  };
  const client = new GoogleGenAI({
    apiKey,
    httpOptions: { baseUrl: `http://127.0.0.1:${host.port}/gateway/google${path}`, headers },
  });
  let finish: (message: LiveServerMessage) => void = () => {};
  const last = new Promise<LiveServerMessage>((resolve) => {
    finish = resolve;
  });
  const session = await client.live.connect({
    model: 'gemini-live-2.5-flash-preview',
    callbacks: {
      onmessage: (message) => {
        if (message.serverContent?.turnComplete) finish(message);
      },
    },
  });
  session.sendClientContent({ turns: [{ role: 'user', parts: [{ text: prompt }] }], turnComplete: true });
  expect((await last).usageMetadata).toEqual(usageMetadata);
  session.close();
  await host.nthClose(before + 2);
  expect(live.handshakes[0]?.url).toMatch(/^\/ws\/.*\.BidiGenerateContent\?key=test$/);
  expect(host.closes().slice(before)).toMatchObject([
    { provider: 'google', reading: { modelRequested: 'gemini-live-2.5-flash-preview', usage: usageMetadata } },
    { outcome: 'completed', reading: { dialect: 'free' } },
  ]);
});

/** The package insists on wss, which the host of this test does not have. */
const PlainWebSocket = class extends globalThis.WebSocket {
  constructor(url: string | URL, protocols?: ConstructorParameters<typeof globalThis.WebSocket>[1]) {
    super(String(url).replace(/^wss:/, 'ws:'), protocols);
  }
};

it.each([
  ['the path', `/${KEYS.active}/v1`, 'sk-test'],
  ['front of the API key', '/v1', `${KEYS.active}.sk-test`],
])('Realtime as in a browser, by a subprotocol, with the service key in %s', async (_, path, apiKey) => {
  const original = globalThis.WebSocket;
  globalThis.WebSocket = PlainWebSocket;
  try {
    live.handshakes.length = 0;
    const opened = new Promise<void>((resolve) => {
      live.onSocket = (socket) => {
        socket.send(JSON.stringify({ type: 'session.created', session: {} }));
        resolve();
      };
    });
    const client = new OpenAI({ apiKey, baseURL: `http://127.0.0.1:${host.port}/gateway/xai${path}` });
    const before = host.closes().length;
    const realtime = new OpenAIRealtimeWebSocket({ model: 'grok-voice' }, client);
    const created = new Promise((resolve, reject) => {
      realtime.on('session.created', resolve);
      realtime.on('error', reject);
    });
    await opened;
    await created;
    realtime.close();
    await host.nthClose(before + 1);
    expect(live.handshakes[0]?.url).toMatch(/^\/v1\/realtime\?model=grok-voice/);
    expect(live.handshakes[0]?.headers['sec-websocket-protocol']).toMatch(/openai-insecure-api-key\.sk-test/);
    expect(JSON.stringify(live.handshakes[0]?.rawHeaders)).not.toContain('svc_');
  } finally {
    globalThis.WebSocket = original;
  }
});
