import { describe, expect, it } from '@jest/globals';
import { BILLABLE } from '../../../lambda/domain/usage/billable-items.ts';
import type { Reading } from '../../../lambda/domain/usage/usage-event.ts';
import { normalizeUsage, reading } from './metered-usage.ts';

const normal = (provider: string, usage: Record<string, unknown>, said: Partial<Reading> = {}) =>
  normalizeUsage(provider, reading({ usage, ...said }));

describe('OpenAI chat completions', () => {
  it('has cached, audio and reasoning tokens inside the totals', () => {
    expect(
      normal('openai', {
        prompt_tokens: 120,
        completion_tokens: 80,
        total_tokens: 200,
        prompt_tokens_details: { cached_tokens: 64, audio_tokens: 10 },
        completion_tokens_details: { reasoning_tokens: 48, audio_tokens: 4 },
      }),
    ).toMatchObject({
      inputTokens: 120,
      outputTokens: 80,
      cacheReadTokens: 64,
      reasoningTokens: 48,
      inputAudioTokens: 10,
      outputAudioTokens: 4,
    });
  });

  it('reads embeddings, which have no output', () => {
    expect(normal('openai', { prompt_tokens: 7, total_tokens: 7 })).toMatchObject({ inputTokens: 7, outputTokens: 0 });
  });

  it('takes details that are null for none', () => {
    expect(
      normal('mistral', { prompt_tokens: 3, completion_tokens: 0, prompt_tokens_details: null, total_tokens: 3 }),
    ).toMatchObject({ inputTokens: 3, cacheReadTokens: 0 });
  });

  it('counts the search that a search model makes in every call', () => {
    const usage = { prompt_tokens: 5, completion_tokens: 9 };
    expect(normal('openai', usage, { modelServed: 'gpt-4o-search-preview-2025-03-11' })?.units).toEqual({
      webSearches: 1,
    });
  });
});

describe('reasoning outside the completion', () => {
  const usage = {
    prompt_tokens: 165,
    completion_tokens: 2,
    total_tokens: 292,
    completion_tokens_details: { reasoning_tokens: 125 },
  };

  it('is added where the total shows that it is outside (xAI chat)', () => {
    expect(normal('xai', usage)).toMatchObject({ inputTokens: 165, outputTokens: 127, reasoningTokens: 125 });
  });

  it('is not added where the total says that it is inside', () => {
    expect(normal('xai', { ...usage, completion_tokens: 127 })).toMatchObject({
      outputTokens: 127,
      reasoningTokens: 125,
    });
  });

  it('is added for xAI where there is no total', () => {
    const { total_tokens: _, ...rest } = usage;
    expect(normal('xai', rest)).toMatchObject({ outputTokens: 127 });
  });

  it('is not added against the total: a router may count reasoning by another tokenizer', () => {
    const counted = { prompt_tokens: 94, completion_tokens: 540, completion_tokens_details: { reasoning_tokens: 560 } };
    expect(normal('openrouter', { ...counted, total_tokens: 634 })).toMatchObject({
      outputTokens: 540,
      reasoningTokens: 540,
    });
    expect(normal('openrouter', counted)).toMatchObject({ outputTokens: 1100, reasoningTokens: 560 });
  });

  it('is inside in Responses', () => {
    expect(
      normal('xai', {
        input_tokens: 358,
        output_tokens: 389,
        total_tokens: 747,
        input_tokens_details: { cached_tokens: 128 },
        output_tokens_details: { reasoning_tokens: 378 },
        cost_in_usd_ticks: 12_856_000,
      }),
    ).toMatchObject({
      inputTokens: 358,
      outputTokens: 389,
      cacheReadTokens: 128,
      reasoningTokens: 378,
      providerCostNanoUsd: 1_285_600,
    });
  });

  it("is added for Perplexity's deep research, which leaves it out of the total", () => {
    expect(
      normal('perplexity', {
        prompt_tokens: 33,
        completion_tokens: 7163,
        total_tokens: 7196,
        citation_tokens: 20_101,
        num_search_queries: 18,
        reasoning_tokens: 5000,
      }),
    ).toMatchObject({
      outputTokens: 12_163,
      reasoningTokens: 5000,
      units: { citationTokens: 20_101, webSearches: 18, requests: 1 },
    });
  });

  it("is what Gemini's OpenAI-style responses have only in the total", () => {
    expect(normal('google', { prompt_tokens: 66, completion_tokens: 6, total_tokens: 100 })).toMatchObject({
      inputTokens: 66,
      outputTokens: 34,
      reasoningTokens: 28,
    });
  });
});

