import { once } from 'node:events';
import type { Socket } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { WebSocket } from 'ws';
import { priceRequest } from '../../fixtures/bundled-prices.ts';
import type { AccessRule } from '../../lambda/domain/limits/access.ts';
import { type Block, NO_BLOCKS } from '../../lambda/domain/limits/block.ts';
import type { CloseEvent } from '../../lambda/domain/usage/usage-event.ts';
import type { AccountLookup, KeyOwner } from '../../lambda/gateway/admission/account-lookup.ts';
import { type MockProviders, startMockProviders } from '../../local/mock/providers.ts';
import { ACTIVE } from './gateway-fakes.ts';
import { type GatewayHost, type HostSettings, KEYS, startGatewayHost } from './gateway-host.ts';
import { type SocketOrigin, startSocketOrigin } from './websocket/scripted-socket-origin.ts';

/* What a key may call, over HTTP, with the providers' own SDKs. */

let mock: MockProviders;
let host: GatewayHost;
let rules: readonly AccessRule[] = [];
let blocks: readonly Block[] = [];
let owner: ReturnType<AccountLookup>;
let areBlocksRead = true;
let loads = 0;

const rule = (changes: Partial<AccessRule>): AccessRule => ({
  id: 'rule-1',
  name: 'Team defaults',
  scope: {},
  allowed: null,
  denied: [],
  maxRequestUsd: null,
  createdAt: '2026-11-20T00:00:00.000Z',
  ...changes,
});

const ACCOUNT: KeyOwner = { ...ACTIVE, withoutBlocks: 'pass', projectId: 'search', ownerRole: 'member' };

let live: SocketOrigin;
let sockets: GatewayHost;
/** Messages that the provider of `sockets` got. */
const arrived: string[] = [];

const parts: HostSettings['parts'] = {
  lookUpAccount: () => owner,
  lookUpBlocks: () => (areBlocksRead ? { ...NO_BLOCKS, blocks, access: rules } : 'unavailable'),
  loadReserve: async () => {
    loads += 1;
    const reserve = await import('../../lambda/gateway/relay/reserve.ts');
    return reserve.openReserve(async () => ({}), 'table', 500);
  },
};

beforeAll(async () => {
  mock = await startMockProviders();
  host = await startGatewayHost({ origin: mock.url, parts });
  live = await startSocketOrigin({ perMessageDeflate: { threshold: 0 } });
  live.onSocket = (socket) =>
    socket.on('message', (data) => {
      const message = String(data);
      arrived.push(message);
      const [id = 'a', isWhole] = /(?<=id=)(\w)( whole)?/.exec(message)?.slice(1) ?? [];
      socket.send(JSON.stringify({ type: 'response.created', response: { id, model: 'gpt-4o-2024-08-06' } }));
      if (isWhole) socket.send(JSON.stringify({ type: 'response.completed', response: { id, usage: {} } }));
    });
  sockets = await startGatewayHost({
    origin: live.origin,
    proxiesWebSockets: true,
    parts: { ...parts, webSocketJudgeMs: 30 },
  });
});
beforeEach(() => {
  rules = [];
  blocks = [];
  owner = ACCOUNT;
  areBlocksRead = true;
  arrived.length = 0;
});
afterAll(async () => {
  await host.close();
  await sockets.close();
  await live.close();
  await mock.stop();
});

const base = (label: string) => `http://127.0.0.1:${host.port}/gateway/${label}`;
const headers = { 'X-Service-Key': KEYS.active };
const openai = (label = 'openai') =>
  new OpenAI({ baseURL: `${base(label)}/v1`, apiKey: 'sk-test', defaultHeaders: headers });
const messages = [{ role: 'user' as const, content: 'Hello' }];
const chat = (model: string, more: object = {}, label = 'openai') =>
  openai(label).chat.completions.create({ model, messages, max_tokens: 5, ...more });
const accessOf = async (response: Response) => ((await response.json()) as { error: { access: object } }).error.access;
/** Bytes that no SDK sends. */
const post = (path: string, body: string | Buffer, more: object = {}, label = 'openai') =>
  fetch(`${base(label)}${path}`, {
    method: 'POST',
    headers: { ...headers, Authorization: 'Bearer sk-test', 'Content-Type': 'application/json', ...more },
    body,
  });

