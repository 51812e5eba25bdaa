import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import WebSocket, { type ClientOptions } from 'ws';
import { priceRequest } from '../../../fixtures/bundled-prices.ts';
import { NO_BLOCKS } from '../../../lambda/domain/limits/block.ts';
import { timeOfRequestId } from '../../../lambda/domain/usage/request-id.ts';
import { type CloseEvent, usageEventSchema } from '../../../lambda/domain/usage/usage-event.ts';
import { ACTIVE, EACH_KEY } from '../gateway-fakes.ts';
import { bytesAtStandstill, writeAsTaken } from '../gateway-for-tests.ts';
import { type GatewayHost, type HostSettings, KEYS, startGatewayHost } from '../gateway-host.ts';
import { type SocketOrigin, startSocketOrigin } from './scripted-socket-origin.ts';

let origin: SocketOrigin;
let host: GatewayHost;

const HEADERS = {
  'X-Service-Key': KEYS.active,
  'X-Service-Tag': 'voice',
  'X-Service-Metadata': '{"team":"calls"}',
  'Helicone-Session-Id': 'call-7',
  'User-Agent': 'OpenAI/JS 6.49.0',
  Authorization: 'Bearer sk-test',
};
const BELONGS = { tag: 'voice', metadata: { team: 'calls' }, client: 'openai-js', session: { id: 'call-7' } };

const start = (settings: Partial<HostSettings> = {}): Promise<GatewayHost> =>
  startGatewayHost({ origin: origin.origin, proxiesWebSockets: true, ...settings });

beforeAll(async () => {
  origin = await startSocketOrigin({ perMessageDeflate: { threshold: 0 } });
});
afterAll(() => origin.close());
beforeEach(async () => {
  origin.handshakes.length = 0;
  origin.onSocket = () => {};
  origin.onUpgrade = undefined;
  host = await start();
});
afterEach(() => host.close());

const open = (path: string, options: ClientOptions = {}, label = 'openai'): WebSocket =>
  new WebSocket(`ws://127.0.0.1:${host.port}/gateway/${label}${path}`, { headers: HEADERS, ...options });

const usage = {
  total_tokens: 160,
  input_tokens: 100,
  output_tokens: 60,
  input_token_details: {
    text_tokens: 60,
    audio_tokens: 40,
    cached_tokens: 20,
    cached_tokens_details: { text_tokens: 10, audio_tokens: 10 },
  },
  output_token_details: { text_tokens: 20, audio_tokens: 40 },
};

const session = { type: 'session.created', session: { type: 'realtime', model: 'gpt-realtime' } };
const created = (id: string) => ({ type: 'response.created', response: { id, status: 'in_progress', usage: null } });
const done = (id: string) => ({ type: 'response.done', response: { id, status: 'completed', output: [], usage } });

const say = (socket: WebSocket, ...events: object[]): void => {
  for (const event of events) socket.send(JSON.stringify(event));
};

/** The connection's own close event, and those of the responses on it in their order. */
const closesOf = (connectionId: string): { connection: CloseEvent; responses: CloseEvent[] } => {
  const tail = connectionId.slice(19);
  const all = host.closes().filter(({ requestId }) => requestId.endsWith(tail));
  return {
    connection: all.find(({ requestId }) => requestId === connectionId) as CloseEvent,
    responses: all.filter(({ requestId }) => requestId !== connectionId),
  };
};

const idOf = async (socket: WebSocket): Promise<string> => {
  const [response] = await once(socket, 'upgrade');
  return response.headers['x-service-request-id'];
};

/** Opens a connection, and resolves with its events when it has ended. */
const record = async (socket: WebSocket) => {
  socket.on('error', () => {});
  const id = await idOf(socket);
  await host.closeOf(id);
  return closesOf(id);
};

/** The response to a handshake that makes no connection. */
const refusalOf = async (socket: WebSocket) => {
  socket.on('error', () => {});
  const [, response] = await once(socket, 'unexpected-response');
  const { statusCode, statusMessage, headers } = response as IncomingMessage;
  return { statusCode, statusMessage, headers, body: await text(response) };
};