describe('Anthropic messages', () => {
  it('adds cache reads and writes to the input, which leaves them out', () => {
    expect(
      normal('anthropic', {
        input_tokens: 2,
        cache_creation_input_tokens: 50,
        cache_read_input_tokens: 1650,
        cache_creation: { ephemeral_5m_input_tokens: 44, ephemeral_1h_input_tokens: 6 },
        output_tokens: 37,
        output_tokens_details: { thinking_tokens: 9 },
        server_tool_use: { web_search_requests: 2 },
      }),
    ).toMatchObject({
      inputTokens: 1702,
      outputTokens: 37,
      cacheReadTokens: 1650,
      cacheWriteTokens: 50,
      cacheWrite1hTokens: 6,
      reasoningTokens: 9,
      units: { webSearches: 2 },
    });
  });

  it('takes the aggregate for five-minute writes where the split is absent', () => {
    expect(
      normal('anthropic', { input_tokens: 1, cache_creation_input_tokens: 9, cache_creation: null, output_tokens: 1 }),
    ).toMatchObject({ cacheWriteTokens: 9, cacheWrite1hTokens: 0 });
  });

  it('sums the iterations of a compaction, which the top level leaves out', () => {
    expect(
      normal('anthropic', {
        input_tokens: 23_000,
        output_tokens: 1000,
        iterations: [
          { type: 'compaction', input_tokens: 180_000, output_tokens: 3500 },
          { type: 'message', input_tokens: 23_000, output_tokens: 1000 },
        ],
      }),
    ).toMatchObject({ inputTokens: 203_000, outputTokens: 4500 });
  });
});

describe('Gemini', () => {
  it('adds thoughts to the output and tool prompts to the input', () => {
    expect(
      normal('google', {
        promptTokenCount: 132,
        candidatesTokenCount: 65,
        totalTokenCount: 1733,
        toolUsePromptTokenCount: 1387,
        thoughtsTokenCount: 149,
        cachedContentTokenCount: 100,
        promptTokensDetails: [
          { modality: 'IMAGE', tokenCount: 32 },
          { modality: 'TEXT', tokenCount: 100 },
        ],
      }),
    ).toMatchObject({
      inputTokens: 1519,
      outputTokens: 214,
      reasoningTokens: 149,
      cacheReadTokens: 100,
      inputImageTokens: 32,
    });
  });

  it('does not add thoughts where prompt and candidates make up the total', () => {
    expect(
      normal('google', { promptTokenCount: 10, candidatesTokenCount: 50, thoughtsTokenCount: 30, totalTokenCount: 60 }),
    ).toMatchObject({ outputTokens: 50, reasoningTokens: 30 });
  });

  it('infers missing candidates from the total', () => {
    expect(normal('google', { promptTokenCount: 10, thoughtsTokenCount: 30, totalTokenCount: 45 })).toMatchObject({
      outputTokens: 35,
    });
    expect(normal('google', { promptTokenCount: 10, totalTokenCount: 10 })).toMatchObject({ outputTokens: 0 });
  });

  it('reads interactions', () => {
    expect(
      normal('google', {
        total_input_tokens: 266,
        total_output_tokens: 3,
        total_thought_tokens: 57,
        total_cached_tokens: 20,
        total_tool_use_tokens: 5,
        total_tokens: 331,
        input_tokens_by_modality: [{ modality: 'image', tokens: 258 }],
      }),
    ).toMatchObject({
      inputTokens: 271,
      outputTokens: 60,
      reasoningTokens: 57,
      cacheReadTokens: 20,
      inputImageTokens: 258,
    });
  });
});

