import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { NO_BLOCKS } from '../../../lambda/domain/limits/block.ts';
import type { CloseEvent } from '../../../lambda/domain/usage/usage-event.ts';
import type { ClientResponse } from '../../../lambda/gateway/protocol/client.ts';
import { bodyMemory } from '../../../lambda/gateway/relay/prepare-request.ts';
import { ACTIVE, fakeExchange, jsonRequest, turn } from '../gateway-fakes.ts';
import { KEYS } from '../gateway-host.ts';

/* One relayed request, with provider, client and queue played by the test: every call is seen, in its order. */

afterEach(() => {
  jest.restoreAllMocks();
});

const OK = { status: 200, statusMessage: 'Fine', headers: ['Content-Type', 'text/plain'] };
const JSON_HEADERS = ['X-Service-Key', KEYS.active, 'Authorization', 'Bearer sk', 'Content-Type', 'application/json'];

/** A streaming chat without `stream_options`: the gateway asks for its usage. */
const STREAMING = Buffer.from('{"model":"gpt-4o","stream":true}');
const streaming = (body: Readable | Buffer = STREAMING) => ({
  method: 'POST',
  target: '/v1/chat/completions',
  headers: [...JSON_HEADERS, 'Content-Length', String(STREAMING.length)],
  body,
});

/** Lets the registration's result arrive. */
const registered = async (): Promise<void> => {
  await turn();
  await turn();
};

const closeOf = (exchange: ReturnType<typeof fakeExchange>) => exchange.closes() as CloseEvent[];

describe('a response', () => {
  it('is recorded after it has ended, with the time that it took itself', async () => {
    const work: (() => void)[] = [];
    const exchange = fakeExchange({}, { parts: { afterResponse: (due) => work.push(due) } });
    await registered();
    const now = jest.spyOn(performance, 'now');
    const startedAt = performance.now();
    now.mockReturnValue(startedAt + 1_000);
    exchange.provider().onHeaders(OK);
    exchange.provider().onEnd([]);
    await registered();
    expect(exchange.calls.map(([name]) => name)).toEqual(['start', 'end']);
    expect([work.length, closeOf(exchange)]).toEqual([1, []]);
    now.mockReturnValue(startedAt + 5_000);
    work[0]?.();
    await exchange.finished;
    const [close] = closeOf(exchange);
    expect(close?.totalMs).toBeGreaterThanOrEqual(1_000);
    expect(close?.totalMs).toBeLessThan(5_000);
  });

  it('passes with its trailers, and is recorded', async () => {
    const exchange = fakeExchange();
    await registered();
    exchange.provider().onHeaders(OK);
    exchange.provider().onData(Buffer.from('one'));
    await turn();
    exchange.provider().onData(Buffer.from('two'));
    exchange.provider().onEnd(['X-Sum', '1']);
    await exchange.finished;
    expect(exchange.calls).toEqual([
      ['start', 200, 'Fine', expect.arrayContaining(['Content-Type', 'text/plain', 'X-Service-Route', 'governed'])],
      ['write', 'one'],
      ['end', ['X-Sum', '1'], 'two'],
    ]);
    expect(closeOf(exchange)).toMatchObject([
      { outcome: 'completed', status: 200, route: 'governed', responseBytes: 6, requestBytes: 0 },
    ]);
  });

  it('of Gemini names the tier that served it in a header, where its usage does not', async () => {
    const exchange = fakeExchange({
      ...jsonRequest({ service_tier: 'priority', contents: [{ parts: [{ text: 'Hello' }] }] }),
      host: 'google.gateway.test',
      target: '/v1beta/models/gemini-2.5-flash:generateContent',
    });
    await registered();
    const headers = ['Content-Type', 'application/json', 'X-Gemini-Service-Tier', 'standard'];
    exchange.provider().onHeaders({ status: 200, statusMessage: 'OK', headers });
    exchange.provider().onData(Buffer.from('{"usageMetadata":{"promptTokenCount":2,"totalTokenCount":2}}'));
    exchange.provider().onEnd([]);
    await exchange.finished;
    expect(closeOf(exchange)).toMatchObject([{ reading: { serviceTier: 'standard' } }]);
  });

  it('waits for the route, then passes whole', async () => {
    const exchange = fakeExchange();
    exchange.provider().onHeaders(OK);
    exchange.provider().onData(Buffer.from('all'));
    exchange.provider().onEnd(['X-Sum', '1']);
    expect(exchange.calls).toEqual([]);
    await exchange.finished;
    expect(exchange.calls.slice(1)).toEqual([['end', ['X-Sum', '1'], 'all']]);
  });

  it('that fails while it waits is interrupted after its bytes', async () => {
    const exchange = fakeExchange();
    exchange.provider().onHeaders(OK);
    exchange.provider().onData(Buffer.from('half'));
    exchange.provider().onError(new Error('reset'));
    await exchange.finished;
    expect(exchange.calls.slice(1)).toEqual([['write', 'half'], ['abort']]);
    expect(closeOf(exchange)).toMatchObject([{ outcome: 'upstream_aborted', status: 200 }]);
  });

  it.each([
    ['a slow client', false, 'client_aborted'],
    ['a client that kept up', true, 'upstream_aborted'],
  ])('that fails after %s', async (_case, isFast, outcome) => {
    const exchange = fakeExchange({}, { client: { write: () => isFast } });
    await registered();
    exchange.provider().onHeaders(OK);
    exchange.provider().onData(Buffer.from('half'));
    await turn();
    exchange.provider().onError(new Error('idle'));
    await exchange.finished;
    expect(exchange.names()).toEqual(['start', 'abort']);
    expect(closeOf(exchange)).toMatchObject([{ outcome }]);
  });

  it.each([100, 101, 103, 199])('with status %i is none: 502, and the exchange ends', async (status) => {
    const exchange = fakeExchange();
    await registered();
    exchange.provider().onHeaders({ ...OK, status });
    await exchange.finished;
    expect([exchange.status(), exchange.errorCode()]).toEqual([502, 'PROVIDER_ERROR']);
    expect(exchange.exchangeCalls).toEqual(['abort']);
    expect(closeOf(exchange)).toMatchObject([{ outcome: 'unreachable', status: null }]);
  });
});

