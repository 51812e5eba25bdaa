import { describe, expect, it } from '@jest/globals';
import { EventStreamCodec } from '@smithy/core/event-streams';
import { priceRequest } from '../../fixtures/bundled-prices.ts';
import { ask } from '../../fixtures/exchange.ts';
import type { CloseEvent } from '../../lambda/domain/usage/usage-event.ts';
import { nodeUpstream } from '../../lambda/gateway/upstream/upstream-node.ts';
import { undiciUpstream } from '../../lambda/gateway/upstream/upstream-undici.ts';
import { fakeExchange, turn } from './gateway-fakes.ts';
import { gatewayForTests } from './gateway-for-tests.ts';
import { KEYS } from './gateway-host.ts';

/* Amazon Bedrock, by the shapes of its documentation. The messages of streams are written by the codec of the AWS SDK. */

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes).toString('utf8'),
  (text) => Buffer.from(text, 'utf8'),
);
const message = (payload: unknown, type = 'event', name: string = type): Buffer =>
  Buffer.from(
    codec.encode({
      headers: {
        [`:${name}-type`]: { type: 'string', value: 'some' },
        ':content-type': { type: 'string', value: 'application/json' },
        ':message-type': { type: 'string', value: type },
      },
      body: Buffer.from(JSON.stringify(payload)),
    }),
  );
/** An event of a model's own format. */
const chunk = (event: unknown) =>
  message({ bytes: Buffer.from(JSON.stringify(event)).toString('base64'), p: 'abcdefgh' });

const EVENT_STREAM = 'application/vnd.amazon.eventstream';
const credentials = ['X-Service-Key', KEYS.active, 'Authorization', 'Bearer ABSKkey'];
const pathOf = (model: string, call: string) => `/us-east-1/model/${encodeURIComponent(model)}/${call}`;

/** The close event of one response, which arrives in some pieces. */
const closeOf = async (
  path: string,
  pieces: readonly Buffer[],
  { headers = [], body = '{}', whole = true }: { headers?: string[]; body?: string; whole?: boolean } = {},
): Promise<CloseEvent> => {
  const exchange = fakeExchange({
    method: 'POST',
    host: 'bedrock.gateway.test',
    target: path,
    headers: [...credentials, 'Content-Type', 'application/json', 'Content-Length', String(body.length)],
    body: Buffer.from(body),
  });
  const provider = exchange.provider();
  provider.onRequestBytes(Buffer.from(body));
  provider.onRequestEnd();
  const type = path.endsWith('-stream') ? EVENT_STREAM : 'application/json';
  provider.onHeaders({ status: 200, statusMessage: 'OK', headers: ['Content-Type', type, ...headers] });
  await turn();
  for (const piece of pieces) provider.onData(piece);
  if (whole) provider.onEnd([]);
  else provider.onError(new Error('the provider interrupted its response'));
  await exchange.finished;
  return exchange.closes()[0] as CloseEvent;
};

const SONNET = 'anthropic.claude-sonnet-4-5-20250929-v1:0';
const usage = {
  inputTokens: 100,
  outputTokens: 20,
  totalTokens: 1_120,
  cacheReadInputTokens: 1_000,
  cacheWriteInputTokens: 0,
};
const converseStream = [
  message({ role: 'assistant', p: 'abc' }),
  message({ contentBlockIndex: 0, delta: { text: 'Hé "usage":{"inputTokens":7}' }, p: 'ab' }),
  message({ contentBlockIndex: 0, p: 'abcd' }),
  message({ stopReason: 'end_turn', p: 'abcdef' }),
  message({ metrics: { latencyMs: 551 }, usage, p: 'abcdefghij' }),
];
const anthropicUsage = { input_tokens: 100, cache_read_input_tokens: 1_000, cache_creation_input_tokens: 0 };
const anthropicStream = [
  chunk({
    type: 'message_start',
    message: { model: 'claude-sonnet-4-5-20250929', role: 'assistant', usage: { ...anthropicUsage, output_tokens: 1 } },
  }),
  chunk({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } }),
  chunk({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 20 } }),
  chunk({
    type: 'message_stop',
    'amazon-bedrock-invocationMetrics': { inputTokenCount: 100, outputTokenCount: 20, invocationLatency: 551 },
  }),
];
/** 1,000 cached tokens at 0.1 of the input's price, in nano-USD. */
const costOf = (input: number, output: number) => 100 * input + 1_000 * (input / 10) + 20 * output;

