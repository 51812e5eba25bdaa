import { describe, expect, it } from '@jest/globals';
import type { Dialect } from '../../../lambda/domain/usage/dialect.ts';
import { JsonPicker } from '../../../lambda/gateway/meter/json-picker.ts';
import { MAX_PICKED_BYTES, ReadingBuilder } from '../../../lambda/gateway/meter/reading-builder.ts';
import { wantedInBatch, wantedInResponse } from '../../../lambda/gateway/meter/wanted.ts';

/** What the builder has read when the documents are over. */
const build = (documents: readonly unknown[], { isBatch = false, wanted = wantedInResponse } = {}) => {
  const builder = new ReadingBuilder(isBatch);
  const picker = new JsonPicker(wanted, builder, MAX_PICKED_BYTES);
  for (const document of documents)
    picker.write(Buffer.from(typeof document === 'string' ? document : JSON.stringify(document)));
  return { builder, isWhole: builder.finish() };
};

const itemsOf = (documents: readonly unknown[], dialect: Dialect = 'openai-responses') =>
  build(documents).builder.billableItems(dialect);

const responses = (body: object) => ({ model: 'gpt-5', choices: [], ...body });

describe('billable items of a stream', () => {
  const searches = (count: unknown) => responses({ tool_usage: { web_search: { num_requests: count } } });

  it('have the largest count, whichever event has it', () => {
    expect(itemsOf([searches(1), searches(3), searches(2)])).toEqual({ web_search_requests: 3 });
  });

  it.each([0, -1, null, 'four', {}])('ignore the count %j', (count) => {
    expect(itemsOf([searches(2), searches(count)])).toEqual({ web_search_requests: 2 });
    expect(itemsOf([searches(count)])).toEqual({});
  });

  it('add up over the lines of a batch', () => {
    const { builder } = build([searches(1), searches(3), searches(2)], { isBatch: true });
    expect(builder.billableItems('openai-batch-output')).toMatchObject({ web_search_requests: 6 });
  });
});

describe('tools of OpenAI’s Responses', () => {
  const output = (...items: object[]) => responses({ output: items });

  it('count searches, not the pages opened or searched', () => {
    const call = (type?: string) => ({ type: 'web_search_call', ...(type && { action: { type } }) });
    expect(itemsOf([output(call(), call('search'), call('open_page'), call('find_in_page'))])).toEqual({
      web_search_call: 2,
    });
  });

  it('count file searches, and each code container once', () => {
    expect(
      itemsOf([
        output(
          { type: 'file_search_call' },
          { type: 'file_search_call' },
          { type: 'code_interpreter_call', container_id: 'c1' },
          { type: 'code_interpreter_call', container_id: 'c1' },
          { type: 'shell_call', environment: { container_id: 'c2' } },
          { type: 'code_interpreter_call' },
          { type: 'message', container_id: 'c3' },
        ),
      ]),
    ).toEqual({ file_search_call: 2, code_interpreter_container: 2 });
  });

  it('name the preview search and the model that makes images', () => {
    const tools = [
      { type: 'web_search_preview' },
      { type: 'image_generation', model: 'gpt-image-1' },
      { type: 'function', model: 'no' },
    ];
    expect(itemsOf([responses({ tools })])).toEqual({ web_search_preview: 1, 'image_gen.model': 'gpt-image-1' });
  });

  it('have the tokens of generated images', () => {
    const image = (input: object) => itemsOf([responses({ tool_usage: { image_gen: input } })]);
    expect(
      image({ input_tokens: 9, output_tokens: 5, input_tokens_details: { text_tokens: 7, image_tokens: 2 } }),
    ).toEqual({ 'image_gen.input_text_tokens': 7, 'image_gen.input_image_tokens': 2, 'image_gen.output_tokens': 5 });
    expect(image({ input_tokens: 9, output_tokens: 5 })).toEqual({
      'image_gen.input_text_tokens': 9,
      'image_gen.output_tokens': 5,
    });
    expect(image([1])).toEqual({});
  });

  it('of one document are not counted with the next', () => {
    expect(itemsOf([output({ type: 'file_search_call' }), output({ type: 'file_search_call' })])).toEqual({
      file_search_call: 1,
    });
  });
});

