import { describe, expect, it } from '@jest/globals';
import type { Dialect } from '../../../lambda/domain/usage/dialect.ts';
import { KeptText } from '../../../lambda/gateway/meter/kept-text.ts';

const MAX_KEPT_BYTES = 64 * 1024;

const bytesOf = (dialect: Dialect, ...chunks: readonly string[]): number | null => {
  const kept = new KeptText(dialect);
  for (const chunk of chunks) kept.write(Buffer.from(chunk));
  return kept.textBytes();
};

describe('bytes of the visible text', () => {
  it.each<[Dialect, readonly string[]]>([
    ['openai-chat', ['content', 'reasoning', 'reasoning_content', 'refusal', 'name', 'arguments']],
    ['openai-completions', ['text']],
    ['openai-responses', ['delta']],
    ['anthropic-messages', ['text', 'thinking', 'name', 'partial_json']],
    ['gemini-generate', ['text']],
    ['cohere-chat', ['text', 'thinking', 'tool_plan', 'name', 'arguments']],
    ['cohere-generate', ['text']],
  ])('of %s are read from %j', (dialect, names) => {
    for (const name of names)
      expect([name, bytesOf(dialect, `{"${name}": "eight by", "other": "more text", "my${name}": "x"}`)]).toEqual([
        name,
        8,
      ]);
    expect(bytesOf(dialect, '{"other":"eight by"}')).toBeNull();
  });

  it('are null for other dialects, for an empty response and for empty text', () => {
    expect(bytesOf('openai-embeddings', '{"text":"eight by"}')).toBeNull();
    expect(bytesOf('free', '{"content":"eight by"}')).toBeNull();
    expect(bytesOf('openai-chat')).toBeNull();
    expect(bytesOf('openai-chat', '{"content":""}')).toBeNull();
  });

  it('are counted in UTF-8 after unescaping', () => {
    expect(bytesOf('openai-chat', '{"content":"\\u00e9\\n\\"\\\\"}')).toBe(5);
    expect(bytesOf('openai-chat', '{"content":"☃☃☃"}')).toBe(9);
    expect(bytesOf('openai-chat', '{"content":"four"}{"content":"f"}')).toBe(5);
  });

  it('count the text as it stands when it is cut within an escape', () => {
    expect(bytesOf('openai-chat', '{"content":"abcdef\\u00')).toBe('abcdef\\u00'.length);
  });

  it('are extrapolated from the first 64 KB, in one chunk or in many', () => {
    const begin = '{"text":"';
    const first = begin + 'x'.repeat(MAX_KEPT_BYTES - begin.length);
    const expected = (MAX_KEPT_BYTES - begin.length) * 2;
    const second = 'x'.repeat(MAX_KEPT_BYTES);
    expect(bytesOf('openai-completions', first, second)).toBe(expected);
    expect(bytesOf('openai-completions', first + second)).toBe(expected);
    expect(bytesOf('openai-completions', ...((first + second).match(/.{1,1000}/g) ?? []))).toBe(expected);
  });

  it('are read from the first 64 KB to their end', () => {
    const text = '{"text":"eight by';
    expect(bytesOf('openai-completions', text.padStart(MAX_KEPT_BYTES))).toBe(8);
    expect(bytesOf('openai-completions', ' '.repeat(MAX_KEPT_BYTES), text)).toBeNull();
  });

  it('do not count the text that the last event of a Cohere stream repeats', () => {
    const stream = '{"text":"eight by"}{"is_finished":true,"response":{"text":"eight by"}}';
    expect(bytesOf('cohere-chat', stream)).toBe(8);
  });

  it('are not extrapolated while everything is kept', () => {
    const event = `{"text":"${'x'.repeat(89)}"}`;
    expect(bytesOf('openai-completions', ...Array.from({ length: 600 }, () => event))).toBe(600 * 89);
  });
});
