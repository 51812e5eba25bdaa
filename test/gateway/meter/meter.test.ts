import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Reading } from '../../../lambda/domain/usage/usage-event.ts';
import { JsonPicker } from '../../../lambda/gateway/meter/json-picker.ts';
import { createMeter } from '../../../lambda/gateway/meter/meter.ts';
import { MAX_PICKED_BYTES, ReadingBuilder } from '../../../lambda/gateway/meter/reading-builder.ts';
import { createRequestReader } from '../../../lambda/gateway/meter/request-reader.ts';
import { SseReader } from '../../../lambda/gateway/meter/sse-reader.ts';
import { UsageMark } from '../../../lambda/gateway/meter/usage-mark.ts';
import { wantedInResponse } from '../../../lambda/gateway/meter/wanted.ts';

interface Case {
  readonly path: string;
  readonly method?: string;
  readonly contentType?: string;
  readonly contentEncoding?: string;
  readonly usageHeaders?: readonly (readonly [string, string])[];
  readonly request?: unknown;
}

/** Meters a body that arrives in the given pieces. */
const meterPieces = async (pieces: readonly Buffer[], options: Case, whole = true): Promise<Reading> => {
  const reader = createRequestReader('application/json', options.path);
  if (options.request !== undefined)
    reader.write(Buffer.from(typeof options.request === 'string' ? options.request : JSON.stringify(options.request)));
  const meter = createMeter(
    { method: options.method ?? 'POST', path: options.path, facts: () => reader.facts() },
    {
      status: 200,
      contentType: options.contentType ?? 'application/json',
      contentEncoding: options.contentEncoding,
      usageHeaders: options.usageHeaders,
    },
  );
  for (const piece of pieces) meter.write(piece);
  return meter.end(whole);
};

const meterBody = (body: string | Buffer, options: Case): Promise<Reading> => meterPieces([Buffer.from(body)], options);

const sse = (...events: unknown[]): string =>
  events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join('');

const chatChunk = (content: string, usage: unknown = null) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  model: 'gpt-4o-2024-08-06',
  choices: [{ index: 0, delta: { content } }],
  usage,
});
const chatUsage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
const chatStream = sse(
  chatChunk('Hé'),
  chatChunk(' "usage":{"prompt_tokens":999} ☃'),
  { ...chatChunk(''), choices: [], usage: chatUsage },
  '[DONE]',
);
/** Events that are named by their type. */
const typed = (...events: { readonly type: string; readonly [member: string]: unknown }[]): string =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
const anthropicStart = { input_tokens: 25, cache_read_input_tokens: 4, output_tokens: 1 };
const anthropicDelta = (text: string) => ({ type: 'content_block_delta', delta: { type: 'text_delta', text } });
const anthropicStream = typed(
  { type: 'message_start', message: { model: 'claude-haiku-4-5', usage: anthropicStart } },
  { type: 'ping' },
  anthropicDelta('hi'),
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { input_tokens: null, output_tokens: 15 } },
  { type: 'message_stop' },
);
const geminiChunk = (text: string, candidatesTokenCount: number) => ({
  candidates: [{ content: { parts: [{ text }], role: 'model' } }],
  usageMetadata: { promptTokenCount: 9, candidatesTokenCount, totalTokenCount: 9 + candidatesTokenCount },
  modelVersion: 'gemini-2.5-flash',
});
const geminiUsage = geminiChunk('', 12).usageMetadata;
const responsesUsage = { input_tokens: 5, output_tokens: 6, total_tokens: 11 };
const responsesOutput = [
  { action: { type: 'search', query: 'x' }, id: 'ws_1', type: 'web_search_call' },
  { id: 'ws_2', type: 'web_search_call', action: { type: 'open_page' } },
  { type: 'message', content: [{ type: 'output_text', text: 'web_search_call' }] },
];
const completed = { id: 'resp_1', model: 'gpt-5-2025-08-07', status: 'completed', service_tier: 'flex' };
const responsesStream = typed(
  {
    type: 'response.created',
    response: { ...completed, model: 'gpt-5', status: 'in_progress', usage: null, output: [] },
  },
  { type: 'response.output_text.delta', delta: 'hi' },
  { type: 'response.completed', response: { ...completed, output: responsesOutput, usage: responsesUsage } },
);