describe('a stream of binary messages', () => {
  const whole = Buffer.concat(converseStream);
  const path = pathOf(`us.${SONNET}`, 'converse-stream');

  it('is read wherever it is cut', async () => {
    for (const stream of [whole, Buffer.concat(anthropicStream)]) {
      const name = stream === whole ? path : pathOf(`us.${SONNET}`, 'invoke-with-response-stream');
      const { reading } = await closeOf(name, [stream]);
      for (let cut = 1; cut < stream.length; cut++) {
        const close = await closeOf(name, [stream.subarray(0, cut), stream.subarray(cut)]);
        expect({ cut, reading: close.reading }).toEqual({ cut, reading });
      }
      const bytes = [...stream].map((byte) => Buffer.from([byte]));
      expect((await closeOf(name, bytes)).reading).toEqual(reading);
      expect(reading).toMatchObject({ complete: true, streamed: true });
    }
  });

  it('that ends early, breaks off with an error or is no such stream is incomplete', async () => {
    const cut = whole.subarray(0, -1);
    expect((await closeOf(path, [cut])).reading).toMatchObject({ usage: null, complete: false });
    expect((await closeOf(path, [whole], { whole: false })).reading).toMatchObject({ usage, complete: false });
    const exception = message({ message: 'Try again.' }, 'exception');
    const error = message({ message: 'Try again.' }, 'error', 'error-code');
    for (const last of [exception, error])
      expect((await closeOf(path, [...converseStream.slice(0, 2), last])).reading).toMatchObject({
        usage: null,
        complete: false,
      });
    for (const garbage of ['{"message":"no"}', 'x'.repeat(100), '\0'.repeat(100)]) {
      const { reading } = await closeOf(path, [Buffer.from(garbage)]);
      expect(reading).toMatchObject({ usage: null, complete: false });
    }
    expect(priceRequest(await closeOf(path, [cut]))).toMatchObject({ provenance: 'unknown', costNanoUsd: null });
  });

  it('may have a message that is too long to hold: it is skipped', async () => {
    const long = message({ delta: { text: 'x'.repeat(1024 * 1024) }, usage: { inputTokens: 1 } });
    const stream = Buffer.concat([...converseStream.slice(0, 2), long, ...converseStream.slice(2)]);
    const { reading } = await closeOf(path, [stream]);
    expect(reading).toMatchObject({ usage, complete: true });
    const pieces = Array.from({ length: Math.ceil(stream.length / 999) }, (_, n) =>
      stream.subarray(n * 999, n * 999 + 999),
    );
    expect((await closeOf(path, pieces)).reading).toEqual(reading);
    expect((await closeOf(path, [stream.subarray(0, 2_000)])).reading).toMatchObject({ usage: null, complete: false });
  });
});

