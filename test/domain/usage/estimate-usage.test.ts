import { describe, expect, it } from '@jest/globals';
import { priceRequest } from '../../../fixtures/bundled-prices.ts';
import { reasons } from '../../../lambda/domain/price/price-request.ts';
import type { Dialect } from '../../../lambda/domain/usage/dialect.ts';
import { estimateUsage } from '../../../lambda/domain/usage/estimate-usage.ts';
import type { Prompt, Reading } from '../../../lambda/domain/usage/usage-event.ts';
import { reading as readingOf, request } from './metered-usage.ts';

const PROMPT: Prompt = {
  messages: 2,
  calls: 0,
  textBytes: 450,
  toolBytes: 0,
  schemaBytes: 0,
  images: [],
  uncounted: [],
};

const OUTPUT = { pieces: 20, thinkingPieces: 0, calls: 0, hiddenBytes: 0, hiddenParts: 0 };

const reading = (prompt: Partial<Prompt> = {}, members: Partial<Reading> = {}): Reading =>
  readingOf({
    usageSource: 'estimated',
    visible: { prompt: { ...PROMPT, ...prompt }, outputBytes: 90, output: OUTPUT },
    modelRequested: 'gpt-4o',
    ...members,
  });

const inputOf = (prompt: Partial<Prompt>, model = 'gpt-4o'): number =>
  Number(estimateUsage(reading(prompt, { modelRequested: model }))?.usage['prompt_tokens']);

describe('estimated usage', () => {
  // 450 bytes at 4.5, 4.4 for the chat, 2.7 for each message; 20 pieces at 1.05.
  const [input, output] = [110, 21];
  it.each<[Dialect, object]>([
    ['openai-chat', { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }],
    ['openai-responses', { input_tokens: input, output_tokens: output }],
    ['anthropic-messages', { input_tokens: input, output_tokens: output }],
    ['gemini-generate', { promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: input + output }],
    ['cohere-chat', { billed_units: { input_tokens: input, output_tokens: output } }],
    // Without messages there is no template.
    ['openai-completions', { prompt_tokens: 100, completion_tokens: output, total_tokens: 100 + output }],
    ['cohere-generate', { billed_units: { input_tokens: 100, output_tokens: output } }],
  ])('of %s has its members', (dialect, usage) => {
    expect(estimateUsage(reading({}, { dialect }))).toMatchObject({ usage, isLowerBound: false });
  });

  it('of an embedding has no output', () => {
    const visible = { prompt: PROMPT, outputBytes: 0 };
    expect(estimateUsage(reading({}, { dialect: 'gemini-embed', visible }))?.usage).toEqual({
      promptTokenCount: 100,
      candidatesTokenCount: 0,
      totalTokenCount: 100,
    });
  });

  it('is null without anything visible, and for a dialect without text', () => {
    const { visible: _visible, ...blind } = reading();
    expect(estimateUsage(blind)).toBeNull();
    expect(estimateUsage(reading({}, { dialect: 'openai-images' }))).toBeNull();
  });

  it('grows with everything that is billed', () => {
    const plain = inputOf({});
    const more: Partial<Prompt>[] = [
      { messages: 3 },
      { calls: 1 },
      { textBytes: 500 },
      { toolBytes: 300 },
      { schemaBytes: 300 },
      { images: [{ width: 512, height: 512, detail: null }] },
    ];
    for (const part of more) expect([part, inputOf(part) > plain]).toEqual([part, true]);
  });

  it('does not count an empty list of tools, nor a schema that the model does not get', () => {
    expect(inputOf({ toolBytes: 2 })).toBe(inputOf({}));
    expect(inputOf({ schemaBytes: 900 }, 'gemini-2.5-flash')).toBe(inputOf({}, 'gemini-2.5-flash'));
  });

  it.each([
    ['claude-sonnet-4-5', 'anthropic/claude-sonnet-4.5'],
    ['gpt-oss-120b', 'openai/gpt-oss-20b'],
    ['llama-3.3-70b-versatile', 'meta-llama/Llama-3.3-70B-Instruct-Turbo'],
    ['grok-4-fast', 'x-ai/grok-4.1-fast'],
    ['gemini-2.5-flash', 'models/gemini-2.5-pro'],
    ['ministral-3b-latest', 'mistralai/mistral-nemo'],
    ['gpt-4o', 'o3'],
  ])('is the same for %s and %s, which have a tokenizer in common', (one, other) => {
    expect(inputOf({ toolBytes: 300 }, one)).toBe(inputOf({ toolBytes: 300 }, other));
  });

  it.each([
    ['gpt-4o', { calls: 2 }, 20 * 1.05 + 2 * 7.2],
    ['claude-sonnet-4-6', { calls: 1 }, 20 * 1.22 + 38],
    ['claude-sonnet-4-6', { thinkingPieces: 100, hiddenBytes: 900, hiddenParts: 1 }, (20 + 115) * 1.22],
    ['deepseek-v4-flash', { thinkingPieces: 100 }, 120],
    // The summary of reasoning that is also there in encrypted form is no output of its own.
    ['gpt-5.5', { thinkingPieces: 100, hiddenBytes: 1150 + 580, hiddenParts: 1 }, 20 * 1.05 + 100],
    ['gemini-3-pro-preview', { hiddenBytes: 67 + 544, hiddenParts: 1 }, 20 * 1.05 + 100],
  ])('of %s with %j has the tokens of calls and reasoning', (modelRequested, sizes, tokens) => {
    const visible = { prompt: PROMPT, outputBytes: 90, output: { ...OUTPUT, ...sizes } };
    const estimate = estimateUsage(reading({}, { modelRequested, visible }));
    expect(estimate?.usage['completion_tokens']).toBe(Math.ceil(tokens));
    expect(Number(estimate?.least['completion_tokens'])).toBeLessThan(tokens);
    expect(Number(estimate?.most['completion_tokens'])).toBeGreaterThan(tokens);
  });

  it('of an event of an older gateway comes from its bytes', () => {
    const visible = { prompt: PROMPT, outputBytes: 90 };
    expect(estimateUsage(reading({}, { visible }))).toMatchObject({
      usage: { completion_tokens: 20 },
      most: { completion_tokens: 63 },
    });
  });

  it('of a prompt with parts that cannot be counted is a lower bound', () => {
    expect(estimateUsage(reading({ uncounted: ['file'] }))).toMatchObject({ isLowerBound: true });
    const remote = { width: null, height: null, detail: null };
    expect(estimateUsage(reading({ images: [remote] }))).toMatchObject({ isLowerBound: true });
    expect(estimateUsage(reading({ images: [{ ...remote, detail: 'low' }] }))).toMatchObject({ isLowerBound: false });
  });

  it('replaces a reported output that is smaller or missing, and nothing else', () => {
    const estimate = (usage: Record<string, unknown>) =>
      estimateUsage(reading({ uncounted: ['file'] }, { dialect: 'anthropic-messages', usage }));
    const replaced = { usage: { input_tokens: 50, output_tokens: 21 }, isLowerBound: false };
    expect(estimate({ input_tokens: 50, output_tokens: 20 })).toMatchObject(replaced);
    expect(estimate({ input_tokens: 50 })).toMatchObject(replaced);
    expect(estimate({ input_tokens: 50, output_tokens: { valueOf: 1 } })).toMatchObject(replaced);
    for (const output_tokens of [22, '22']) {
      const larger = { input_tokens: 50, output_tokens };
      expect(estimate(larger)?.usage).toBe(larger);
    }
  });
});

