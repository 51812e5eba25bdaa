import { Readable } from 'node:stream';
import { describe, expect, it, jest } from '@jest/globals';
import { isSameModel } from '../../../lambda/domain/limits/access.ts';
import { type Block, type Blocks, type EachLimit, NO_BLOCKS } from '../../../lambda/domain/limits/block.ts';
import type { CloseEvent } from '../../../lambda/domain/usage/usage-event.ts';
import { blockReader } from '../../../lambda/gateway/admission/block-lookup.ts';
import type { KnownValue } from '../../../lambda/gateway/admission/value-lookup.ts';
import type { GatewayParts } from '../../../lambda/gateway/gateway.ts';
import { refusalResponse } from '../../../lambda/gateway/relay/budget-check.ts';
import { ACTIVE, EACH_KEY, fakeExchange, jsonRequest, turn } from '../gateway-fakes.ts';

const TOMORROW = new Date(Date.now() + 86_400_000).toISOString();
const YESTERDAY = new Date(Date.now() - 86_400_000).toISOString();

const block = (changes: Partial<Block> = {}): Block => ({
  id: 'budget-1',
  kind: 'budget',
  name: 'Überziehung',
  scope: {},
  until: TOMORROW,
  amountNanoUsd: 500_000_000_000,
  spentNanoUsd: 501_250_000_000,
  ...changes,
});

const each: EachLimit = { ...EACH_KEY, onUnavailable: 'stop' };

type Lookup = ReturnType<GatewayParts['lookUpBlocks']>;

/** An account whose budgets may stop requests. */
const watched = (blocks: Lookup | Partial<Blocks>, withoutBlocks: 'pass' | 'stop' = 'pass') => ({
  lookUpAccount: () => ({ ...ACTIVE, withoutBlocks }),
  lookUpBlocks: () => (typeof blocks === 'string' || blocks instanceof Promise ? blocks : { ...NO_BLOCKS, ...blocks }),
});

const chat = (body: object, headers: string[] = []) => {
  const request = jsonRequest(body, headers);
  return { ...request, body: Readable.from([request.body]) };
};

const GPT = { model: 'gpt-4o', messages: [] };

const bodyOf = ({ calls }: ReturnType<typeof fakeExchange>) =>
  JSON.parse(String(calls.find(([name]) => name === 'write')?.[1])).error;
const headerOf = ({ headers }: ReturnType<typeof fakeExchange>, name: string) => headers()[headers().indexOf(name) + 1];
const closeOf = ({ closes }: ReturnType<typeof fakeExchange>) => closes()[0] as CloseEvent;