const open = (path: string, label = 'openai'): WebSocket => {
  const url = `ws://127.0.0.1:${sockets.port}/gateway/${label}${path}`;
  const socket = new WebSocket(url, { headers: { ...headers, Authorization: 'Bearer sk-test' } });
  return socket.on('error', () => {});
};

const LIVE = '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent';

describe('a key that may call some models', () => {
  it('gets the error of the OpenAI SDK for another one, with what it may call, once', async () => {
    rules = [rule({ allowed: ['openai/gpt-4o-mini', 'anthropic/claude-haiku-*'] })];
    const before = host.closes().length;
    const error = await chat('gpt-4o').catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(OpenAI.PermissionDeniedError);
    expect(error).toMatchObject({
      status: 403,
      code: 'MODEL_NOT_ALLOWED',
      error: {
        access: {
          id: 'rule-1',
          name: 'Team defaults',
          provider: 'openai',
          models: ['gpt-4o'],
          allowed: ['openai/gpt-4o-mini', 'anthropic/claude-haiku-*'],
          denied: [],
          maxRequestUsd: null,
        },
      },
    });
    expect((error as Error).message).toContain('“Team defaults” allows openai/gpt-4o-mini, anthropic/claude-haiku-*');
    expect(await host.nthClose(before + 1)).toMatchObject({
      outcome: 'refused',
      blockedBy: 'rule-1',
      status: null,
      reading: { dialect: 'free', modelRequested: 'gpt-4o' },
    });
    // SDKs send a refused request once.
    expect(host.closes()).toHaveLength(before + 1);
  });

  it('gets the error of the Anthropic SDK, too', async () => {
    rules = [rule({ denied: ['*/claude-opus*'] })];
    const client = new Anthropic({ baseURL: base('anthropic'), apiKey: 'sk-ant-test', defaultHeaders: headers });
    const error = await client.messages
      .create({ model: 'claude-opus-4-5', max_tokens: 5, messages })
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(Anthropic.PermissionDeniedError);
    expect((error as Error).message).toContain('“Team defaults” denies */claude-opus*');
  });

  it.each<[string, Partial<AccessRule>, string, boolean]>([
    ['an allowed one', { allowed: ['openai/gpt-4o'] }, 'gpt-4o', true],
    ['a dated version', { allowed: ['openai/gpt-4o'] }, 'gpt-4o-2024-08-06', true],
    ['a longer name', { allowed: ['openai/gpt-4o'] }, 'gpt-4o-mini', false],
    ['a pattern', { allowed: ['openai/gpt-4o*'] }, 'gpt-4o-mini', true],
    ['a pattern whose ends overlap', { allowed: ['openai/gpt-4o*4o'] }, 'gpt-4o', false],
    ['a pattern in the middle', { allowed: ['openai/*4o*i'] }, 'gpt-4o-mini', true],
    ['all of the provider', { allowed: ['openai/*'] }, 'anything', true],
    ['another provider only', { allowed: ['anthropic/*'] }, 'gpt-4o', false],
    ['nothing', { allowed: [] }, 'gpt-4o', false],
    ['a denied one', { denied: ['openai/gpt-4o'] }, 'gpt-4o', false],
    ['a denied one in other letters', { denied: ['openai/gpt-4o'] }, 'GPT-4o', false],
    ['one that is not denied', { denied: ['openai/o1*', 'anthropic/*'] }, 'gpt-4o', true],
    ['a denied one of those allowed', { allowed: ['openai/*'], denied: ['*/gpt-4o'] }, 'gpt-4o', false],
    ['a denied provider', { denied: ['openai/*'] }, 'gpt-4o', false],
    ['a rule of its project', { scope: { project: 'search' }, denied: ['openai/*'] }, 'gpt-4o', false],
    ['a rule of another project', { scope: { project: 'other' }, denied: ['openai/*'] }, 'gpt-4o', true],
    ['a rule of its role', { scope: { role: 'member' }, denied: ['openai/*'] }, 'gpt-4o', false],
    ['a rule of another role', { scope: { role: 'admin' }, denied: ['openai/*'] }, 'gpt-4o', true],
    ['a rule of another key', { scope: { key: 'key-9' }, denied: ['openai/*'] }, 'gpt-4o', true],
  ])('calls, or not: %s', async (_case, changes, model, passes) => {
    rules = [rule(changes)];
    const status = await chat(model).then(
      () => 200,
      (error: { status?: number }) => error.status,
    );
    expect(status).toBe(passes ? 200 : 403);
  });

  it('needs the permission of every rule that it has', async () => {
    rules = [rule({ allowed: ['openai/gpt-4o*'] }), rule({ id: 'rule-2', denied: ['openai/gpt-4o'] })];
    await expect(chat('gpt-4o')).rejects.toMatchObject({ status: 403, error: { access: { id: 'rule-2' } } });
    expect((await chat('gpt-4o-mini')).choices).toHaveLength(1);
  });

  it('may call none of a request’s models that it may not', async () => {
    rules = [rule({ allowed: ['openrouter/openai/*'] })];
    const body = { model: 'openai/gpt-4o', messages, models: ['openai/gpt-4o', 'anthropic/claude-opus-4'] };
    const refused = await post('/api/v1/chat/completions', JSON.stringify(body), {}, 'openrouter');
    expect([refused.status, await accessOf(refused)]).toMatchObject([
      403,
      { models: ['openai/gpt-4o', 'openai/gpt-4o', 'anthropic/claude-opus-4'] },
    ]);
  });

  it('may call none that a second member names, however it is written', async () => {
    rules = [rule({ allowed: ['openai/gpt-4o-mini'] })];
    const written = (name: string) => `{"model":"gpt-4o-mini","messages":[],"${name}":"gpt-4o"}`;
    for (const name of ['model', 'mod\\u0065l', '\\u006d\\u006f\\u0064\\u0065\\u006c'])
      expect([name, (await post('/v1/chat/completions', written(name))).status]).toEqual([name, 403]);
    expect((await post('/v1/chat/completions', written('name'))).status).not.toBe(403);
  });

  it('is refused where the gateway cannot read the model, unless all of the provider is allowed', async () => {
    rules = [rule({ allowed: ['openai/gpt-4o'] })];
    const unread = await post('/v1/chat/completions', 'no JSON');
    expect([unread.status, await accessOf(unread)]).toMatchObject([403, { models: [] }]);
    rules = [rule({ allowed: ['openai/*'] })];
    expect((await post('/v1/chat/completions', 'no JSON')).status).not.toBe(403);
    rules = [rule({ denied: ['openai/gpt-4o'] })];
    expect((await post('/v1/chat/completions', 'no JSON')).status).not.toBe(403);
  });

  it('is judged by the model in the path, without the body being read', async () => {
    rules = [rule({ allowed: ['google/gemini-2.5-flash'] })];
    const call = (model: string) =>
      post(`/v1beta/models/${model}:generateContent`, JSON.stringify({ contents: [] }), {}, 'google');
    expect((await call('gemini-2.5-pro')).status).toBe(403);
    expect((await call('gemini-2.5-flash')).status).not.toBe(403);
    rules = [rule({ denied: ['google/gemini-2.5-pro'] })];
    for (const model of ['gemini-2.5-pro', 'gemini-2.5-pr%6f', '%67emini%2D2.5-pro'])
      expect([model, (await call(model)).status]).toEqual([model, 403]);
    expect((await call('gemini%')).status).not.toBe(403);
  });

  it('may read what costs nothing, but not from a provider that it may not call', async () => {
    rules = [rule({ allowed: ['openai/gpt-4o'] })];
    const list = (label: string) =>
      fetch(`${base(label)}/v1/models`, { headers: { ...headers, Authorization: 'Bearer sk-test' } });
    expect((await list('openai')).status).not.toBe(403);
    expect((await list('mistral')).status).toBe(403);
  });

  it.each(['model=gpt-4o-realtime', 'model=gpt-realtime&model=gpt-4o-realtime'])(
    'is refused a WebSocket of another model: %s',
    async (query) => {
      rules = [rule({ allowed: ['openai/gpt-realtime'] })];
      const [, response] = await once(open(`/v1/realtime?${query}`), 'unexpected-response');
      expect(response.statusCode).toBe(403);
    },
  );

  const VERTEX = '/us-central1/ws/google.cloud.aiplatform.v1.LlmBidiService/BidiGenerateContent';
  const create = (model?: string) => JSON.stringify({ type: 'response.create', model, input: 'x'.repeat(100_000) });
  const setup = (model?: string) => JSON.stringify({ setup: { model, systemInstruction: 'x'.repeat(100_000) } });
  const inFull = 'projects/p/locations/l/publishers/google/models/gemini-live-2.5';

  it.each([
    ['google', `${LIVE}?key=a`, setup('gemini-live-2.5')],
    ['google', `${LIVE}?key=a&model=gemini-2.5-flash`, setup('models/gemini-live-2.5')],
    ['google', LIVE, setup('publishers/google/models/Gemini-Live-2.5')],
    ['google', LIVE, setup(inFull)],
    ['vertex', VERTEX, setup(inFull)],
    ['openai', '/v1/responses', create('gpt-4o')],
    ['openai', '/v1/responses?model=gpt-4o-mini', create('gpt-4o')],
    ['openai', '/v1/responses', '{"type":"response.create","model":"gpt-4o","mod\\u0065l":"gpt-4o-mini"}'],
    ['xai', '/v1/responses', create('gpt-4o')],
  ])('is refused a denied model that a message on a WebSocket names: %s %s', async (label, path, message) => {
    rules = [rule({ denied: ['*/gemini-live*', '*/gpt-4o'] })];
    const before = sockets.closes().length;
    const socket = open(path, label);
    await once(socket, 'open');
    socket.send(message);
    const [code, reason] = await once(socket, 'close');
    const text = 'MODEL_NOT_ALLOWED: “Team defaults” denies */gemini-live*, */gpt-4o';
    expect([code, String(reason)]).toEqual([1_008, text]);
    expect(await sockets.nthClose(before + 1)).toMatchObject({
      ...{ provider: label, status: 101, outcome: 'refused', blockedBy: 'rule-1' },
      reading: { modelRequested: expect.stringMatching(/^(gemini-live-2.5|gpt-4o(-mini)?)$/i) },
    });
    expect(arrived).toEqual([]);
    expect(sockets.closes()).toHaveLength(before + 1);
  });

  it.each([
    ['google', LIVE, setup],
    ['openai', '/v1/responses', create],
  ])('uses an allowed one on a WebSocket until a message names another, or none: %s', async (label, path, message) => {
    rules = [rule({ allowed: ['*/gpt-4o-mini'] })];
    const cases = [[message('gpt-4o-mini'), message('gpt-4o')], [message()], ['{}', message('gpt-4o')]] as const;
    for (const messages of cases) {
      arrived.length = 0;
      const socket = open(path, label);
      await once(socket, 'open');
      const closed = once(socket, 'close');
      for (const [i, each] of messages.entries()) {
        if (i > 0) await once(socket, 'message');
        socket.send(each);
      }
      expect((await closed)[0]).toBe(1_008);
      expect(arrived).toEqual(messages.slice(0, -1));
    }
  });

  it('reads in @google/genai why its session ends', async () => {
    rules = [rule({ denied: ['google/gemini-live*'] })];
    const baseUrl = `http://127.0.0.1:${sockets.port}/gateway/google`;
    const client = new GoogleGenAI({ apiKey: 'test', httpOptions: { baseUrl, headers } });
    const before = sockets.closes().length;
    const connected = client.live.connect({
      model: 'gemini-live-2.5-flash-preview',
      callbacks: { onmessage: () => {} },
    });
    await expect(connected).rejects.toThrow('1008): MODEL_NOT_ALLOWED: “Team defaults” denies google/gemini-live*');
    await sockets.nthClose(before + 1);
  });

  it('loses the response that runs on a WebSocket to one of a denied model: its cost is unknown', async () => {
    rules = [rule({ denied: ['openai/gpt-4o'] })];
    const socket = open('/v1/responses');
    const [{ headers: got }] = await once(socket, 'upgrade');
    const id = got['x-service-request-id'] as string;
    socket.send(create('gpt-4o-mini'));
    await once(socket, 'message');
    socket.send(create('gpt-4o'));
    expect((await once(socket, 'close'))[0]).toBe(1_008);
    expect((await sockets.closeOf(id)).outcome).toBe('refused');
    const ended = sockets.closes().filter(({ requestId }) => requestId !== id && requestId.endsWith(id.slice(19)));
    expect(ended.map(({ outcome }) => outcome)).toEqual(['upstream_aborted']);
    expect(priceRequest(ended[0] as CloseEvent)).toMatchObject({ provenance: 'unknown', costNanoUsd: null });
  });

  it('is refused on a WebSocket a model whose budget is used up, until the budget’s period ends', async () => {
    let until = new Date(Date.now() + 3_600_000).toISOString();
    blocks = [
      {
        ...{ id: 'budget-1', name: 'Voice '.repeat(40), kind: 'budget', scope: { model: 'gpt-4o' } },
        ...{ amountNanoUsd: 1, spentNanoUsd: 1 },
        get until() {
          return until;
        },
      },
    ];
    const [refused, waiting] = [open('/v1/responses'), open('/v1/responses')];
    await Promise.all([once(refused, 'open'), once(waiting, 'open')]);
    refused.send(create('gpt-4o-2024-08-06'));
    const [code, reason] = await once(refused, 'close');
    expect([code, String(reason)]).toEqual([1_008, expect.stringMatching(/^BUDGET_EXCEEDED: “Voice Voice .*…$/)]);
    expect(Buffer.byteLength(reason)).toBeLessThanOrEqual(123);
    until = new Date().toISOString();
    waiting.send(create('gpt-4o'));
    await once(waiting, 'message');
    waiting.close();
    expect(arrived).toEqual([create('gpt-4o')]);
  });
});