describe('Gemini’s grounding', () => {
  const candidate = (groundingMetadata: object) => ({
    modelVersion: 'gemini-2.5-flash',
    usageMetadata: { totalTokenCount: 1 },
    candidates: [{ groundingMetadata }],
  });

  it.each<[string, object, object]>([
    ['queries', { webSearchQueries: ['a', 'b'] }, { 'grounding.queries': 2, 'grounding.prompts': 1 }],
    [
      'empty and repeated queries',
      { webSearchQueries: ['', 'a', '', 'a'] },
      { 'grounding.queries': 1, 'grounding.prompts': 1 },
    ],
    ['no query', { webSearchQueries: [] }, {}],
    ['queries that are no list', { webSearchQueries: 'a' }, {}],
    ['a page that the client names', { groundingChunks: [{ web: {} }] }, {}],
    ['a place on the map', { groundingChunks: [{ maps: {} }] }, { 'grounding.maps': 1 }],
    ['a file of the client', { groundingChunks: [{ retrievedContext: {} }] }, {}],
    ['an entry point', { searchEntryPoint: {} }, { 'grounding.prompts': 1 }],
  ])('with %s', (_case, metadata, items) => {
    expect(itemsOf([candidate(metadata)], 'gemini-generate')).toEqual(items);
  });

  it('sums the queries of the candidates of one document, and keeps the largest sum of a stream', () => {
    const two = {
      ...candidate({ webSearchQueries: ['a', 'b'] }),
      candidates: [['a', 'b'], ['c']].map((webSearchQueries) => ({ groundingMetadata: { webSearchQueries } })),
    };
    expect(itemsOf([two, candidate({ webSearchQueries: ['a'] })], 'gemini-generate')).toEqual({
      'grounding.queries': 3,
      'grounding.prompts': 1,
    });
  });
});

describe('items that only some dialects have', () => {
  const body = {
    ...{ model: 'm', choices: [], id: 'i', status: 'completed', background: true, size: 's', quality: 'q' },
    ...{ stop_reason: 'refusal', duration: 2.5, data: [{}, {}] },
  };

  it.each<[Dialect, object]>([
    ['openai-responses', { 'response.id': 'i', 'response.status': 'completed', 'response.background': 1 }],
    ['gemini-interactions', { 'response.id': 'i', 'response.status': 'completed', 'response.background': 1 }],
    ['openai-chat', { 'response.status': 'completed' }],
    ['anthropic-messages', { 'response.refused': 1 }],
    ['openai-images', { 'image.count': 2, 'image.size': 's', 'image.quality': 'q' }],
    ['gemini-predict', { 'image.count': 2 }],
    ['openai-transcription', { 'audio.seconds': 2.5 }],
    ['openai-embeddings', {}],
  ])('%s', (dialect, items) => {
    expect(itemsOf([body], dialect)).toEqual(items);
  });

  it('a response made in the foreground is 0, not absent', () => {
    expect(itemsOf([responses({ background: false })])).toEqual({ 'response.background': 0 });
    expect(itemsOf([responses({ background: 'no' })])).toEqual({});
  });

  it('a duration may be text', () => {
    expect(itemsOf([responses({ duration: '7.5' })], 'openai-transcription')).toEqual({ 'audio.seconds': 7.5 });
  });

  it('xAI’s deferred response is queued', () => {
    expect(itemsOf(['{"request_id":"r"}'], 'openai-chat')).toEqual({
      'response.status': 'queued',
      'response.deferred_id': 'r',
    });
    for (const other of [{ model: 'm' }, { choices: [] }, { usage: { prompt_tokens: 1 } }])
      expect(itemsOf([{ request_id: 'r', ...other }], 'openai-chat')).toEqual({});
  });

  it('texts are cut to 128 characters', () => {
    expect(itemsOf([responses({ id: 'i'.repeat(200) })])).toEqual({ 'response.id': 'i'.repeat(128) });
  });
});

