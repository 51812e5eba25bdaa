import { describe, expect, it } from '@jest/globals';
import type { Dialect } from '../../../lambda/domain/usage/dialect.ts';
import { estimateUsage, KeptText } from '../../../lambda/gateway/meter/estimate.ts';

const MAX_KEPT_BYTES = 64 * 1024;

const tokensOf = (dialect: Dialect, ...chunks: readonly string[]): number | null => {
  const kept = new KeptText(dialect);
  for (const chunk of chunks) kept.write(Buffer.from(chunk));
  return kept.outputTokens();
};

describe('tokens of the visible text', () => {
  it.each<[Dialect, readonly string[]]>([
    ['openai-chat', ['content', 'reasoning', 'reasoning_content', 'arguments']],
    ['openai-completions', ['text']],
    ['openai-responses', ['delta']],
    ['anthropic-messages', ['text', 'thinking', 'partial_json']],
    ['gemini-generate', ['text']],
    ['cohere-chat', ['text', 'arguments']],
    ['cohere-generate', ['text']],
  ])('of %s are read from %j', (dialect, names) => {
    for (const name of names)
      expect([name, tokensOf(dialect, `{"${name}": "eight by", "other": "more text", "my${name}": "x"}`)]).toEqual([
        name,
        2,
      ]);
    expect(tokensOf(dialect, '{"other":"eight by"}')).toBeNull();
  });

  it('are null for other dialects, for an empty response and for empty text', () => {
    expect(tokensOf('openai-embeddings', '{"text":"eight by"}')).toBeNull();
    expect(tokensOf('free', '{"content":"eight by"}')).toBeNull();
    expect(tokensOf('openai-chat')).toBeNull();
    expect(tokensOf('openai-chat', '{"content":""}')).toBeNull();
  });

  it('count bytes of UTF-8 after unescaping, rounded up', () => {
    expect(tokensOf('openai-chat', '{"content":"\\u00e9\\n\\"\\\\"}')).toBe(2);
    expect(tokensOf('openai-chat', '{"content":"☃☃☃"}')).toBe(3);
    expect(tokensOf('openai-chat', '{"content":"four"}{"content":"f"}')).toBe(2);
  });

  it('count the text as it stands when it is cut within an escape', () => {
    expect(tokensOf('openai-chat', '{"content":"abcdef\\u00')).toBe(Math.ceil('abcdef\\u00'.length / 4));
  });

  it('are extrapolated from the first 64 KB, in one chunk or in many', () => {
    const begin = '{"text":"';
    const first = begin + 'x'.repeat(MAX_KEPT_BYTES - begin.length);
    const expected = Math.ceil(((MAX_KEPT_BYTES - begin.length) * 2) / 4);
    const second = 'x'.repeat(MAX_KEPT_BYTES);
    expect(tokensOf('openai-completions', first, second)).toBe(expected);
    expect(tokensOf('openai-completions', first + second)).toBe(expected);
    expect(tokensOf('openai-completions', ...((first + second).match(/.{1,1000}/g) ?? []))).toBe(expected);
  });

  it('are read from the first 64 KB to their end', () => {
    const text = '{"text":"eight by';
    expect(tokensOf('openai-completions', text.padStart(MAX_KEPT_BYTES))).toBe(2);
    expect(tokensOf('openai-completions', ' '.repeat(MAX_KEPT_BYTES), text)).toBeNull();
  });

  it('are not extrapolated while everything is kept', () => {
    const event = `{"text":"${'x'.repeat(89)}"}`;
    expect(tokensOf('openai-completions', ...Array.from({ length: 600 }, () => event))).toBe((600 * 89) / 4);
  });
});

describe('estimated usage', () => {
  it.each<[Dialect, object]>([
    ['openai-chat', { prompt_tokens: 3, completion_tokens: 7, total_tokens: 10 }],
    ['openai-completions', { prompt_tokens: 3, completion_tokens: 7, total_tokens: 10 }],
    ['openai-responses', { input_tokens: 3, output_tokens: 7, total_tokens: 10 }],
    ['anthropic-messages', { input_tokens: 3, output_tokens: 7 }],
    ['gemini-generate', { promptTokenCount: 3, candidatesTokenCount: 7, totalTokenCount: 10 }],
    ['cohere-chat', { billed_units: { input_tokens: 3, output_tokens: 7 } }],
    ['cohere-generate', { billed_units: { input_tokens: 3, output_tokens: 7 } }],
  ])('of %s has its members', (dialect, usage) => {
    expect(estimateUsage(dialect, null, 9, 7)).toEqual(usage);
    expect(estimateUsage(dialect, null, 9, null)).toBeNull();
  });

  it('is null for a dialect without text', () => {
    expect(estimateUsage('openai-embeddings', null, 9, 7)).toBeNull();
  });

  it('replaces a reported output that is smaller or missing, and nothing else', () => {
    const estimate = (reported: Record<string, unknown>) => estimateUsage('anthropic-messages', reported, 9, 7);
    expect(estimate({ input_tokens: 50, output_tokens: 6 })).toEqual({ input_tokens: 50, output_tokens: 7 });
    expect(estimate({ input_tokens: 50 })).toEqual({ input_tokens: 50, output_tokens: 7 });
    expect(estimate({ input_tokens: 50, output_tokens: 7 })).toBeNull();
    expect(estimate({ input_tokens: 50, output_tokens: 8 })).toBeNull();
  });
});