describe('what changes while a WebSocket is open', () => {
  const create = (input: string, model = 'gpt-4o') => JSON.stringify({ type: 'response.create', model, input });
  const complete = (socket: WebSocket, input: string, model?: string): Promise<void> => {
    socket.send(create(input, model));
    return new Promise((resolve) => {
      socket.on('message', (data) => String(data).includes('response.completed') && resolve());
    });
  };
  const pause: Block = {
    id: 'pause-1',
    name: 'Stop',
    kind: 'pause',
    scope: {},
    until: null,
    amountNanoUsd: null,
    spentNanoUsd: null,
  };

  it.each<[string, string | null, () => void]>([
    [
      'PAUSED: “Stop”',
      'pause-1',
      () => {
        blocks = [pause];
      },
    ],
    [
      'PAUSED: “Stop”',
      'pause-1',
      () => {
        blocks = [{ ...pause, scope: { model: 'gpt-4o' } }];
      },
    ],
    [
      'MODEL_NOT_ALLOWED: “Team defaults” denies openai/gpt-4o',
      'rule-1',
      () => {
        rules = [rule({ denied: ['openai/gpt-4o'] })];
      },
    ],
    [
      'INVALID_SERVICE_KEY: No account has',
      null,
      () => {
        owner = 'no-such-key';
      },
    ],
    [
      'INVALID_SERVICE_KEY: No account has',
      null,
      () => {
        owner = { ...ACCOUNT, validUntilMs: Date.now() };
      },
    ],
    [
      'ACCOUNT_INACTIVE: This account is',
      null,
      () => {
        owner = { ...ACCOUNT, active: false };
      },
    ],
    [
      'BUDGET_UNKNOWN: The gateway',
      null,
      () => {
        owner = { ...ACCOUNT, withoutBlocks: 'stop' };
        areBlocksRead = false;
      },
    ],
  ])('ends it after the response that runs: %s %s', async (reason, blockedBy, change) => {
    const socket = open('/v1/responses');
    const [{ headers: got }] = await once(socket, 'upgrade');
    const id = got['x-service-request-id'] as string;
    const received: string[] = [];
    socket.on('message', (data) => received.push(JSON.parse(String(data)).type));
    socket.send(create('id=a'));
    await once(socket, 'message');
    change();
    socket.send(create('id=a whole'));
    const [code, text] = await once(socket, 'close');
    expect([code, String(text)]).toEqual([1_008, expect.stringContaining(reason)]);
    expect(received.at(-1)).toBe('response.completed');
    expect(await sockets.closeOf(id)).toMatchObject({ status: 101, outcome: 'refused', blockedBy });
    const ended = sockets.closes().filter(({ requestId }) => requestId !== id && requestId.endsWith(id.slice(19)));
    expect(ended.map(({ outcome }) => outcome)).toEqual(['completed']);
  });

  it('waits for all responses that run, and keeps it where nothing forbids it or the table is down', async () => {
    const socket = open('/v1/responses');
    await once(socket, 'open');
    const closed = once(socket, 'close');
    owner = 'unavailable';
    await complete(socket, 'id=a whole');
    owner = ACCOUNT;
    await complete(socket, 'id=b whole');
    socket.send(create('id=c'));
    await once(socket, 'message');
    blocks = [pause];
    await complete(socket, 'id=d whole');
    expect(socket.readyState).toBe(WebSocket.OPEN);
    socket.send(create('id=c whole'));
    expect((await closed)[0]).toBe(1_008);
  });

  it('waits for what the provider begins while the key is read, and keeps what the client sends from it', async () => {
    const { onSocket } = live;
    const { promise, resolve: provide } = Promise.withResolvers<WebSocket>();
    live.onSocket = (socket, ...rest) => {
      onSocket(socket, ...rest);
      provide(socket);
    };
    const socket = open('/v1/responses');
    const [provider] = await Promise.all([promise, once(socket, 'open')]);
    live.onSocket = onSocket;
    const received: string[] = [];
    socket.on('message', (data) => received.push(JSON.parse(String(data)).type));
    const closed = once(socket, 'close');
    const reads = [Promise.withResolvers<'no-such-key'>(), Promise.withResolvers<'no-such-key'>()] as const;
    const resolveRead = async (index: 0 | 1) => {
      for (let n = 0; n < 20; n++) await new Promise(setImmediate);
      reads[index].resolve('no-such-key');
      for (let n = 0; n < 20; n++) await new Promise(setImmediate);
    };
    owner = reads[0].promise;
    await complete(socket, 'id=a whole');
    provider.send(JSON.stringify(created('b')));
    await once(socket, 'message');
    await resolveRead(0);
    owner = reads[1].promise;
    provider.send(JSON.stringify({ type: 'response.completed', response: { id: 'b' } }));
    await once(socket, 'message');
    await new Promise((sent) => socket.send(create('id=c'), sent));
    await resolveRead(1);
    expect((await closed)[0]).toBe(1_008);
    expect(received.at(-1)).toBe('response.completed');
    expect(arrived).toEqual([create('id=a whole')]);
  });

  const usage = { usageMetadata: { totalTokenCount: 5 } };
  const created = (id: string) => ({ type: 'response.created', response: { id } });
  const tooLong = { type: 'response.done', response: { id: 'a', output: Array(5_000).fill({ type: 'message' }) } };

  /** The connection below a WebSocket. */
  const bytesOf = (socket: WebSocket): Socket => (socket as unknown as { _socket: Socket })._socket;

  it.each<[string, string, object[]]>([
    ['xai', '/v1/realtime?model=grok-voice-latest', [created('a')]],
    ['openai', '/v1/live/sessions?model=gpt-live-1', [{ type: 'session.started', session: { model: 'gpt-live-1' } }]],
    ['openai', '/v1/realtime/translations?model=gpt-realtime-translate', [created('a')]],
    ['google', LIVE, [usage, usage]],
    ['openai', '/v1/realtime?model=gpt-realtime', [created('a'), tooLong, created('b')]],
  ])('ends it between frames where responses do not show their ends: %s %s', async (label, path, messages) => {
    const { onSocket } = live;
    const { promise, resolve: provide } = Promise.withResolvers<Socket>();
    live.onSocket = (socket) =>
      socket.on('message', () => {
        for (const message of messages) socket.send(JSON.stringify(message), { compress: false });
        provide(bytesOf(socket));
      });
    const socket = open(path, label);
    const received: string[] = [];
    const hasAll = new Promise((resolve) => {
      socket.on('message', (data) => received.push(String(data)) === messages.length && resolve(undefined));
    });
    const [{ headers: got }] = await once(socket, 'upgrade');
    const closed = once(socket, 'close');
    socket.send('{"setup":{"model":"models/gemini-3.5-live-translate-preview"}}');
    const provider = await promise;
    await hasAll;
    const begun = once(bytesOf(socket), 'data');
    provider.write(Buffer.from('\x81\x05he', 'latin1'));
    await begun;
    blocks = [pause];
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(socket.readyState).toBe(WebSocket.OPEN);
    provider.write('llo');
    const [code, reason] = await closed;
    live.onSocket = onSocket;
    expect([code, String(reason)]).toEqual([1_008, 'PAUSED: “Stop”']);
    expect(received).toEqual([...messages.map((message) => JSON.stringify(message)), 'hello']);
    const id = got['x-service-request-id'] as string;
    expect(await sockets.closeOf(id)).toMatchObject({ outcome: 'refused', blockedBy: 'pause-1' });
  });

  it('ends it where the model that no address named is refused', async () => {
    const socket = open('/v1/realtime');
    const closed = once(socket, 'close');
    rules = [rule({ denied: ['openai/gpt-4o'] })];
    await once(socket, 'open');
    socket.send(create('id=a whole'));
    expect(String((await closed)[1])).toBe('MODEL_NOT_ALLOWED: “Team defaults” denies openai/gpt-4o');
  });

  it('judges the next message by the rules of then', async () => {
    rules = [rule({ denied: ['openai/gpt-4o'] })];
    const socket = open('/v1/responses');
    await once(socket, 'open');
    const closed = once(socket, 'close');
    rules = [];
    await complete(socket, 'id=a whole', 'gpt-4o-mini');
    rules = [rule({ denied: ['openai/gpt-5'] })];
    await complete(socket, 'id=b whole');
    socket.send(create('id=c whole', 'gpt-5'));
    expect(String((await closed)[1])).toBe('MODEL_NOT_ALLOWED: “Team defaults” denies openai/gpt-5');
    expect(arrived).toHaveLength(2);
  });
});