describe('a provider that cannot be reached', () => {
  it('gives 502 with the route, and one close event', async () => {
    const exchange = fakeExchange();
    await registered();
    exchange.provider().onError(new Error('refused'));
    exchange.provider().onError(new Error('again'));
    await exchange.finished;
    expect(exchange.names()).toEqual(['start', 'write', 'end']);
    expect(exchange.status()).toBe(502);
    expect(exchange.headers().slice(-2)).toEqual(['X-Service-Route', 'governed']);
    expect(exchange.events.map(({ kind }) => kind)).toEqual(['open', 'close']);
  });

  it('is the same as a request that cannot be sent', async () => {
    const upstream = {
      send: () => {
        throw new TypeError('Request path contains unescaped characters');
      },
      close: () => {},
    };
    const exchange = fakeExchange({}, { parts: { upstream } });
    await exchange.finished;
    expect([exchange.status(), exchange.errorCode()]).toEqual([502, 'PROVIDER_ERROR']);
    expect(exchange.events.map(({ kind }) => kind)).toEqual(['open', 'close']);
    expect(closeOf(exchange)).toMatchObject([{ outcome: 'unreachable' }]);
  });
});

describe('a client that disconnects', () => {
  it('ends the exchange; nothing of the response follows, and what arrived is recorded', async () => {
    const inform = jest.fn();
    const exchange = fakeExchange({}, { client: { inform } });
    await registered();
    exchange.provider().onHeaders(OK);
    exchange.provider().onData(Buffer.from('unseen'));
    exchange.disconnect();
    exchange.provider().onInterim?.({ status: 103, statusMessage: '', headers: [] });
    exchange.provider().onEnd([]);
    exchange.disconnect();
    await exchange.finished;
    expect(exchange.names()).toEqual(['start']);
    expect(inform).not.toHaveBeenCalled();
    expect(exchange.exchangeCalls.filter((call) => call === 'abort')).toHaveLength(1);
    expect(closeOf(exchange)).toMatchObject([{ outcome: 'client_aborted', status: 200, responseBytes: 6 }]);
  });

  it('before its response gets none, even when one arrives', async () => {
    const exchange = fakeExchange();
    exchange.disconnect();
    exchange.provider().onHeaders(OK);
    exchange.provider().onError(new Error('reset'));
    await registered();
    expect(exchange.calls).toEqual([]);
    expect(exchange.events.filter(({ kind }) => kind === 'open').length).toBe(1);
  });

  it('while its key was read is recorded, and nothing is sent', async () => {
    const client: Partial<ClientResponse> = { onDisconnect: (listener) => listener() };
    const exchange = fakeExchange({}, { client });
    await exchange.finished;
    expect(exchange.sent).toEqual([]);
    expect(exchange.calls).toEqual([]);
    expect(closeOf(exchange)).toMatchObject([{ outcome: 'client_aborted', status: null, overheadMs: null }]);
  });
});