describe('errors', () => {
  const error = { error: { message: 'no' } };

  it('count when the first document is an error and nothing else', () => {
    expect(itemsOf([error])).toEqual({ 'response.error': 1 });
    expect(itemsOf([{ type: 'ping' }, error])).toEqual({ 'response.error': 1 });
  });

  it('do not count where there is nothing in them', () => {
    expect(itemsOf(['{"id":"ftjob-1","error":{ }}'], 'unknown')).toEqual({});
    expect(itemsOf([{ error: { message: 'no'.repeat(MAX_PICKED_BYTES) } }])).toEqual({ 'response.error': 1 });
  });

  it('do not count after a first document, next to choices or next to usage', () => {
    expect(itemsOf([responses({}), error])).toEqual({});
    expect(itemsOf([{ type: 'transcript.text.delta', delta: 'Hi' }, error])).toEqual({});
    expect(itemsOf([{ candidates: [{ content: { parts: [{ text: 'Hi' }] } }] }, error])).toEqual({});
    expect(itemsOf([{ ...error, choices: [] }])).toEqual({});
    expect(itemsOf([{ ...error, usage: { prompt_tokens: 1 } }])).toEqual({});
    expect(build([error], { isBatch: true }).builder.billableItems('openai-batch-output')).not.toHaveProperty([
      'response.error',
    ]);
  });
});

describe('usage', () => {
  it('of the last document wins', () => {
    expect(build([{ usage: { a: 1 } }, { usage: { b: 2 } }]).builder.usage).toEqual({ b: 2 });
  });

  it('of zeros alone counts, but not behind a count', () => {
    expect(build([{ usage: { a: 0 } }]).builder.usage).toEqual({ a: 0 });
    expect(build([{ usage: { a: 1 } }, { usage: { a: 0, of: { ttl_12h: 0 } } }]).builder.usage).toEqual({ a: 1 });
    expect(build([{ usage: { a: 1 } }, { usage: { a: 0, of: { b: 20 } } }]).builder.usage).toEqual({
      a: 0,
      of: { b: 20 },
    });
  });

  it.each<[string, object, object | null]>([
    ['usage', { usage: { a: 1 }, usageMetadata: { b: 1 } }, { a: 1 }],
    ['usageMetadata', { usageMetadata: { b: 1 }, x_groq: { usage: { c: 1 } } }, { b: 1 }],
    ['x_groq', { x_groq: { usage: { c: 1 } }, meta: { tokens: {} } }, { c: 1 }],
    ['metadata', { metadata: { usage: { e: 1 } } }, { e: 1 }],
    ['usage before what a client noted', { usage: { a: 1 }, metadata: { usage: 'nightly' } }, { a: 1 }],
    ['meta with billed_units', { meta: { billed_units: { d: 1 } } }, { billed_units: { d: 1 } }],
    ['meta with tokens', { meta: { tokens: { d: 1 } } }, { tokens: { d: 1 } }],
    ['another meta', { meta: { api_version: {} } }, null],
    ['an array', { usage: [1] }, null],
    ['x_groq next to an empty object', { usage: {}, x_groq: { usage: { c: 1 } } }, { c: 1 }],
    ['an empty object', { usage: {} }, null],
    ['a number', { usage: 7 }, null],
  ])('is read from %s', (_case, document, usage) => {
    expect(build([document]).builder.usage).toEqual(usage);
  });

  it('of message_start is none without a number', () => {
    expect(build([{ message: { usage: { of: [[]] } } }]).builder.usage).toBeNull();
  });

  it('of Anthropic’s message_delta is laid over that of message_start, nulls left out', () => {
    const { builder, isWhole } = build([
      { message: { model: 'claude', usage: { input_tokens: 3, output_tokens: 1 } } },
      { usage: { input_tokens: null, output_tokens: 9 } },
      { usage: { output_tokens: 12 } },
    ]);
    expect(builder.usage).toEqual({ input_tokens: 3, output_tokens: 12 });
    expect(isWhole).toBe(true);
  });

  it.each([
    ['alone', []],
    ['with a message_delta that has no output', [{ usage: { input_tokens: 3 } }]],
    ['with a message_delta whose output is null', [{ usage: { input_tokens: 3, output_tokens: null } }]],
  ])('of a message_start %s is half', (_case, deltas) => {
    expect(build([{ message: { usage: { input_tokens: 3, output_tokens: 1 } } }, ...deltas]).isWhole).toBe(false);
    const whole = [{ message: { usage: { input_tokens: 3 } } }, { usage: { output_tokens: 0 } }, ...deltas];
    expect(build(whole).isWhole).toBe(true);
  });

  it('of a document that never ended counts, and is marked', () => {
    const { builder, isWhole } = build(['{"usage":{"a":1},"text":"hal']);
    expect(builder.usage).toEqual({ a: 1 });
    expect(isWhole).toBe(false);
  });
});