describe('a highest price of a request', () => {
  it('refuses one that may cost more, says how much, and passes what asks for less', async () => {
    rules = [rule({ maxRequestUsd: 0.001 })];
    // As a floating-point product, its price in USD times 1e9 is less than the price in nano-USD.
    const more = { max_tokens: 372 };
    const error = await chat('gpt-4o', more).catch((caught: unknown) => caught);
    expect(error).toMatchObject({
      status: 403,
      code: 'MODEL_NOT_ALLOWED',
      error: { access: { maxRequestUsd: 0.001 } },
    });
    const { neededUsd } = (error as { error: { access: { neededUsd: number } } }).error.access;
    expect(neededUsd).toBeGreaterThan(0.003);
    expect((error as Error).message).toContain('send max_tokens to lower that');
    expect((await chat('gpt-4o', { max_tokens: 5 })).choices).toHaveLength(1);
    rules = [rule({ maxRequestUsd: neededUsd })];
    expect((await chat('gpt-4o', more)).choices).toHaveLength(1);
  });

  it('passes a request whose price is not known', async () => {
    rules = [rule({ maxRequestUsd: 0.001 })];
    expect((await chat('my-own-model', { max_tokens: 1_000_000 })).choices).toHaveLength(1);
  });

  it('is not asked for where a request starts nothing', async () => {
    rules = [rule({ maxRequestUsd: 0.001 })];
    const before = loads;
    expect((await post('/v1/moderations', '{"input":"Hello"}')).status).not.toBe(403);
    expect(loads).toBe(before);
  });
});