describe('the price of an estimate', () => {
  const price = (from: Reading, provider: 'openai' | 'anthropic' | 'google' = 'openai') =>
    priceRequest(request({ provider, startedAt: '2026-05-05T12:00:00Z', reading: from }));

  it('is estimated', () => {
    expect(price(reading())).toMatchObject({
      provenance: 'estimated',
      reason: reasons.estimatedUsage,
      costNanoUsd: 110 * 2_500 + 21 * 10_000,
      usage: { inputTokens: 110, outputTokens: 21 },
    });
  });

  it('has bounds', () => {
    expect(price(reading()).estimateRange).toEqual({
      leastNanoUsd: 66 * 2_500 + 12 * 10_000,
      mostNanoUsd: 198 * 2_500 + 35 * 10_000,
    });
    const { visible: _visible, ...reported } = reading({}, { usageSource: 'reported' });
    expect(price({ ...reported, usage: { prompt_tokens: 1, completion_tokens: 1 } }).estimateRange).toBeUndefined();
  });

  it('is known for hidden reasoning only where its encrypted form shows its length', () => {
    const from = (output: object) =>
      price(
        reading(
          {},
          { modelRequested: 'gpt-5.5', visible: { prompt: PROMPT, outputBytes: 90, output: { ...OUTPUT, ...output } } },
        ),
      );
    expect(from({})).toMatchObject({ provenance: 'unknown', reason: reasons.hiddenReasoning });
    expect(from({ hiddenBytes: 20, hiddenParts: 1 })).toMatchObject({ provenance: 'unknown' });
    expect(from({ hiddenBytes: 1730, hiddenParts: 1 })).toMatchObject({
      provenance: 'estimated',
      usage: { outputTokens: 121 },
    });
  });

  it('is unknown where the input is a lower bound, which it shows', () => {
    expect(price(reading({ uncounted: ['file'] }))).toMatchObject({
      provenance: 'unknown',
      reason: reasons.uncounted,
      costNanoUsd: null,
      lines: [],
      usage: { inputTokens: 110, outputTokens: 21 },
    });
  });

  it('is that of the reported usage where nothing was to be estimated', () => {
    const usage = { input_tokens: 50, output_tokens: 200 };
    const claude = {
      dialect: 'anthropic-messages',
      usage,
      complete: false,
      modelRequested: 'claude-haiku-4-5',
    } as const;
    expect(price(reading({}, claude), 'anthropic')).toMatchObject({
      provenance: 'estimated',
      reason: reasons.cut,
      usage: { inputTokens: 50, outputTokens: 200 },
    });
  });

  it('of a Gemini embedding is that of its text', () => {
    const visible = { prompt: PROMPT, outputBytes: 0 };
    const from = reading({}, { dialect: 'gemini-embed', visible, modelRequested: 'gemini-embedding-001' });
    expect(price(from, 'google')).toMatchObject({ provenance: 'estimated', usage: { inputTokens: 108 } });
  });
});