describe('a body that is read whole first', () => {
  it('is extended, and its own bytes are counted', async () => {
    const exchange = fakeExchange(streaming());
    expect(exchange.sent[0]?.body?.toString()).toBe(
      '{"model":"gpt-4o","stream":true,"stream_options":{"include_usage":true}}',
    );
    expect(exchange.sent[0]?.headers.slice(-2)).toEqual(['Accept-Encoding', 'identity']);
    await registered();
    exchange.provider().onHeaders(OK);
    exchange.provider().onEnd([]);
    await exchange.finished;
    expect(closeOf(exchange)).toMatchObject([
      { requestBytes: STREAMING.length, reading: { modelRequested: 'gpt-4o' } },
    ]);
  });

  it.each([
    ['one chunk', [STREAMING]],
    ['several chunks', [STREAMING.subarray(0, 5), STREAMING.subarray(5, 20), STREAMING.subarray(20)]],
  ])('is registered while it arrives, and sent when it is here: %s', async (_case, chunks) => {
    const body = new Readable({ read: () => {} });
    const exchange = fakeExchange(streaming(body));
    await turn();
    expect(exchange.events.map(({ kind }) => kind)).toEqual(['open']);
    for (const chunk of chunks) body.push(chunk);
    await turn();
    expect(exchange.sent).toEqual([]);
    body.push(null);
    await registered();
    expect(exchange.sent[0]?.body?.toString()).toContain('"include_usage":true');
    expect(exchange.events.map(({ kind }) => kind)).toEqual(['open']);
  });

  it.each([
    ['disconnects', (body: Readable) => body.destroy()],
    ['fails', (body: Readable) => body.destroy(new Error('reset'))],
  ])('is not sent when its client %s', async (_case, interrupt) => {
    const body = new Readable({ read: () => {} });
    const exchange = fakeExchange(streaming(body));
    body.push(STREAMING.subarray(0, 5));
    await turn();
    interrupt(body);
    await exchange.finished;
    expect(exchange.sent).toEqual([]);
    expect(exchange.calls).toEqual([]);
    expect(closeOf(exchange)).toMatchObject([{ outcome: 'client_aborted', status: null }]);
  });

  it('is not sent either when the client disconnects as its last byte arrives', async () => {
    const body = new Readable({ read: () => {} });
    const exchange = fakeExchange(streaming(body));
    body.push(STREAMING);
    body.push(null);
    exchange.disconnect();
    await exchange.finished;
    await registered();
    expect(exchange.sent).toEqual([]);
  });

  it('is not sent either when the client disconnects while budgets wait for it to be decoded', async () => {
    const body = gzipSync(STREAMING);
    const pause = { id: 'p', kind: 'pause', name: 'P', scope: { model: 'other' }, until: null } as const;
    const exchange = fakeExchange(
      { ...streaming(body), headers: [...JSON_HEADERS, 'Content-Encoding', 'gzip'] },
      {
        parts: {
          lookUpAccount: () => ({ ...ACTIVE, withoutBlocks: 'pass' }),
          lookUpBlocks: () => ({
            ...NO_BLOCKS,
            blocks: [{ ...pause, amountNanoUsd: null, spentNanoUsd: null }],
          }),
        },
      },
    );
    exchange.disconnect();
    await exchange.finished;
    await registered();
    expect(exchange.sent).toEqual([]);
    expect(closeOf(exchange)).toMatchObject([{ outcome: 'client_aborted', reading: { modelRequested: 'gpt-4o' } }]);
  });

  it.each<[string, ...((exchange: ReturnType<typeof fakeExchange>) => void)[]]>([
    ['the provider has it', () => {}, (exchange) => exchange.provider().onHeaders(OK)],
    ['the provider cannot be reached', () => {}, (exchange) => exchange.provider().onError(new Error('refused'))],
    ['its client disconnects as its last byte arrives', (exchange) => exchange.disconnect()],
  ])('takes its account’s memory until %s', async (_case, ...[atLastByte, end]) => {
    const accountId = 'account-2';
    const isFree = (): boolean => {
      const all = bodyMemory(accountId);
      const isAdded = all.add(64 * 2 ** 20);
      all.release();
      return isAdded;
    };
    const body = new Readable({ read: () => {} });
    const exchange = fakeExchange(streaming(body), { parts: { lookUpAccount: () => ({ ...ACTIVE, accountId }) } });
    body.push(STREAMING);
    await turn();
    expect(isFree()).toBe(false);
    body.push(null);
    atLastByte?.(exchange);
    await registered();
    end?.(exchange);
    await registered();
    expect(isFree()).toBe(true);
  });

  it('passes unchanged when it asks for no stream', async () => {
    const body = Buffer.from('{"stream":false}');
    const exchange = fakeExchange({ ...streaming(body), headers: [...JSON_HEADERS, 'Content-Length', '16'] });
    expect(exchange.sent).toMatchObject([{ body, framing: 'length' }]);
    expect(exchange.sent[0]?.headers).not.toContain('Accept-Encoding');
  });
});