const event = { contentType: 'text/event-stream' };
const chat = { path: '/v1/chat/completions' };

describe('dialects', () => {
  it('OpenAI chat as JSON', async () => {
    const body = JSON.stringify({
      id: 'c',
      model: 'gpt-4o-2024-08-06',
      service_tier: 'default',
      usage: chatUsage,
      choices: [{ message: { content: '{"usage":1}' } }],
    });
    expect(await meterBody(body, { ...chat, request: { model: 'gpt-4o', stream: false } })).toEqual({
      dialect: 'openai-chat',
      usage: chatUsage,
      usageSource: 'reported',
      complete: true,
      streamed: false,
      modelRequested: 'gpt-4o',
      modelServed: 'gpt-4o-2024-08-06',
      serviceTier: 'default',
      billableItems: {},
    });
  });

  it('OpenAI chat as a stream', async () => {
    const request = { model: 'gpt-4o', stream: true };
    expect(await meterBody(chatStream, { ...event, ...chat, request })).toMatchObject({
      dialect: 'openai-chat',
      usage: chatUsage,
      modelServed: 'gpt-4o-2024-08-06',
      streamed: true,
      complete: true,
    });
  });

  it('a first event without a name of a model does not end the search for one', async () => {
    const body = sse({ model: '', choices: [], prompt_filter_results: [] }, chatChunk('Hi'), '[DONE]');
    expect((await meterBody(body, { ...event, path: '/v1/chat/completions' })).modelServed).toBe('gpt-4o-2024-08-06');
  });

  it('a stream without usage still reports the model, and shows what an estimate needs', async () => {
    const body = sse(chatChunk('four'), chatChunk(' byt\n'), chatChunk('é☃'), '[DONE]');
    const request = {
      model: 'gpt-4o',
      messages: [{ role: 'user', content: 'eight by' }, { content: [{ type: 'text', text: 'four' }] }],
    };
    expect(await meterBody(body, { ...event, path: '/v1/chat/completions', request })).toMatchObject({
      usage: null,
      usageSource: 'estimated',
      visible: { prompt: { messages: 2, textBytes: 12, uncounted: [] }, outputBytes: 14 },
      modelServed: 'gpt-4o-2024-08-06',
    });
    expect(await meterBody(sse('[DONE]'), { ...event, path: '/v1/chat/completions', request })).toMatchObject({
      usage: null,
      usageSource: 'none',
    });
  });

  it('sums the lines of a batch, and says that it is one', async () => {
    const line = (completion_tokens: number) => {
      const body = { model: 'gpt-4o', usage: { prompt_tokens: 2, completion_tokens } };
      return JSON.stringify({ id: 'b', custom_id: 'c', response: { status_code: 200, body }, error: null });
    };
    const file = { path: '/v1/files/file-1/content', method: 'GET', contentType: 'application/octet-stream' };
    expect(await meterBody(`${line(3)}\n${line(4)}\n`, file)).toMatchObject({
      dialect: 'openai-batch-output',
      usage: { prompt_tokens: 4, completion_tokens: 7 },
      billableItems: { batch: 2 },
    });
    const message = { model: 'claude', usage: { input_tokens: 5, output_tokens: 6 } };
    const result = JSON.stringify({ custom_id: 'c', result: { type: 'succeeded', message } });
    const results = { path: '/v1/messages/batches/b/results', method: 'GET', contentType: 'application/x-jsonl' };
    expect(await meterBody(`${result}\n${result}`, results)).toMatchObject({
      usage: { input_tokens: 10, output_tokens: 12 },
      modelServed: 'claude',
    });
  });

  it('Fireworks’ cached tokens, which a header reports', async () => {
    const options = { path: '/inference/v1/chat/completions' };
    const name = 'fireworks-cached-prompt-tokens';
    const body = JSON.stringify({ model: 'm', usage: chatUsage });
    expect((await meterBody(body, { ...options, usageHeaders: [[name, '5']] })).billableItems).toEqual({
      'prompt.cached_tokens': 5,
    });
    for (const tokens of ['', '0', 'many', '-1'])
      expect((await meterBody(body, { ...options, usageHeaders: [[name, tokens]] })).billableItems).toEqual({});
  });

  it('OpenAI responses as a stream, with billable items', async () => {
    expect(await meterBody(responsesStream, { ...event, path: '/v1/responses' })).toMatchObject({
      dialect: 'openai-responses',
      usage: responsesUsage,
      modelServed: 'gpt-5-2025-08-07',
      serviceTier: 'flex',
      billableItems: { web_search_call: 1, 'response.id': 'resp_1', 'response.status': 'completed' },
    });
  });

  it('Anthropic messages as a stream: the delta over the start, nulls passed over', async () => {
    expect(await meterBody(anthropicStream, { ...event, path: '/v1/messages' })).toMatchObject({
      dialect: 'anthropic-messages',
      usage: { input_tokens: 25, cache_read_input_tokens: 4, output_tokens: 15 },
      modelServed: 'claude-haiku-4-5',
    });
  });

  it('Gemini as SSE with CRLF: the last usage wins', async () => {
    const body = [1, 5, 12].map((count) => `data: ${JSON.stringify(geminiChunk('x', count))}\r\n\r\n`).join('');
    expect(
      await meterBody(body, { ...event, path: '/v1beta/models/gemini-flash-latest:streamGenerateContent' }),
    ).toMatchObject({
      dialect: 'gemini-generate',
      usage: geminiUsage,
      modelRequested: 'gemini-flash-latest',
      modelServed: 'gemini-2.5-flash',
      streamed: true,
    });
  });

  it('Gemini as a JSON array', async () => {
    const body = JSON.stringify(
      [1, 5, 12].map((count) => geminiChunk('x]}', count)),
      null,
      2,
    );
    expect((await meterBody(body, { path: '/v1beta/models/g:streamGenerateContent' })).usage).toEqual(geminiUsage);
  });

  it('Cohere v1 as JSON lines and v2 as a stream', async () => {
    const meta = { billed_units: { input_tokens: 7, output_tokens: 9 } };
    const lines = [
      '{"event_type":"text-generation","text":"a"}',
      JSON.stringify({ event_type: 'stream-end', response: { text: 'a', meta } }),
    ].join('\n');
    expect((await meterBody(lines, { path: '/v1/chat', contentType: 'application/stream+json' })).usage).toEqual(meta);
    const usage = { billed_units: { input_tokens: 2 }, tokens: { input_tokens: 5 } };
    const stream = sse({ type: 'message-start' }, { type: 'message-end', delta: { finish_reason: 'COMPLETE', usage } });
    expect(await meterBody(stream, { ...event, path: '/v2/chat', request: { model: 'command-a' } })).toMatchObject({
      usage,
      dialect: 'cohere-chat',
      modelRequested: 'command-a',
    });
  });

  it('recognises a dialect by content where the path says nothing', async () => {
    const body = JSON.stringify({ model: 'x', usage: chatUsage });
    expect((await meterBody(body, { path: '/custom/agents/run' })).dialect).toBe('openai-chat');
    expect((await meterBody('{}', { path: '/custom/agents/run' })).dialect).toBe('unknown');
    expect((await meterBody('{"data":[]}', { path: '/v1/models', method: 'GET' })).dialect).toBe('free');
  });

  it('counts images, and reads their size from the response or the request', async () => {
    const body = JSON.stringify({ data: [{ b64_json: 'A'.repeat(200_000) }, { b64_json: 'B' }], quality: 'high' });
    const request = { model: 'gpt-image-1', size: '1024x1024', n: 2 };
    const reading = await meterBody(body, { path: '/v1/images/generations', request });
    expect(reading.billableItems).toEqual({ 'image.count': 2, 'image.size': '1024x1024', 'image.quality': 'high' });
  });

  it('counts the characters of speech, and keeps none of them', async () => {
    const reading = await meterPieces([Buffer.from([0xff, 0xf3, 0x22, 0])], {
      path: '/v1/audio/speech',
      contentType: 'audio/mpeg',
      request: { model: 'tts-1', input: 'Grüße 👋' },
    });
    expect(reading).toMatchObject({
      dialect: 'openai-speech',
      usage: null,
      complete: true,
      billableItems: { 'speech.characters': 7, 'speech.seconds': 4 / 16_000 },
    });
    const speechOf = async (contentType: string) =>
      (await meterPieces([Buffer.alloc(48_000), Buffer.alloc(24_000)], { path: '/v1/audio/speech', contentType }))
        .billableItems;
    for (const type of ['audio/pcm', 'Audio/WAV', 'audio/x-wav; rate=24000'])
      expect([type, await speechOf(type)]).toEqual([type, { 'speech.seconds': 1.5 }]);
    expect(await speechOf('audio/mp3')).toEqual({ 'speech.seconds': 4.5 });
    expect(await speechOf('audio/opus')).toEqual({});
  });
});