describe('a request of an account whose budget is used up', () => {
  it('gets 429 with the budget, and nothing is forwarded', async () => {
    const refused = fakeExchange(chat(GPT), { parts: watched({ blocks: [block()] }) });
    await refused.finished;
    expect(refused.status()).toBe(429);
    expect(refused.sent).toEqual([]);
    expect(bodyOf(refused)).toMatchObject({
      code: 'BUDGET_EXCEEDED',
      type: 'gateway_error',
      budget: { id: 'budget-1', name: 'Überziehung', amountUsd: 500, spentUsd: 501.25, until: TOMORROW },
    });
    expect(headerOf(refused, 'x-should-retry')).toBe('false');
    const seconds = Number(headerOf(refused, 'Retry-After'));
    expect(seconds).toBeGreaterThan(86_300);
    expect(seconds).toBeLessThanOrEqual(86_400);
    expect(headerOf(refused, 'X-Service-Route')).toBe('governed');
  });

  it('is forwarded without a read of blocks where the account has none', async () => {
    const lookUpBlocks = jest.fn(() => NO_BLOCKS);
    const passed = fakeExchange(chat(GPT), { parts: { lookUpBlocks } });
    await turn();
    expect(passed.sent).toHaveLength(1);
    expect(lookUpBlocks).not.toHaveBeenCalled();
  });

  it('is recorded as refused and free, once', async () => {
    const refused = fakeExchange(chat(GPT), { parts: watched({ blocks: [block()] }) });
    await refused.finished;
    expect(refused.closes()).toHaveLength(1);
    expect(closeOf(refused)).toMatchObject({
      outcome: 'refused',
      blockedBy: 'budget-1',
      status: null,
      overheadMs: null,
      reading: { dialect: 'free', usage: null },
    });
  });

  it('says that it is paused where somebody paused it, without a time to come back', async () => {
    const pause = block({ kind: 'pause', until: null, amountNanoUsd: null, spentNanoUsd: null });
    const refused = fakeExchange({}, { parts: watched({ blocks: [pause] }) });
    await refused.finished;
    expect(bodyOf(refused)).toMatchObject({ code: 'PAUSED', pause: { name: 'Überziehung', until: null } });
    expect(refused.headers()).not.toContain('Retry-After');
  });

  it('is to come back in a second at the earliest, also where its period ends meanwhile', () => {
    const { headers } = refusalResponse(block({ until: TOMORROW }), 'request-1', new Date(TOMORROW));
    expect(headers[headers.indexOf('Retry-After') + 1]).toBe('1');
  });

  it('waits for blocks that are not cached', async () => {
    const refused = fakeExchange(chat(GPT), { parts: watched(Promise.resolve({ ...NO_BLOCKS, blocks: [block()] })) });
    await refused.finished;
    expect(refused.status()).toBe(429);
  });
});

describe('the scope of a block', () => {
  const passes = async (scope: Block['scope'], request: Parameters<typeof fakeExchange>[0] = {}) => {
    const exchange = fakeExchange(request, { parts: watched({ blocks: [block({ scope })] }) });
    await turn();
    return exchange.sent.length === 1;
  };

  it.each<[string, Block['scope'], boolean]>([
    ['another provider', { provider: 'anthropic' }, true],
    ['another tag', { tag: 'day' }, true],
    ['other keys', { keyIds: ['key-2', 'key-3'] }, true],
    ['no key', { keyIds: [] }, true],
    ['another client', { client: 'claude-code' }, true],
    ['another session', { sessionId: 's-1' }, true],
    ['other metadata', { metadata: { team: 'search' } }, true],
    ['one member of two', { provider: 'openai', tag: 'day' }, true],
    ['its provider', { provider: 'openai' }, false],
    ['its key', { keyIds: ['key-2', 'key-1'] }, false],
    ['its tag', { tag: 'night', provider: 'openai' }, false],
  ])('with %s lets a request pass: %p', async (_case, scope, expected) => {
    expect(await passes(scope, chat(GPT, ['X-Service-Tag', 'night']))).toBe(expected);
  });

  it('ends with its time', async () => {
    const exchange = fakeExchange({}, { parts: watched({ blocks: [block({ until: YESTERDAY })] }) });
    await turn();
    expect(exchange.sent).toHaveLength(1);
  });
});