describe('Cohere', () => {
  it('keeps processed and billed tokens apart', () => {
    expect(
      normal('cohere', {
        billed_units: { input_tokens: 84, output_tokens: 314 },
        tokens: { input_tokens: 1501, output_tokens: 346, reasoning_tokens: 304 },
        cached_tokens: 1008,
      }),
    ).toMatchObject({
      inputTokens: 1501,
      outputTokens: 346,
      cacheReadTokens: 1008,
      reasoningTokens: 304,
      billedInputTokens: 84,
      billedOutputTokens: 314,
    });
  });

  it('reads rerank, image embeddings, and units of kinds not known', () => {
    expect(normal('cohere', { billed_units: { search_units: 3 } })?.units).toEqual({ searchUnits: 3 });
    expect(normal('cohere', { billed_units: { images: 1 } })?.units).toEqual({ images: 1 });
    expect(normal('cohere', { billed_units: { classifications: 2 } })?.units).toEqual({ otherUnits: 2 });
    expect(normal('cohere', { billed_units: { image_tokens: 12, input_tokens: 4 } })).toMatchObject({
      inputTokens: 16,
      inputImageTokens: 12,
      billedInputTokens: 16,
    });
  });
});

describe('other providers', () => {
  it.each([
    ['deepseek', { prompt_tokens: 9, completion_tokens: 1, prompt_cache_hit_tokens: 4, prompt_cache_miss_tokens: 5 }],
    ['together', { prompt_tokens: 9, completion_tokens: 1, cached_tokens: 4 }],
    ['mistral', { prompt_tokens: 9, completion_tokens: 1, num_cached_tokens: 4 }],
    ['groq', { prompt_tokens: 9, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 4 }, queue_time: 0.2 }],
  ])('reads cached tokens of %s', (provider, usage) => {
    expect(normal(provider, usage)).toMatchObject({ inputTokens: 9, outputTokens: 1, cacheReadTokens: 4 });
  });

  it("takes Fireworks' cached tokens from its header where its usage does not report them", () => {
    const billableItems = { [BILLABLE.cachedPromptTokens]: 4 };
    const cached = (usage: Record<string, unknown>) => normal('fireworks', usage, { billableItems })?.cacheReadTokens;
    expect(cached({ prompt_tokens: 9, completion_tokens: 1 })).toBe(4);
    expect(cached({ prompt_tokens: 9, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 4 } })).toBe(4);
    expect(cached({ prompt_tokens: 3, completion_tokens: 1 })).toBe(3);
    expect(normalizeUsage('fireworks', reading({ billableItems }))).toBeNull();
  });

  it('cuts cached tokens that exceed the prompt (Mistral)', () => {
    expect(normal('mistral', { prompt_tokens: 9, completion_tokens: 1, num_cached_tokens: 64 })).toMatchObject({
      inputTokens: 9,
      cacheReadTokens: 9,
    });
  });

  it('adds audio, which Mistral has only in the total', () => {
    expect(
      normal('mistral', { prompt_audio_seconds: 203, prompt_tokens: 4, completion_tokens: 635, total_tokens: 3264 }),
    ).toMatchObject({ inputTokens: 2629, inputAudioTokens: 2625, outputTokens: 635, units: { audioSeconds: 203 } });
  });

  it('reads speech-to-text by time and by tokens', () => {
    expect(normal('openai', { type: 'duration', seconds: 6.5 })?.units).toEqual({ audioSeconds: 6.5 });
    expect(
      normal('openai', {
        type: 'tokens',
        input_tokens: 26,
        input_token_details: { audio_tokens: 21 },
        output_tokens: 5,
      }),
    ).toMatchObject({ inputTokens: 26, inputAudioTokens: 21, outputTokens: 5 });
  });

  it('takes all output of an image response without details for images', () => {
    expect(normal('openai', { input_tokens: 14, output_tokens: 272 }, { dialect: 'openai-images' })).toMatchObject({
      outputImageTokens: 272,
    });
  });
});