describe('a realtime connection to OpenAI', () => {
  it('is one free record, and each response is one with the usage that its event reports', async () => {
    origin.onSocket = (socket) => {
      say(socket, session, created('resp_1'), { type: 'response.output_audio.delta', delta: 'AAAA' }, done('resp_1'));
      say(socket, created('resp_2'), created('resp_3'), done('resp_3'), done('resp_2'));
      socket.close(1000, 'bye');
    };
    const { connection, responses } = await record(
      open('/v1/realtime?model=gpt-realtime', { perMessageDeflate: false }),
    );
    expect(connection).toMatchObject({
      method: 'WEBSOCKET',
      path: '/v1/realtime',
      status: 101,
      outcome: 'completed',
      route: 'governed',
      ...BELONGS,
      reading: { dialect: 'free' },
    });
    expect(priceRequest(connection).provenance).toBe('free');
    expect(responses).toHaveLength(3);
    for (const response of responses) {
      expect(response).toMatchObject({
        path: '/v1/realtime',
        outcome: 'completed',
        ...BELONGS,
        reading: { usage, complete: true, modelServed: 'gpt-realtime', modelRequested: 'gpt-realtime' },
      });
      // 50 text, 10 cached text, 30 audio, 10 cached audio; 20 text and 40 audio out.
      expect(priceRequest(response)).toMatchObject({
        provenance: 'computed',
        costNanoUsd: 50 * 4_000 + 10 * 400 + 30 * 32_000 + 10 * 400 + 20 * 16_000 + 40 * 64_000,
      });
    }
    for (const event of host.events) expect(usageEventSchema.safeParse(event).error).toBeUndefined();
    expect(host.opens().map(({ requestId }) => requestId)).toEqual([
      connection.requestId,
      ...responses.map(({ requestId }) => requestId).sort(),
    ]);
    for (const { requestId, startedAt } of responses) expect(timeOfRequestId(requestId)).toBe(Date.parse(startedAt));
    const sum = (name: 'responseBytes' | 'requestBytes') =>
      [connection, ...responses].reduce((total, event) => total + event[name], 0);
    expect(sum('responseBytes')).toBeGreaterThan(1_000);
  });

  it('records the transcription of its input with a model and a usage of its own', async () => {
    const transcribed = { type: 'tokens', total_tokens: 22, input_tokens: 13, output_tokens: 9 };
    origin.onSocket = (socket) => {
      say(
        socket,
        { type: 'session.updated', session: { audio: { input: { transcription: { model: 'gpt-4o-transcribe' } } } } },
        {
          type: 'conversation.item.input_audio_transcription.completed',
          item_id: 'item_1',
          transcript: 'Hello',
          usage: { ...transcribed, input_token_details: { text_tokens: 0, audio_tokens: 13 } },
        },
      );
      socket.close();
    };
    const { connection, responses } = await record(open('/v1/realtime?intent=transcription'));
    expect(priceRequest(connection).provenance).toBe('free');
    expect(responses).toHaveLength(1);
    expect(responses[0]).toMatchObject({
      reading: { dialect: 'openai-transcription', modelRequested: 'gpt-4o-transcribe', usage: transcribed },
    });
    expect(priceRequest(responses[0] as CloseEvent)).toMatchObject({
      provenance: 'computed',
      costNanoUsd: 13 * 6_000 + 9 * 10_000,
    });
  });

  it('works with the realtime client of the openai package', async () => {
    origin.onSocket = (socket) => {
      say(socket, session);
      socket.on('message', () => {
        say(socket, created('resp_1'), done('resp_1'));
      });
    };
    const client = new OpenAI({
      apiKey: 'sk-test',
      baseURL: `http://127.0.0.1:${host.port}/gateway/openai/v1`,
      defaultHeaders: HEADERS,
    });
    // The client insists on wss.
    const createConnection = () => connect(host.port, '127.0.0.1');
    const options = { headers: HEADERS, createConnection: createConnection as never };
    const realtime = new OpenAIRealtimeWS({ model: 'gpt-realtime', options }, client);
    const id = idOf(realtime.socket as unknown as WebSocket);
    realtime.on('session.created', () => realtime.send({ type: 'response.create' }));
    await new Promise((resolve) => {
      realtime.on('response.done', resolve);
    });
    realtime.close();
    await host.closeOf(await id);
    const { connection, responses } = closesOf(await id);
    expect(connection.outcome).toBe('completed');
    expect(responses.map(({ reading }) => reading.usage)).toEqual([usage]);
    expect(origin.handshakes[0]?.url).toBe('/v1/realtime?model=gpt-realtime');
  });
});