describe.each([
  ['undici', undiciUpstream],
  ['node:http', nodeUpstream],
])('over %s', (_transport, transport) => {
  const { origin, host: gateway } = gatewayForTests({ transport });

  it.each([
    ['converse-stream', converseStream],
    ['invoke-with-response-stream', anthropicStream],
  ])('%s: the same bytes, one at a time, and the exact usage', async (call, messages) => {
    const stream = Buffer.concat(messages);
    origin.script = async (_request, response) => {
      response.writeHead(200, { 'Content-Type': EVENT_STREAM, 'x-amzn-RequestId': 'r-1' });
      response.socket?.setNoDelay(true);
      for (const byte of stream) {
        response.write(Buffer.from([byte]));
        await turn();
      }
      response.end();
    };
    const body = JSON.stringify({ messages: [{ role: 'user', content: [{ text: 'Hi' }] }] });
    const settings = ['X-Amzn-Bedrock-GuardrailIdentifier', 'g-1', 'X-Amzn-Bedrock-Accept', 'application/json'];
    const headers = [
      ...[...credentials, 'Host', 'bedrock.gateway.test', 'Content-Type', 'application/json'],
      ...settings,
    ];
    const path = pathOf(`eu.${SONNET}`, call);
    const response = await ask({ port: gateway.port, method: 'POST', path, headers, body });
    expect(response.body.equals(stream)).toBe(true);
    expect(response.headers).toMatchObject({ 'content-type': EVENT_STREAM, 'x-amzn-requestid': 'r-1' });
    expect(origin.received.at(-1)).toMatchObject({ url: path.slice('/us-east-1'.length), body: Buffer.from(body) });
    expect(origin.received.at(-1)?.rawHeaders.join()).toContain(settings.join());
    const close = await gateway.closeOf(String(response.headers['x-service-request-id']));
    // USD 3.30 and 16.50 for a million tokens.
    expect(priceRequest(close)).toMatchObject({ provenance: 'computed', costNanoUsd: costOf(3_300, 16_500) });
  });
});