describe('bodies as they arrive', () => {
  const gemini = { path: '/v1/models/g:streamGenerateContent' };
  const streams: [string, string, Case][] = [
    ['chat', `\uFEFF: comment\n\n${chatStream}`, { ...event, ...chat }],
    ['chat CRLF', chatStream.replaceAll('\n', '\r\n'), { ...event, ...chat }],
    ['anthropic', anthropicStream, { ...event, path: '/v1/messages' }],
    ['responses', responsesStream, { ...event, path: '/v1/responses' }],
    ['chat JSON', JSON.stringify({ a: [1, { b: '\\"}é' }], model: 'm', usage: chatUsage }), chat],
    ['gemini array', JSON.stringify([geminiChunk('é', 1), geminiChunk('"', 12)]), gemini],
  ];

  it.each(streams)('%s: the same wherever it is cut', async (_name, body, options) => {
    const bytes = Buffer.from(body);
    const expected = await meterPieces([bytes], options);
    expect(expected.usage).not.toBeNull();
    for (let cut = 1; cut < bytes.length; cut++)
      expect(await meterPieces([bytes.subarray(0, cut), bytes.subarray(cut)], options)).toEqual(expected);
    expect(
      await meterPieces(
        [...bytes].map((byte) => Buffer.from([byte])),
        options,
      ),
    ).toEqual(expected);
  });

  it('an event larger than the hold limit', async () => {
    const big = {
      type: 'response.completed',
      response: { instructions: 'x'.repeat(3_000_000), model: 'gpt-5', usage: { input_tokens: 3 } },
    };
    const bytes = Buffer.from(sse({ type: 'response.created' }, big, '[DONE]'));
    const pieces = Array.from({ length: Math.ceil(bytes.length / 16_000) }, (_, i) =>
      bytes.subarray(i * 16_000, (i + 1) * 16_000),
    );
    expect(await meterPieces(pieces, { ...event, path: '/v1/responses' })).toMatchObject({
      usage: { input_tokens: 3 },
      modelServed: 'gpt-5',
    });
  });

  it('JSON that ends early yields what was read, marked incomplete, although the transfer was complete', async () => {
    const path = '/v1/chat/completions';
    const head = `{"id":"c","model":"gpt-4o","usage":${JSON.stringify(chatUsage)},"choices":[{"message":{"content":"Hell`;
    for (const body of [head, `${sse(chatChunk('a'))}data: ${head}`])
      for (const pieceBytes of [1, 5, body.length])
        expect(
          await meterPieces(
            body.match(new RegExp(`[^]{1,${pieceBytes}}`, 'g'))?.map((piece) => Buffer.from(piece)) ?? [],
            { path, contentType: body === head ? 'application/json' : 'text/event-stream' },
          ),
        ).toMatchObject({ usage: chatUsage, modelServed: 'gpt-4o', complete: false });
  });

  it('JSON is incomplete wherever it is cut', async () => {
    const bodies = [
      [JSON.stringify({ object: 'list', data: [{ embedding: [0.5, -1] }], usage: chatUsage }), '/v1/embeddings'],
      [JSON.stringify([geminiChunk('a', 1), geminiChunk('b', 12)]), '/v1/models/g:streamGenerateContent'],
    ] as const;
    for (const [body, path] of bodies)
      for (let cut = 1; cut < body.length; cut++)
        expect(await meterBody(body.slice(0, cut), { path })).toMatchObject({ complete: false });
  });

  it.each([
    ['gzip', true],
    [undefined, false],
  ])('is incomplete where it is not %s, or not whole', async (contentEncoding, whole) => {
    const options = { ...event, path: '/v1/chat/completions', ...(contentEncoding && { contentEncoding }) };
    expect((await meterPieces([Buffer.from(chatStream)], options, whole)).complete).toBe(false);
  });

  it('an object in place of a number is ignored, in the request, the usage and the tools', async () => {
    // `Number` and `String` throw at it.
    const bad = { valueOf: 1, toString: 1 };
    const path = '/v1/messages';
    const { complete, modelRequested, modelServed } = await meterBody(
      JSON.stringify({ duration: bad, tools: [{ type: bad }], model: 'claude-haiku-4-5' }),
      { path, request: { seconds: bad, tools: [{ type: bad }], model: 'claude-haiku-4-5' } },
    );
    expect({ complete, modelRequested, modelServed }).toEqual({
      complete: true,
      modelRequested: 'claude-haiku-4-5',
      modelServed: 'claude-haiku-4-5',
    });
    const message = { model: 'claude-haiku-4-5', usage: { input_tokens: 25, output_tokens: bad } };
    const left = sse({ type: 'message_start', message }, anthropicDelta('four'));
    const reading = await meterPieces([Buffer.from(left)], { path, ...event }, false);
    expect(reading).toMatchObject({
      usageSource: 'estimated',
      usage: { input_tokens: 25 },
      visible: { outputBytes: 4 },
    });
  });

  it('Anthropic’s output can be estimated when the stream is interrupted before it is reported', async () => {
    const start = anthropicStream.split('event: content_block_delta')[0] as string;
    const left = start + typed(anthropicDelta('x'.repeat(100)), anthropicDelta('y'.repeat(20)));
    const reading = await meterPieces([Buffer.from(left)], { ...event, path: '/v1/messages' }, false);
    expect(reading).toMatchObject({
      usage: anthropicStart,
      usageSource: 'estimated',
      visible: { outputBytes: 120 },
    });
  });

  it('never throws, whatever the input', async () => {
    const names = ['"usage"', '{"usage":{', '"usageMetadata":', '"model":"x"'];
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
      fc
        .constantFrom(...`{}[]",:\\\n\r `, 'data: ', ...names, 'null', '\n\n', '\r\n\r\n')
        .map((text) => Buffer.from(text)),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { maxLength: 40 }),
        fc.constantFrom('text/event-stream', 'application/json', 'application/x-ndjson', ''),
        async (pieces, contentType) => {
          // The meter would swallow a fault: its parts may have none.
          const builder = new ReadingBuilder();
          const picker = () => new JsonPicker(wantedInResponse, builder, MAX_PICKED_BYTES);
          const [events, json] = [
            new SseReader(picker, () => builder.model !== null, new UsageMark('usage')),
            picker(),
          ];
          for (const bytes of pieces) {
            events.write(bytes);
            json.write(bytes);
          }
          events.end();
          builder.finish();
          const reading = await meterPieces(pieces, { path: '/v1/chat/completions', contentType });
          expect(reading.dialect).toBe('openai-chat');
        },
      ),
      { numRuns: 700 },
    );
  });

  it('finds usage after any JSON before it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 6 }), fc.integer({ min: 1, max: 20 }), async (value, size) => {
        const bytes = Buffer.from(JSON.stringify({ before: value, usage: chatUsage, after: value }));
        const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
          bytes.subarray(i * size, (i + 1) * size),
        );
        expect((await meterPieces(pieces, { path: '/v1/chat/completions' })).usage).toEqual(chatUsage);
      }),
      { numRuns: 500 },
    );
  });
});