describe('other connections', () => {
  it('reads Responses over WebSocket by its events', async () => {
    const object = { id: 'resp_1', model: 'gpt-5.2-2025-12-11', service_tier: 'default', background: false };
    origin.onSocket = (socket) => {
      say(
        socket,
        { type: 'response.created', response: { ...object, status: 'in_progress', usage: null } },
        { type: 'response.output_text.delta', delta: 'Hi' },
        {
          type: 'response.completed',
          response: {
            ...object,
            status: 'completed',
            output: [{ type: 'web_search_call', action: { type: 'search' } }],
            usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
          },
        },
      );
      socket.close();
    };
    const { responses } = await record(open('/v1/responses'));
    expect(responses).toHaveLength(1);
    expect(responses[0]?.reading).toMatchObject({
      dialect: 'openai-responses',
      modelServed: 'gpt-5.2-2025-12-11',
      serviceTier: 'default',
      billableItems: { web_search_call: 1 },
      usage: { input_tokens: 10, output_tokens: 5 },
    });
    // The fee of the search, 0.01 USD, too.
    expect(priceRequest(responses[0] as CloseEvent).costNanoUsd).toBe(10 * 1_750 + 5 * 14_000 + 10_000_000);
  });

  const LIVE = '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent';
  const turnUsage = (prompt: number, response: number) => ({
    promptTokenCount: prompt,
    responseTokenCount: response,
    totalTokenCount: prompt + response,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: prompt }],
    responseTokensDetails: [{ modality: 'AUDIO', tokenCount: response }],
  });
  const speech = { serverContent: { modelTurn: { parts: [{ inlineData: { mimeType: 'audio/pcm', data: 'AAAA' } }] } } };

  it('reads Gemini Live by turn, with the model of the client’s first message', async () => {
    origin.onSocket = (socket) => {
      socket.once('message', () => {
        // Gemini sends JSON in binary frames.
        const send = (message: object): void => socket.send(Buffer.from(JSON.stringify(message)));
        send({ setupComplete: {} });
        send(speech);
        send({ ...speech, usageMetadata: turnUsage(373, 10) });
        send({ serverContent: { turnComplete: true }, usageMetadata: turnUsage(373, 23) });
        send(speech);
        send({ serverContent: { turnComplete: true } });
        send({ usageMetadata: turnUsage(413, 22) });
        send(speech);
        send({ serverContent: { turnComplete: true } });
        socket.close();
      });
    };
    const socket = open(LIVE, {}, 'google');
    socket.once('open', () => {
      say(socket, { setup: { model: 'models/gemini-2.5-flash-native-audio-preview-12-2025' } });
    });
    const { connection, responses } = await record(socket);
    expect(priceRequest(connection).provenance).toBe('free');
    expect(responses.map(({ reading }) => reading.usage)).toEqual([turnUsage(373, 23), turnUsage(413, 22), null]);
    expect(responses.map((response) => priceRequest(response))).toMatchObject([
      { provenance: 'computed', costNanoUsd: 373 * 500 + 23 * 12_000 },
      { provenance: 'computed', costNanoUsd: 413 * 500 + 22 * 12_000 },
      { provenance: 'unknown', costNanoUsd: null },
    ]);
    expect(responses[0]?.reading.modelRequested).toBe('gemini-2.5-flash-native-audio-preview-12-2025');
    // Each byte of the client's is on one record.
    expect(responses.map(({ requestBytes }) => requestBytes > 50)).toEqual([true, false, false]);
  });

  it.each([
    ['xai', '/v1/realtime?model=grok-voice-latest'],
    ['mistral', '/v1/audio/transcriptions/realtime'],
    ['openai', '/v1/realtime/translations'],
  ])('records a connection to %s that is not metered as unknown', async (label, path) => {
    origin.onSocket = (socket) => {
      say(socket, session, created('resp_1'), done('resp_1'));
      socket.close();
    };
    const { connection, responses } = await record(open(path, {}, label));
    expect(responses).toEqual([]);
    expect(connection.outcome).toBe('completed');
    expect(priceRequest(connection)).toMatchObject({ provenance: 'unknown', costNanoUsd: null });
  });

  it('records an unreadable connection as unknown', async () => {
    origin.onUpgrade = (_request, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n');
      socket.write('Sec-WebSocket-Accept: x\r\n\r\n');
      socket.end(Buffer.from([0xf1, 0x01, 0x41]));
    };
    await received(raw('/v1/realtime'));
    const connection = await host.nthClose(1);
    expect(connection).toMatchObject({ outcome: 'upstream_aborted', status: 101 });
    expect(priceRequest(connection).provenance).toBe('unknown');
  });
});