describe('the cost that a provider reports', () => {
  it('is the cost of OpenRouter, and with the own key its fee and what the provider charges', () => {
    const usage = { prompt_tokens: 20, completion_tokens: 1 };
    const cost = (said: Record<string, unknown>) => normal('openrouter', { ...usage, ...said })?.providerCostNanoUsd;
    expect(cost({ cost: 0.001086, is_byok: false, cost_details: { upstream_inference_cost: 0.001086 } })).toBe(
      1_086_000,
    );
    expect(cost({ cost: 0, is_byok: true, cost_details: { upstream_inference_cost: 3.6e-6 } })).toBe(3600);
    expect(cost({ cost: 1e-6, is_byok: true, cost_details: { upstream_inference_cost: 3.6e-6 } })).toBe(4600);
    expect(cost({ cost: 0, is_byok: true, cost_details: { upstream_inference_cost: null } })).toBeNull();
    expect(cost({ cost: 0, is_byok: false, cost_details: { upstream_inference_cost: null } })).toBe(0);
    expect(cost({})).toBeNull();
  });

  it('is the total of Perplexity, and of no other provider', () => {
    const usage = { prompt_tokens: 7, completion_tokens: 1, cost: { total_cost: 0.00501 }, cost_in_usd_ticks: 5 };
    expect(normal('perplexity', usage)?.providerCostNanoUsd).toBe(5_010_000);
    expect(normal('openai', usage)?.providerCostNanoUsd).toBeNull();
  });

  it('is unknown while Perplexity reports 0: its streams begin with a cost of 0', () => {
    const usage = { prompt_tokens: 7, completion_tokens: 1, cost: { input_tokens_cost: 0, total_cost: 0 } };
    expect(normal('perplexity', usage)?.providerCostNanoUsd).toBeNull();
  });

  it('may be all that a response has (images of xAI)', () => {
    expect(normal('xai', { cost_in_usd_ticks: 700_000_000 })).toMatchObject({
      inputTokens: 0,
      providerCostNanoUsd: 70_000_000,
    });
  });
});

describe('no usage', () => {
  it('is null, and explicit zeroes are not', () => {
    expect(normalizeUsage('openai', reading())).toBeNull();
    expect(normal('openai', {})).toBeNull();
    expect(normal('openai', { prompt_tokens: null })).toBeNull();
    expect(normal('openai', { prompt_tokens: 0, completion_tokens: 0 })).toMatchObject({
      inputTokens: 0,
      outputTokens: 0,
    });
  });

  it('is complemented by billable items outside the usage object', () => {
    const billableItems = { [BILLABLE.imageCount]: 2, [BILLABLE.imageSize]: '1024x1024' };
    expect(normalizeUsage('openai', reading({ billableItems }))?.units).toEqual({ images: 2 });
  });

  it('prefers a reported count of searches to the counted items', () => {
    const billableItems = { [BILLABLE.webSearchCalls]: 3, [BILLABLE.webSearchRequests]: 2 };
    expect(normalizeUsage('openai', reading({ billableItems }))?.units).toEqual({ webSearches: 2 });
    expect(
      normalizeUsage('openai', reading({ billableItems: { ...billableItems, [BILLABLE.webSearchPreview]: 1 } }))?.units,
    ).toEqual({
      webSearchPreviews: 2,
    });
  });

  it('prefers the usage object to billable items', () => {
    const billableItems = { [BILLABLE.audioSeconds]: 8.47, [BILLABLE.webSearchCalls]: 1 };
    expect(normal('openai', { type: 'duration', seconds: 9 }, { billableItems })?.units).toMatchObject({
      audioSeconds: 9,
    });
    const tools = { server_side_tool_usage_details: { web_search_calls: 1, x_search_calls: 2, file_search_calls: 0 } };
    expect(normal('xai', { input_tokens: 9, output_tokens: 1, ...tools }, { billableItems })?.units.webSearches).toBe(
      3,
    );
  });
});