describe('the filter of what the gateway asked for', () => {
  const EVENTS = 'data: {"choices":[{}],"usage":null}\n\ndata: {"choices":[],"usage":{"prompt_tokens":1}}\n\n';
  const relayed = async (request: Parameters<typeof fakeExchange>[0], headers: string[]) => {
    const exchange = fakeExchange(request);
    await registered();
    exchange.provider().onHeaders({ status: 200, statusMessage: '', headers: [...headers, 'Content-Length', '90'] });
    exchange.provider().onData(Buffer.from(EVENTS));
    exchange.provider().onEnd([]);
    await exchange.finished;
    return { last: exchange.calls.at(-1)?.[2], hasLength: exchange.headers().includes('Content-Length') };
  };
  const filtered = { last: 'data: {"choices":[{}]}\n\n', hasLength: false };
  const unchanged = { last: EVENTS, hasLength: true };

  it.each(['text/event-stream', 'text/event-stream; charset=utf-8'])('reads %s', async (type) => {
    expect(await relayed(streaming(), ['Content-Type', type])).toEqual(filtered);
  });

  it.each([
    ['another type', ['Content-Type', 'application/json; x=text/event-stream']],
    ['no type', []],
    ['a stream in an encoding that it cannot read', ['Content-Type', 'text/event-stream', 'Content-Encoding', 'x-odd']],
  ])('leaves %s alone', async (_case, headers) => {
    expect(await relayed(streaming(), headers)).toEqual(unchanged);
  });

  it('leaves alone what the client asked for itself', async () => {
    const body = Buffer.from('{"stream":true,"stream_options":{"include_usage":true}}');
    const headers = [...JSON_HEADERS, 'Content-Length', String(body.length)];
    expect(await relayed({ ...streaming(body), headers }, ['Content-Type', 'text/event-stream'])).toEqual(unchanged);
  });
});

describe('a fault of the gateway', () => {
  const withFaults = () => {
    const lines: unknown[] = [];
    jest.spyOn(console, 'error').mockImplementation((line) => void lines.push(JSON.parse(String(line))));
    return lines;
  };
  const fault = (): never => {
    throw new RangeError('sk-in-the-message');
  };

  it('after the response has begun interrupts it, ends the exchange, and is recorded', async () => {
    const logged = withFaults();
    const exchange = fakeExchange({}, { client: { write: fault } });
    await registered();
    exchange.provider().onHeaders(OK);
    exchange.provider().onData(Buffer.from('a'));
    await exchange.finished;
    expect(exchange.names()).toEqual(['start', 'abort']);
    expect(exchange.exchangeCalls.at(-1)).toBe('abort');
    expect(closeOf(exchange)).toMatchObject([{ outcome: 'upstream_aborted', status: 200 }]);
    expect(logged).toMatchObject([{ errorName: 'RangeError', requestId: exchange.events[0]?.requestId }]);
  });

  it('before it is sent: 500, without a route that is not known', async () => {
    const logged = withFaults();
    const exchange = fakeExchange({}, { client: { onDisconnect: fault } });
    await exchange.finished;
    expect([exchange.status(), exchange.errorCode()]).toEqual([500, 'INTERNAL']);
    expect(exchange.headers().slice(-2)).toEqual(['X-Service-Route', 'bypassed']);
    expect(exchange.sent).toEqual([]);
    expect(logged).toHaveLength(1);
  });

  it('at the end interrupts the response, once', async () => {
    const logged = withFaults();
    const end = jest.fn<ClientResponse['end']>().mockImplementationOnce(fault);
    const exchange = fakeExchange({}, { client: { end } });
    await registered();
    exchange.provider().onHeaders(OK);
    exchange.provider().onEnd([]);
    exchange.provider().onEnd([]);
    await exchange.finished;
    expect(exchange.names()).toEqual(['start', 'abort']);
    expect(closeOf(exchange)).toHaveLength(1);
    expect(logged).toHaveLength(1);
  });

  it('in its open event is as if the queue refused it, and is logged as such where it is no error', async () => {
    const logged = withFaults();
    const open = () => {
      throw 'a text with sk-in-it';
    };
    const exchange = fakeExchange(
      {},
      { parts: { tracker: { open, close: async () => {}, drain: async () => {} } as never } },
    );
    await registered();
    exchange.provider().onHeaders(OK);
    exchange.provider().onEnd([]);
    await exchange.finished;
    expect(exchange.status()).toBe(200);
    expect(exchange.headers()).toEqual(expect.arrayContaining(['X-Service-Route', 'bypassed']));
    expect(logged).toMatchObject([{ level: 'ERROR', message: 'gateway fault', errorName: 'Error' }]);
    expect(JSON.stringify(logged)).not.toMatch(/sk-|not an error/);
  });
});