describe('a block of one model', () => {
  const modelBlock = block({ scope: { model: 'gpt-4o-2024-08-06' } });
  const send = async (request: Parameters<typeof fakeExchange>[0]) => {
    const exchange = fakeExchange(request, { parts: watched({ blocks: [modelBlock] }) });
    for (let i = 0; i < 5; i++) await turn();
    return exchange;
  };

  it('stops a request for the model, and the record names it', async () => {
    const refused = await send(chat(GPT));
    expect(refused.status()).toBe(429);
    expect(refused.sent).toEqual([]);
    await refused.finished;
    expect(closeOf(refused).reading.modelRequested).toBe('gpt-4o');
  });

  it('leaves requests for other models as they are', async () => {
    const body = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'é' }] };
    const { sent } = await send(chat(body));
    expect(String(sent[0]?.body)).toBe(JSON.stringify(body));
  });

  it.each([
    ['google', '/v1beta/models/gemini-2.5-pro:generateContent', 'gemini-2.5-pro'],
    // Azure does not read the model of the body.
    ['azure', '/acme/openai/deployments/gpt-4o/chat/completions', 'gpt-4o'],
  ])('finds a model in the path: %s%s', async (label, target, model) => {
    const exchange = fakeExchange(
      { ...chat({ model: 'gpt-4o-mini' }), host: `${label}.gateway.test`, target },
      { parts: watched({ blocks: [block({ scope: { model } })] }) },
    );
    for (let i = 0; i < 5; i++) await turn();
    expect(exchange.status()).toBe(429);
  });

  const access = {
    id: 'r',
    name: 'r',
    scope: {},
    allowed: null,
    denied: [],
    maxRequestUsd: null,
    createdAt: YESTERDAY,
  };
  it.each<[string, string, Partial<Blocks>, number]>([
    ['google', 'models/gemini-2.5-pro', { blocks: [block({ scope: { model: 'gemini-2.5-pro' } })] }, 429],
    ['google', 'models/gemini-2.5-pro', { access: [{ ...access, denied: ['google/gemini-*'] }] }, 403],
    ['google', 'models/gemini-2.5-pro', { access: [{ ...access, allowed: ['google/models/gemini-*'] }] }, 200],
    ['google', 'gemini-2.5-pro', { access: [{ ...access, denied: ['google/models/gemini-*'] }] }, 403],
    ['google', 'models/gemini-2.5-pro', { blocks: [block({ scope: { model: 'models/gemini-2.5-pro' } })] }, 429],
    ['google', 'gemini-2.5-pro', { blocks: [block({ scope: { model: 'models/gemini-2.5-pro' } })] }, 429],
    ['fireworks', 'models/glm', { blocks: [block({ scope: { model: 'glm' } })] }, 200],
    ['fireworks', 'models/glm', { blocks: [block({ scope: { model: 'models/glm' } })] }, 429],
  ])('finds a model of %s that the body names %s', async (label, model, blocks, status) => {
    const request = { ...chat({ model, messages: [] }), host: `${label}.gateway.test`, target: '/v1/chat/completions' };
    const exchange = fakeExchange(request, { parts: watched(blocks) });
    for (let i = 0; i < 5; i++) await turn();
    expect(exchange.sent).toHaveLength(status === 200 ? 1 : 0);
    if (status !== 200) expect(exchange.status()).toBe(status);
  });

  it('leaves requests without a body alone', async () => {
    expect((await send({})).sent).toHaveLength(1);
  });
});

it.each([
  ['gpt-4o', 'gpt-4o-2024-08-06', true],
  ['gpt-4o-2024-08-06', 'gpt-4o', true],
  ['claude-sonnet-4', 'claude-sonnet-4-20250514', true],
  ['claude-sonnet-4', 'claude-sonnet-4@20250514', true],
  ['gpt-4', 'gpt-4-0613', true],
  ['gpt-4o', 'gpt-4o-mini', false],
  ['gpt-4', 'gpt-4.1', false],
  ['gpt-4', 'gpt-4-32k', false],
])('%s and %s are one model: %s', (requested, model, expected) => {
  expect(isSameModel(requested, model)).toBe(expected);
});