const handshake = (path: string, label = 'openai'): string =>
  [
    `GET /gateway/${label}${path} HTTP/1.1`,
    'Host: localhost',
    'Connection: keep-alive, Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    'Sec-WebSocket-Protocol: realtime, beta',
    `X-Service-Key: ${KEYS.active}`,
    'Authorization: Bearer sk-test',
    '',
    '',
  ].join('\r\n');

const raw = (path: string): Socket => {
  const socket = connect(host.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(handshake(path));
  return socket;
};

/** Resolves with everything that a socket receives until its end. */
const received = async (socket: Socket): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  await once(socket, 'close');
  return Buffer.concat(chunks);
};

const ACCEPT =
  'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n';

describe('bytes', () => {
  it('pass unchanged both ways, whatever they are, with what precedes and follows the handshakes', async () => {
    const fromProvider = Buffer.from(Array.from({ length: 200_000 }, (_, i) => (i * 7) & 0xff));
    const fromClient = Buffer.from(Array.from({ length: 200_000 }, (_, i) => (i * 11) & 0xff));
    let atProvider: Promise<Buffer> | undefined;
    origin.onUpgrade = (_request, socket) => {
      atProvider = received(socket);
      // In one write with the handshake.
      socket.end(Buffer.concat([Buffer.from(`${ACCEPT}X-Extra: 1\r\n\r\n`), fromProvider]));
    };
    const client = connect({ port: host.port, host: '127.0.0.1', allowHalfOpen: true });
    const atClient = received(client);
    client.write(Buffer.concat([Buffer.from(handshake('/v1/other?a=%20b')), fromClient.subarray(0, 1_000)]));
    // The rest arrives when the provider's side has ended: half of the connection stays open.
    await once(client, 'end');
    client.end(fromClient.subarray(1_000));
    const answer = await atClient;
    const end = answer.indexOf('\r\n\r\n') + 4;
    const head = answer.toString('latin1', 0, end);
    expect(head).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/);
    expect(head).toMatch(/X-Extra: 1\r\n/);
    expect(head).toMatch(/X-Service-Route: governed\r\nX-Service-Request-Id: [0-9a-f-]{36}\r\n/);
    expect(head).toMatch(/Upgrade: websocket\r\nConnection: Upgrade\r\n/);
    expect(answer.subarray(end).equals(fromProvider)).toBe(true);
    expect((await atProvider)?.equals(fromClient)).toBe(true);
    const [received1] = origin.handshakes;
    expect(received1?.url).toBe('/v1/other?a=%20b');
    expect(received1?.headers).toMatchObject({
      host: origin.origin.slice('http://'.length),
      upgrade: 'websocket',
      connection: 'Upgrade',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      'sec-websocket-protocol': 'realtime, beta',
      authorization: 'Bearer sk-test',
    });
    expect(JSON.stringify(received1?.rawHeaders)).not.toMatch(/x-service|helicone/i);
  });

  it.each([
    ['no compression', false],
    ['compression with context', true],
    ['compression without context', { serverNoContextTakeover: true, clientNoContextTakeover: true }],
  ])('of a real client arrive and are metered: %s', async (_name, perMessageDeflate) => {
    const large = 'x'.repeat(300_000);
    origin.onSocket = (socket) => {
      socket.on('message', (data, isBinary) => {
        socket.send(data, { binary: isBinary });
        // Several fragments, with a ping between them.
        const text = JSON.stringify({ ...done('resp_1'), padding: large });
        say(socket, session, created('resp_1'));
        socket.send(text.slice(0, 1_000), { fin: false });
        socket.ping();
        socket.send(text.slice(1_000, 200_000), { fin: false });
        socket.send(text.slice(200_000), { fin: true });
        socket.close(4_001, 'enough');
      });
    };
    const socket = open('/v1/realtime?model=gpt-realtime', { perMessageDeflate: perMessageDeflate as never });
    const messages: string[] = [];
    let pings = 0;
    socket.on('message', (data) => messages.push(String(data)));
    socket.on('ping', () => {
      pings += 1;
    });
    socket.once('open', () => socket.send(large));
    const closed = once(socket, 'close');
    const { connection, responses } = await record(socket);
    const [code, reason] = await closed;
    expect([code, String(reason)]).toEqual([4_001, 'enough']);
    expect(messages[0]).toBe(large);
    expect(JSON.parse(messages.at(-1) as string)).toMatchObject({ type: 'response.done', padding: large });
    expect(pings).toBe(1);
    expect(connection.outcome).toBe('completed');
    expect(priceRequest(connection).provenance).toBe('free');
    expect(responses.map(({ reading }) => [reading.usage, reading.complete])).toEqual([[usage, true]]);
  });

  it('wait for a slow client: the provider is paused, and memory stays bounded', async () => {
    const total = 48 * 2 ** 20;
    let written = { bytes: 0 };
    origin.onUpgrade = (_request, socket) => {
      socket.write(`${ACCEPT}\r\n`);
      written = writeAsTaken(socket, total);
    };
    const client = raw('/v1/other');
    client.pause();
    const before = process.memoryUsage().arrayBuffers;
    while (written.bytes === 0) await new Promise(setImmediate);
    expect(await bytesAtStandstill(written)).toBeLessThan(total / 2);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * 2 ** 20);
    const everything = received(client);
    client.resume();
    const bytes = await everything;
    expect(bytes.length - bytes.indexOf('\r\n\r\n') - 4).toBe(total);
  });
});