describe('what a call costs', () => {
  const json = (body: unknown) => [Buffer.from(JSON.stringify(body))];
  const counts = (input: number, output: number | null, read = 0) => [
    ...['X-Amzn-Bedrock-Input-Token-Count', String(input)],
    ...(output === null ? [] : ['X-Amzn-Bedrock-Output-Token-Count', String(output)]),
    ...(read === 0 ? [] : ['X-Amzn-Bedrock-Cache-Read-Input-Token-Count', String(read)]),
  ];

  it.each([
    // Within a continent, anywhere; as an ARN, whose slash is encoded or not.
    [`us.${SONNET}`, 3_300, 16_500],
    [`eu.${SONNET}`, 3_300, 16_500],
    [`jp.${SONNET}`, 3_300, 16_500],
    [`global.${SONNET}`, 3_000, 15_000],
    [`arn:aws:bedrock:us-east-1:123456789012:inference-profile/global.${SONNET}`, 3_000, 15_000],
  ])('of %s', async (model, input, output) => {
    const response = {
      output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } },
      stopReason: 'end_turn',
      usage,
    };
    for (const path of [pathOf(model, 'converse'), `/us-east-1/model/${model}/converse`])
      expect(priceRequest(await closeOf(path, json(response)))).toMatchObject({
        provenance: 'computed',
        costNanoUsd: costOf(input, output),
      });
  });

  it.each([
    ['amazon.nova-pro-v1:0', { output: {}, usage: { inputTokens: 100, outputTokens: 20, totalTokens: 120 } }, []],
    [
      'us.meta.llama3-3-70b-instruct-v1:0',
      { generation: 'Hi', prompt_token_count: 100, generation_token_count: 20 },
      counts(100, 20),
    ],
    ['mistral.mistral-large-2402-v1:0', { outputs: [{ text: 'Hi', stop_reason: 'stop' }] }, counts(100, 20)],
    ['amazon.titan-embed-text-v1', { embedding: [0.1], inputTextTokenCount: 100 }, counts(100, null)],
    ['amazon.titan-embed-text-v2:0', { embedding: [0.1], inputTextTokenCount: 100 }, counts(100, null)],
  ])('of %s by its own format', async (model, response, headers) => {
    const close = await closeOf(pathOf(model, 'invoke'), json(response), { headers });
    const priced = priceRequest(close);
    expect(priced.usage).toMatchObject({ inputTokens: 100, outputTokens: model.includes('embed') ? 0 : 20 });
    expect(priced).toMatchObject({ provenance: expect.stringMatching(/computed|estimated/), reason: null });
  });

  it.each([
    ['performanceconfig-latency', 'optimized', 'estimated'],
    ['performanceconfig-latency', 'standard', 'computed'],
    ['service-tier', 'flex', 'estimated'],
    ['service-tier', 'default', 'computed'],
  ])('of a model’s own format has the %s %s in a header', async (name, value, provenance) => {
    const close = await closeOf(pathOf(SONNET, 'invoke'), json({ usage: { input_tokens: 100, output_tokens: 20 } }), {
      headers: [`X-Amzn-Bedrock-${name}`, value],
    });
    const reason = provenance === 'computed' ? null : 'The price of the service tier is not known exactly.';
    expect(priceRequest(close)).toMatchObject({ provenance, reason });
  });

  it('counts cached tokens in headers, and one-hour writes, beyond the input', async () => {
    const mistral = await closeOf(pathOf('mistral.mistral-large-2402-v1:0', 'invoke'), json({ outputs: [] }), {
      headers: counts(100, 20, 900),
    });
    expect(priceRequest(mistral).usage).toMatchObject({ inputTokens: 1_000, cacheReadTokens: 900 });
    const written = {
      ...usage,
      cacheWriteInputTokens: 50,
      cacheDetails: [
        { inputTokens: 30, ttl: '1h' },
        { inputTokens: 20, ttl: '5m' },
      ],
    };
    const converse = await closeOf(pathOf(SONNET, 'converse'), json({ usage: written }));
    expect(priceRequest(converse).usage).toMatchObject({
      inputTokens: 1_150,
      cacheReadTokens: 1_000,
      cacheWriteTokens: 50,
      cacheWrite1hTokens: 30,
    });
  });

  it('has the metrics of the last event where the format has no usage', async () => {
    const metrics = { inputTokenCount: 100, outputTokenCount: 20, invocationLatency: 9, firstByteLatency: 3 };
    const stream = [
      chunk({ generation: 'Hi', prompt_token_count: 100, generation_token_count: 1, stop_reason: null }),
      chunk({ generation: '', stop_reason: 'stop', 'amazon-bedrock-invocationMetrics': metrics }),
    ];
    const close = await closeOf(pathOf('us.meta.llama3-3-70b-instruct-v1:0', 'invoke-with-response-stream'), stream);
    expect(close.reading).toMatchObject({ usage: metrics, modelRequested: 'us.meta.llama3-3-70b-instruct-v1:0' });
    expect(priceRequest(close)).toMatchObject({ provenance: 'computed' });
  });

  it('is that of OpenAI’s format on its path, and unknown for a model of one’s own', async () => {
    const body = JSON.stringify({ model: 'openai.gpt-oss-120b-1:0', messages: [] });
    const response = {
      model: 'openai.gpt-oss-120b-1:0',
      usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
    };
    const chat = await closeOf('/us-west-2/openai/v1/chat/completions', json(response), { body });
    expect(priceRequest(chat)).toMatchObject({ provenance: 'computed', costNanoUsd: 100 * 150 + 20 * 600 });
    const own = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3d4e5f6';
    const close = await closeOf(pathOf(own, 'converse'), json({ usage }));
    expect(close.reading.modelRequested).toBe('a1b2c3d4e5f6');
    expect(priceRequest(close)).toMatchObject({ provenance: 'unknown', costNanoUsd: null });
  });

  it('is estimated for a service tier that the response names', async () => {
    for (const [type, provenance] of [
      ['default', 'computed'],
      ['priority', 'estimated'],
    ]) {
      const close = await closeOf(pathOf(SONNET, 'converse'), json({ usage, serviceTier: { type } }));
      expect(priceRequest(close)).toMatchObject({ provenance });
    }
  });
});