describe('next to blocks of a later version, which may be deployed while this gateway runs', () => {
  /** Sends one request. @param later blocks as they are stored */
  const send = async (later: object) => {
    const json = JSON.stringify({ blocks: [], remaining: [], ...later });
    const read = blockReader(async () => ({ Item: { json: { S: json } } }), 'table', 1_000);
    const exchange = fakeExchange(chat(GPT), { parts: watched(read('account')) });
    for (let i = 0; i < 5; i++) await turn();
    return exchange.sent.length === 1 ? 'passed' : exchange.status();
  };
  const rule = { id: 'r', name: 'r', allowed: [], denied: [], maxRequestUsd: null, createdAt: YESTERDAY };

  it.each([
    [
      'a pause of a scope with another member',
      { blocks: [block({ kind: 'pause', scope: { region: 'eu' } as object })] },
    ],
    ['a block of another kind', { blocks: [block({ kind: 'throttle' as 'pause' })] }],
    ['an access rule of a scope with another member', { access: [{ ...rule, scope: { region: 'eu' } }] }],
    ['a limit of each over another period', { each: [{ ...each, period: 'yearly' }] }],
    ['a limit of each of a scope with another member', { each: [{ ...each, scope: { region: 'eu' } }] }],
    ['reservations over another period', { reserved: [{ ...block(), period: 'yearly', limitNanoUsd: 0 }] }],
  ])('a request passes %s', async (_, later) => {
    expect(await send(later)).toBe('passed');
  });

  it.each([
    ['a pause', { blocks: [block({ kind: 'pause', scope: { provider: 'openai' } })] }, 429],
    ['an access rule', { access: [{ ...rule, scope: {} }] }, 403],
    ['a limit of each', { each: [each] }, 503],
  ])('%s without such members stops it', async (_, known, status) => {
    expect(await send({ ...known, quotas: [1] })).toBe(status);
  });
});

describe('a fault of ours in what may stop a request', () => {
  const fault = (): never => {
    throw new TypeError('sk-in-the-message');
  };
  const reserved = (onUnavailable: 'pass' | 'stop') => ({
    ...{ id: 'b', name: 'b', scope: {}, period: 'monthly' as const, amountNanoUsd: 1, limitNanoUsd: 1 },
    ...{ unknownCost: 'pass' as const, onUnavailable },
  });
  const brokenReserve = Object.assign(fault, { mostNanoUsd: fault, release: fault });

  it.each<[string, Partial<Blocks>, Partial<GatewayParts>, 'pass' | 'stop']>([
    ['in a value', { each: [each] }, { lookUpValue: fault }, 'pass'],
    ['in a value that is read', { each: [each] }, { lookUpValue: async () => fault() }, 'pass'],
    ['in a value, of an account that wants a stop', { each: [each] }, { lookUpValue: fault }, 'stop'],
    ['in a block', { blocks: [{ until: null } as Block] }, {}, 'pass'],
    ['in the code that reserves', { reserved: [reserved('pass')] }, {}, 'pass'],
    ['in a reservation', { reserved: [reserved('pass')] }, { loadReserve: async () => brokenReserve }, 'pass'],
    ['in a reservation that a budget wants', { reserved: [reserved('stop')] }, {}, 'stop'],
  ])('is as if it could not be read: %s', async (_, blocks, parts, policy) => {
    const log = jest.spyOn(console, 'error').mockImplementation(() => {});
    const exchange = fakeExchange(chat(GPT), { parts: { ...watched(blocks, policy), ...parts } });
    for (let i = 0; i < 5; i++) await turn();
    const lines = log.mock.calls.map(([line]) => JSON.parse(String(line)));
    log.mockRestore();
    expect(exchange.sent).toHaveLength(policy === 'pass' ? 1 : 0);
    if (policy === 'stop') expect([exchange.status(), bodyOf(exchange).code]).toEqual([503, 'BUDGET_UNKNOWN']);
    else expect(exchange.events[0]).toMatchObject({ kind: 'open', blocksUnread: true });
    expect(lines).toMatchObject([{ message: 'gateway fault' }]);
    expect(JSON.stringify(lines)).not.toContain('sk-');
  });
});

it('a fault of ours in what a client says of itself leaves that out', async () => {
  const log = jest.spyOn(console, 'error').mockImplementation(() => {});
  const trim = jest.spyOn(String.prototype, 'trim').mockImplementation(function (this: string) {
    if (this === 'broken') throw new TypeError('sk-in-the-message');
    return this.replace(/^\s+|\s+$/g, '');
  });
  const exchange = fakeExchange(chat(GPT, ['X-Service-Tag', 'broken']));
  for (let i = 0; i < 5; i++) await turn();
  trim.mockRestore();
  log.mockRestore();
  expect(exchange.sent).toHaveLength(1);
  expect(exchange.events[0]).toMatchObject({ kind: 'open', tag: null });
});