describe('a refused handshake', () => {
  it.each([
    ['without a service key', { Authorization: 'Bearer sk' }, 400, 'MISSING_SERVICE_KEY'],
    ['with an unknown key', { ...HEADERS, 'X-Service-Key': KEYS.absent }, 401, 'INVALID_SERVICE_KEY'],
  ])('%s gets the gateway’s own error and is not recorded', async (_name, headers, status, code) => {
    const refusal = await refusalOf(open('/v1/realtime', { headers: headers as never }));
    expect(refusal.statusCode).toBe(status);
    const requestId = refusal.headers['x-service-request-id'];
    expect(JSON.parse(refusal.body).error).toMatchObject({ code, requestId });
    expect(origin.handshakes).toEqual([]);
    expect(host.events).toEqual([]);
  });

  it('of the provider is passed on as it is, and is free', async () => {
    // More than a socket takes at once.
    const body = JSON.stringify({ error: 'k'.repeat(300_000) });
    origin.onUpgrade = (_request, socket) =>
      socket.end(`HTTP/1.1 401 Nope\r\nX-A: b\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    const { headers, ...refusal } = await refusalOf(open('/v1/realtime'));
    expect(refusal).toEqual({ statusCode: 401, statusMessage: 'Nope', body });
    expect(headers['x-a']).toBe('b');
    const connection = await host.closeOf(headers['x-service-request-id'] as string);
    const responseBytes = body.length;
    expect(connection).toMatchObject({ status: 401, outcome: 'completed', responseBytes, route: 'governed' });
    expect(priceRequest(connection)).toMatchObject({ provenance: 'free', costNanoUsd: 0 });
  });

  it('ends the connection, whatever the client does', async () => {
    const socket = connect(host.port, '127.0.0.1');
    socket.write(handshake('/v1/realtime').replace(KEYS.active, 'svc_no'));
    expect((await received(socket)).toString()).toMatch(/^HTTP\/1\.1 401 /);
  });

  it('gets 502 when the provider cannot be reached', async () => {
    origin.onUpgrade = (_request, socket) => socket.destroy();
    const { statusCode, body } = await refusalOf(open('/v1/realtime'));
    expect([statusCode, JSON.parse(body).error.code]).toEqual([502, 'PROVIDER_ERROR']);
    expect(await host.nthClose(1)).toMatchObject({ status: null, outcome: 'unreachable' });
  });

  it('gets 502 when the provider does not respond in time', async () => {
    await host.close();
    host = await start({ timeouts: { headersTimeoutMs: 50 } });
    origin.onUpgrade = () => {};
    expect((await refusalOf(open('/v1/realtime'))).statusCode).toBe(502);
    expect(await host.nthClose(1)).toMatchObject({ outcome: 'unreachable' });
  });
});

describe('a side that disconnects', () => {
  it('client, during the handshake', async () => {
    let upstreamClosed: Promise<unknown> | undefined;
    const arrived = new Promise<void>((resolve) => {
      origin.onUpgrade = (_request, socket) => {
        upstreamClosed = once(socket, 'end');
        socket.resume();
        resolve();
      };
    });
    const client = raw('/v1/realtime');
    await arrived;
    client.destroy();
    await upstreamClosed;
    expect(await host.nthClose(1)).toMatchObject({
      ...{ status: null, outcome: 'client_aborted', reading: { dialect: 'free' } },
    });
  });

  it.each(['resetAndDestroy', 'destroy'] as const)('client, while a response is made: %s', async (how) => {
    let provider: WebSocket | undefined;
    origin.onSocket = (socket) => {
      provider = socket;
      socket.on('error', () => {});
      say(socket, session, created('resp_1'));
    };
    const socket = open('/v1/realtime');
    const recorded = record(socket);
    let messages = 0;
    await new Promise<void>((resolve) => {
      socket.on('message', () => {
        messages += 1;
        if (messages === 2) resolve();
      });
    });
    const providerClosed = once(provider as WebSocket, 'close');
    (socket as unknown as { _socket: Socket })._socket[how]();
    expect((await providerClosed)[0]).toBe(1_006);
    const { connection, responses } = await recorded;
    expect(connection.outcome).toBe('client_aborted');
    expect(responses).toMatchObject([{ outcome: 'client_aborted', reading: { usage: null, complete: false } }]);
    expect(priceRequest(responses[0] as CloseEvent)).toMatchObject({ provenance: 'unknown', costNanoUsd: null });
  });

  it('provider, while a response is made', async () => {
    origin.onSocket = (socket) => {
      say(socket, session, created('resp_1'), done('resp_1'), created('resp_2'));
      setImmediate(() => socket.terminate());
    };
    const socket = open('/v1/realtime', { perMessageDeflate: false });
    const closed = once(socket, 'close');
    const { connection, responses } = await record(socket);
    expect((await closed)[0]).toBe(1_006);
    expect(connection.outcome).toBe('upstream_aborted');
    expect(responses.map(({ outcome, reading }) => [outcome, reading.usage])).toEqual([
      ['completed', usage],
      ['upstream_aborted', null],
    ]);
  });

  it('client, with a closing handshake while a response is made', async () => {
    const code = new Promise((resolve) => {
      origin.onSocket = (socket) => {
        socket.on('close', resolve);
        say(socket, created('resp_1'));
      };
    });
    const socket = open('/v1/realtime');
    socket.once('message', () => socket.close(4_000));
    const { connection, responses } = await record(socket);
    expect(await code).toBe(4_000);
    expect(connection).toMatchObject({ outcome: 'completed', reading: { dialect: 'free' } });
    expect(responses).toMatchObject([{ outcome: 'client_aborted', reading: { complete: false } }]);
  });

  it('neither, but both are silent for too long', async () => {
    await host.close();
    host = await start({ parts: { webSocketIdleMs: 60 } });
    const socket = open('/v1/realtime');
    const closed = once(socket, 'close');
    await record(socket);
    expect((await closed)[0]).toBe(1_006);
  });

  it('client, while the provider takes nothing of what it sends', async () => {
    await host.close();
    host = await start({ timeouts: { idleTimeoutMs: 600 } });
    origin.onUpgrade = (_request, socket) => socket.write(`${ACCEPT}\r\n`);
    const client = raw('/v1/other');
    await once(client, 'data');
    await bytesAtStandstill(writeAsTaken(client, 48 * 2 ** 20));
    client.destroy();
    expect(await host.nthClose(1)).toMatchObject({ outcome: 'upstream_aborted', status: 101 });
  });

  it('server, which stops', async () => {
    const socket = open('/v1/realtime');
    socket.on('error', () => {});
    await once(socket, 'open');
    const closed = once(socket, 'close');
    await host.close();
    await closed;
    await host.nthClose(1);
    host = await start();
  });

  it('server, which stops: a client that keeps its side open has 5 s', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance', 'Date'] });
    try {
      origin.onUpgrade = (_request, socket) => socket.write(`${ACCEPT}\r\n`);
      const client = connect({ port: host.port, host: '127.0.0.1', allowHalfOpen: true });
      client.write(handshake('/v1/other'));
      await once(client, 'data');
      const frame = once(client, 'data');
      const ended = once(client, 'end');
      const stopped = host.close();
      expect((await frame)[0]).toEqual(Buffer.from([0x88, 2, 0x03, 0xe9]));
      await ended;
      jest.advanceTimersByTime(4_999);
      await new Promise(setImmediate);
      expect(host.closes()).toEqual([]);
      jest.advanceTimersByTime(1);
      await stopped;
      expect(await host.nthClose(1)).toMatchObject({ outcome: 'client_aborted' });
      client.destroy();
    } finally {
      jest.useRealTimers();
    }
    host = await start();
  });
});

it.each([
  ['cannot be read', () => 'unavailable' as const],
  ['has a fault of ours', () => Promise.reject(new TypeError('a fault'))],
])('a connection is made where what may stop it %s, and its record says so', async (_, lookUpValue) => {
  const log = jest.spyOn(console, 'error').mockImplementation(() => {});
  await host.close();
  const lookUpAccount = () => ({ ...ACTIVE, withoutBlocks: 'pass' as const });
  const lookUpBlocks = () => ({ ...NO_BLOCKS, each: [EACH_KEY] });
  host = await start({ parts: { lookUpAccount, lookUpBlocks, lookUpValue } });
  origin.onSocket = (socket) => socket.close();
  const { connection } = await record(open('/v1/realtime'));
  log.mockRestore();
  expect(connection).toMatchObject({ outcome: 'completed', blocksUnread: true });
});

describe('the queue', () => {
  it('that refuses open events makes the connection bypassed, and the close events still arrive', async () => {
    await host.close();
    host = await start({
      send: (event) => (event.kind === 'open' ? Promise.reject(new Error('down')) : Promise.resolve()),
    });
    origin.onSocket = (socket) => {
      say(socket, created('resp_1'), done('resp_1'));
      socket.close();
    };
    const { connection, responses } = await record(open('/v1/realtime?model=gpt-realtime'));
    expect([connection.route, responses[0]?.route]).toEqual(['bypassed', 'bypassed']);
    expect(responses[0]?.reading.usage).toEqual(usage);
  });

  it('that confirms a response after its end leaves it governed', async () => {
    await host.close();
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    let opens = 0;
    host = await start({
      send: async (event) => {
        if (event.kind !== 'open') return;
        opens += 1;
        // The first is the connection's own.
        if (opens > 1) await ended;
      },
    });
    origin.onSocket = (socket) => {
      say(socket, created('resp_1'), done('resp_1'));
      socket.close();
    };
    const socket = open('/v1/realtime?model=gpt-realtime');
    socket.once('message', () => socket.once('message', end));
    const { connection, responses } = await record(socket);
    expect([connection.route, responses[0]?.route]).toEqual(['governed', 'governed']);
  });
});

it('a server that does not proxy WebSockets refuses them with 426', async () => {
  await host.close();
  host = await start({ proxiesWebSockets: false });
  expect((await refusalOf(open('/v1/realtime'))).statusCode).toBe(426);
});

it('another upgrade is an ordinary request', async () => {
  origin.onRequest = (request, response) => response.end(`got ${request.headers.upgrade}`);
  const client = connect(host.port, '127.0.0.1');
  client.write(
    handshake('/v1/models')
      .replace('Upgrade: websocket', 'Upgrade: h2c')
      .replace('keep-alive, Upgrade', 'Upgrade, close')
      .replace(/Sec-.*\r\n/g, ''),
  );
  expect((await received(client)).toString()).toContain('got undefined');
});