describe('names', () => {
  it('the last model and service tier win; empty and wrong ones do not', () => {
    const { builder } = build([
      { model: 'a', service_tier: 'flex' },
      { model: 'b', service_tier: 'priority' },
      { model: '', service_tier: 7 },
      { model: 7 },
    ]);
    expect([builder.model, builder.serviceTier]).toEqual(['b', 'priority']);
  });

  it('are cut: the model to 128 characters, the tier to 64', () => {
    const { builder } = build([{ model: 'm'.repeat(200), service_tier: 't'.repeat(100) }]);
    expect([builder.model?.length, builder.serviceTier?.length]).toEqual([128, 64]);
  });
});

describe('a dialect that the path does not name', () => {
  it.each<[object, Dialect]>([
    [{ promptTokenCount: 1 }, 'gemini-generate'],
    [{ totalTokenCount: 1 }, 'gemini-generate'],
    [{ billed_units: { images: 1 } }, 'cohere-chat'],
    [{ total_input_tokens: 1, input_tokens: 1 }, 'gemini-interactions'],
    [{ prompt_tokens: 1 }, 'openai-chat'],
    [{ input_tokens: 1, cache_read_input_tokens: 0 }, 'anthropic-messages'],
    [{ input_tokens: 1 }, 'openai-responses'],
    [{ seconds: 1 }, 'unknown'],
  ])('%j is %s', (usage, dialect) => {
    expect(build([{ usage }]).builder.guessDialect()).toBe(dialect);
  });

  it('a message_start is Anthropic’s', () => {
    expect(build([{ message: { usage: { input_tokens: 1 } } }]).builder.guessDialect()).toBe('anthropic-messages');
    expect(build([{}]).builder.guessDialect()).toBe('unknown');
  });
});

describe('a batch inside one document', () => {
  const result = (model: string, usage: object) => ({ response: { body: { model, usage } } });

  it('is summed line by line, each with its own model', () => {
    const document = {
      results: [result('a', { prompt_tokens: 1 }), result('b', { prompt_tokens: 2 }), { error: {} }],
    };
    const { builder } = build([document], { isBatch: true, wanted: wantedInBatch });
    expect(builder.usage).toMatchObject({
      prompt_tokens: 3,
      batch_groups: [
        { model: 'a', usage: { prompt_tokens: 1 }, lines: 1 },
        { model: 'b', usage: { prompt_tokens: 2 }, lines: 1 },
      ],
    });
    expect(builder.billableItems('openai-batch-output')).toEqual({ batch: 2 });
  });

  it('a refusal without output is not charged, one with output is', () => {
    const line = (output_tokens: number) => ({
      result: { message: { model: 'claude', usage: { input_tokens: 5, output_tokens }, stop_reason: 'refusal' } },
    });
    expect(build([line(0)], { isBatch: true, wanted: wantedInBatch }).builder.usage).toBeNull();
    expect(build([line(1)], { isBatch: true, wanted: wantedInBatch }).builder.usage).toMatchObject({
      input_tokens: 5,
      output_tokens: 1,
    });
  });
});