describe('while the blocks cannot be read', () => {
  it('a request passes, and its record says so', async () => {
    const exchange = fakeExchange({}, { parts: watched('unavailable') });
    for (let i = 0; i < 2; i++) await turn();
    expect(exchange.sent).toHaveLength(1);
    expect(exchange.events[0]).toMatchObject({ kind: 'open', blocksUnread: true });
  });

  it('a request stops where the account asked for that', async () => {
    const refused = fakeExchange({}, { parts: watched('unavailable', 'stop') });
    await refused.finished;
    expect([refused.status(), bodyOf(refused).code]).toEqual([503, 'BUDGET_UNKNOWN']);
    expect(refused.headers()).not.toContain('x-should-retry');
    expect(closeOf(refused)).toMatchObject({ outcome: 'refused', blockedBy: null, blocksUnread: true });
  });
});

const respond = (exchange: ReturnType<typeof fakeExchange>) =>
  exchange.provider().onHeaders({ status: 200, statusMessage: 'OK', headers: [] } as never);

describe('what a budget has left', () => {
  it('is on the response, the least of all budgets', async () => {
    const remaining = [
      { id: 'a', scope: {}, until: TOMORROW, nanoUsd: 5_000_000_000 },
      { id: 'b', scope: { provider: 'openai' }, until: TOMORROW, nanoUsd: 1_250_000_001 },
      { id: 'c', scope: { provider: 'groq' }, until: TOMORROW, nanoUsd: 1 },
      { id: 'd', scope: {}, until: YESTERDAY, nanoUsd: 1 },
      { id: 'e', scope: { model: 'gpt-4o' }, until: TOMORROW, nanoUsd: 1 },
    ];
    const exchange = fakeExchange({}, { parts: watched({ remaining }) });
    await turn();
    respond(exchange);
    await turn();
    expect(headerOf(exchange, 'X-Service-Budget-Remaining')).toBe('1.250000001');
  });

  it('is not shown where nobody asked for it', async () => {
    const exchange = fakeExchange({}, { parts: watched({}) });
    await turn();
    respond(exchange);
    await turn();
    expect(exchange.headers()).not.toContain('X-Service-Budget-Remaining');
  });
});

describe('a limit of each', () => {
  const limit: EachLimit = {
    ...EACH_KEY,
    id: 'each-1',
    name: 'Users',
    each: 'dim:user',
    amountNanoUsd: 200e9,
    showsRemaining: true,
    askUrl: 'https://dashboard.example.com/access?ask=each-1',
  };
  const unused: KnownValue = { usedNanoUsd: 0, unpricedRequests: 0, committedNanoUsd: 0, override: null };
  const used = (usd: number, changes: Partial<KnownValue> = {}): KnownValue => ({
    ...unused,
    usedNanoUsd: usd * 1e9,
    ...changes,
  });
  const as = (user: string | undefined) =>
    chat(GPT, user === undefined ? [] : ['X-Service-Metadata', JSON.stringify({ user })]);
  const send = async (
    user: string | undefined,
    known: Readonly<Record<string, KnownValue | 'unavailable'>>,
    changes: Partial<EachLimit> = {},
    withBlocks: Partial<Blocks> = {},
  ) => {
    const looked: (string | null)[] = [];
    const lookUpValue: GatewayParts['lookUpValue'] = async ({ value }) => {
      looked.push(value);
      return known[value ?? '(none)'] ?? unused;
    };
    const parts = { ...watched({ each: [{ ...limit, ...changes }], ...withBlocks }), lookUpValue };
    const exchange = fakeExchange(as(user), { parts });
    await turn();
    return { exchange, looked, isForwarded: exchange.sent.length === 1 };
  };

  it('refuses the value that is at its limit, with what it needs to ask for more, and nobody else', async () => {
    const values = { 'ada&b': used(200.5), bob: used(10) };
    const { exchange, looked } = await send('ada&b', values);
    await exchange.finished;
    expect(exchange.status()).toBe(429);
    expect(bodyOf(exchange)).toMatchObject({
      code: 'BUDGET_EXCEEDED',
      message: expect.stringMatching(
        /“Users” for user ada&b, until .*; ask for more: https:.*ask=each-1&value=ada%26b\)$/,
      ),
      budget: {
        id: 'each-1',
        amountUsd: 200,
        spentUsd: 200.5,
        each: 'dim:user',
        value: 'ada&b',
        askUrl: `${limit.askUrl}&value=ada%26b`,
      },
    });
    expect(looked).toEqual(['ada&b']);
    expect((await send('bob', values)).isForwarded).toBe(true);
  });

  it.each<[string, KnownValue, boolean]>([
    ['more', used(300, { override: { amountNanoUsd: 400e9, until: null } }), true],
    ['more until a time that has passed', used(300, { override: { amountNanoUsd: 400e9, until: YESTERDAY } }), false],
    ['no limit', used(300, { override: { amountNanoUsd: null, until: TOMORROW } }), true],
    ['nothing', used(0, { override: { amountNanoUsd: 0, until: null } }), false],
  ])('lets an override decide: %s', async (_, known, isForwarded) => {
    expect((await send('ada', { ada: known })).isForwarded).toBe(isForwarded);
  });

  it('has no limit for requests without a value, unless somebody gave them one', async () => {
    expect((await send(undefined, { '(none)': used(900) })).isForwarded).toBe(true);
    const some = used(900, { override: { amountNanoUsd: 100e9, until: null } });
    expect((await send(undefined, { '(none)': some })).isForwarded).toBe(false);
    expect((await send('(none)', { '(none)': some })).looked).toEqual(['\\(none)']);
  });

  it('reads the member of a key, and lets a key pass that it does not know yet', async () => {
    const keys = { [ACTIVE.keyId]: { project: 'p', member: 'u1' } };
    const { looked, isForwarded } = await send(undefined, { u1: used(300) }, { each: 'member' }, { keys });
    expect([looked, isForwarded]).toEqual([['u1'], false]);
    for (const each of ['member', 'project'] as const) expect((await send(undefined, {}, { each })).looked).toEqual([]);
  });

  it('shows what it leaves, where budgets leave more, unless it is of one model', async () => {
    const remaining = [{ id: 'a', scope: {}, until: TOMORROW, nanoUsd: 5e9 }];
    for (const [scope, left] of [
      [{}, '2.000000000'],
      [{ model: 'gpt-4o' }, '5.000000000'],
    ] as const) {
      const { exchange } = await send('ada', { ada: used(198) }, { scope }, { remaining });
      respond(exchange);
      await turn();
      expect(headerOf(exchange, 'X-Service-Budget-Remaining')).toBe(left);
    }
  });

  it('gives a group its amount', async () => {
    const group = { source: 'role' as const, name: 'developer', amountNanoUsd: 500e9, values: ['ada'] };
    expect((await send('ada', { ada: used(300) }, { groups: [group] })).isForwarded).toBe(true);
  });

  it('passes or stops where the value cannot be read, as the limit wants, and says so on the record', async () => {
    const { exchange, isForwarded } = await send('ada', { ada: 'unavailable' });
    expect(isForwarded).toBe(true);
    await turn();
    expect(exchange.events[0]).toMatchObject({ blocksUnread: true });
    const stops = { ...limit, onUnavailable: 'stop' } as const;
    for (const each of [[stops], [stops, limit], [limit, stops]]) {
      const stopped = await send('ada', { ada: 'unavailable' }, {}, { each });
      await stopped.exchange.finished;
      expect(bodyOf(stopped.exchange).code).toBe('BUDGET_UNKNOWN');
    }
    const free = { method: 'GET', target: '/v1/models' };
    const parts = { ...watched({ each: [stops] }), lookUpValue: () => 'unavailable' as const };
    const passed = fakeExchange(free, { parts });
    await turn();
    expect(passed.sent).toHaveLength(1);
  });
});
