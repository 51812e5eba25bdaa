import { describe, expect, it } from '@jest/globals';
import type { Dialect } from '../../../lambda/domain/usage/dialect.ts';
import { piecesOf, VisibleOutput } from '../../../lambda/gateway/meter/visible-output.ts';

const MAX_KEPT_BYTES = 64 * 1024;

const countOf = (dialect: Dialect, ...chunks: readonly string[]) => {
  const output = new VisibleOutput(dialect);
  for (const chunk of chunks) output.write(Buffer.from(chunk));
  return output.count();
};

const bytesOf = (...arguments_: Parameters<typeof countOf>): number | null =>
  countOf(...arguments_)?.outputBytes ?? null;

const sse = (...documents: readonly object[]): string =>
  documents.map((document) => `event: x\ndata: ${JSON.stringify(document)}\n\n`).join('');

const choice = (delta: object) => ({ choices: [{ delta }] });
const call = (name: string | null, rest: string) => ({ function: { name, arguments: rest } });

describe('the output that a client got', () => {
  const nothing = { pieces: 0, thinkingPieces: 0, calls: 0, hiddenBytes: 0, hiddenParts: 0 };

  it.each<[Dialect, string, object]>([
    [
      'openai-chat',
      sse(
        choice({ content: 'one two' }),
        choice({ reasoning: 'three', reasoning_content: 'three' }),
        choice({ tool_calls: [call('four', '')] }),
        choice({ tool_calls: [call(null, 'five six')] }),
        choice({ refusal: 'seven', reasoning_details: [{ data: 'hidden!' }] }),
      ),
      { pieces: 6, thinkingPieces: 1, calls: 1, hiddenBytes: 7, hiddenParts: 1 },
    ],
    ['openai-completions', sse({ choices: [{ text: 'one two' }] }), { pieces: 2 }],
    [
      'openai-responses',
      sse(
        { type: 'response.created', response: { instructions: 'not this', output: [{ name: 'nor this' }] } },
        { type: 'response.output_item.added', item: { type: 'reasoning', encrypted_content: 'not yet' } },
        { type: 'response.reasoning_summary_text.delta', delta: 'one' },
        { type: 'response.output_item.done', item: { type: 'reasoning', encrypted_content: 'hidden!' } },
        { type: 'response.output_item.added', item: { type: 'function_call', name: 'two' } },
        { type: 'response.function_call_arguments.delta', delta: 'three' },
        { type: 'response.output_item.done', item: { name: 'two', arguments: 'three' } },
        { type: 'response.output_text.delta', delta: 'four five' },
        { type: 'response.output_text.done', text: 'four five' },
      ),
      { pieces: 4, thinkingPieces: 1, calls: 1, hiddenBytes: 7, hiddenParts: 1 },
    ],
    [
      'anthropic-messages',
      sse(
        { type: 'message_start', message: { content: [] } },
        { type: 'content_block_delta', delta: { type: 'thinking_delta', thinking: 'one two three' } },
        { type: 'content_block_delta', delta: { type: 'signature_delta', signature: 'signed' } },
        { type: 'content_block_start', content_block: { type: 'tool_use', name: 'four', input: {} } },
        { type: 'content_block_delta', delta: { type: 'input_json_delta', partial_json: '{"five"' } },
        { type: 'content_block_delta', delta: { type: 'text_delta', text: 'six' } },
      ),
      { pieces: 5, thinkingPieces: 3, calls: 1, hiddenBytes: 6, hiddenParts: 1 },
    ],
    [
      'gemini-generate',
      sse({
        candidates: [
          {
            content: {
              parts: [
                { text: 'one two', thought: true },
                { functionCall: { name: 'three', args: { four: 'five' } }, thoughtSignature: 'signed' },
                { text: 'six' },
              ],
            },
          },
        ],
      }),
      { pieces: 7, thinkingPieces: 2, calls: 1, hiddenBytes: 6, hiddenParts: 1 },
    ],
    [
      'cohere-chat',
      sse(
        { type: 'content-delta', delta: { message: { content: { thinking: 'one two' } } } },
        { type: 'content-delta', delta: { message: { content: { text: 'three' } } } },
        { type: 'tool-plan-delta', delta: { message: { tool_plan: 'four' } } },
        { type: 'tool-call-start', delta: { message: { tool_calls: call('five', 'six') } } },
      ),
      { pieces: 4, thinkingPieces: 2, calls: 1 },
    ],
    ['cohere-generate', sse({ text: 'one two' }), { pieces: 2 }],
  ])('%s', (dialect, body, output) => {
    const expected = { ...nothing, ...output };
    expect(countOf(dialect, body)?.output).toEqual(expected);
    expect(countOf(dialect, ...(body.match(/.{1,7}/gs) ?? []))?.output).toEqual(expected);
  });

  it('is counted once where a stream has it twice', () => {
    const together = (text: string) => ({ choices: [{ text, delta: { content: text } }] });
    expect(bytesOf('openai-chat', sse(together('four'), together(' byt')))).toBe(8);
    const perplexity = (text: string, whole: string) => ({
      choices: [{ delta: { content: text }, message: { content: whole } }],
    });
    expect(bytesOf('openai-chat', sse(perplexity('four', 'four'), perplexity(' byt', 'four byt')))).toBe(8);
  });

  it('is also read from a response that is no stream', () => {
    const whole = {
      content: [
        { type: 'text', text: 'one' },
        { type: 'tool_use', name: 'two', input: { three: 4 } },
      ],
    };
    expect(countOf('anthropic-messages', JSON.stringify(whole))?.output).toMatchObject({ calls: 1 });
    const gemini = [{ candidates: [{ content: { parts: [{ text: 'one two' }] } }] }];
    expect(countOf('gemini-generate', JSON.stringify(gemini, null, 2))?.output).toMatchObject({ pieces: 2 });
  });

  it('is null for other dialects, for an empty response and for empty text', () => {
    expect(countOf('openai-embeddings', '{"text":"eight by"}')).toBeNull();
    expect(countOf('free', '{"text":"eight by"}')).toBeNull();
    expect(countOf('openai-chat')).toBeNull();
    expect(countOf('openai-chat', sse(choice({ content: '' })))).toBeNull();
  });

  it('has its bytes in UTF-8 after unescaping', () => {
    expect(bytesOf('cohere-generate', '{"text":"\\u00e9\\n\\"\\\\"}')).toBe(5);
    expect(bytesOf('cohere-generate', '{"text":"☃☃☃"}')).toBe(9);
    expect(bytesOf('cohere-generate', '{"text":"four"}{"text":"f"}')).toBe(5);
  });

  it('counts a text that was cut, as it stands where it was cut within an escape', () => {
    expect(bytesOf('cohere-generate', '{"text":"abcdef')).toBe(6);
    expect(bytesOf('cohere-generate', '{"text":"abcdef\\u00')).toBe('abcdef\\u00'.length);
    expect(bytesOf('cohere-generate', '{"text":"abcdef\\')).toBe('abcdef"'.length);
  });

  it('is extrapolated from the first 64 KB after what comes before it, in one chunk or in many', () => {
    const event = sse({ text: 'x'.repeat(100) });
    const bytes = 2000 * 100;
    const body = sse({ other: 'y'.repeat(30_000) }) + event.repeat(2000);
    for (const chunks of [[body], body.match(/.{1,1000}/gs) ?? []]) {
      const found = bytesOf('cohere-generate', ...chunks) ?? 0;
      expect(Math.abs(found - bytes) / bytes).toBeLessThan(0.01);
    }
    expect(bytesOf('cohere-generate', ' '.repeat(MAX_KEPT_BYTES), '{"text":"eight by"}')).toBeNull();
  });

  it('does not depend on how much OpenAI repeats of the request', () => {
    const created = { type: 'response.created', response: { instructions: 'z'.repeat(3 * MAX_KEPT_BYTES) } };
    const added = { type: 'response.output_item.added', item: { type: 'message' } };
    const delta = { type: 'response.output_text.delta', delta: 'eight by' };
    expect(bytesOf('openai-responses', ...(sse(created, added, delta).match(/.{1,5000}/gs) ?? []))).toBe(8);
  });
});

describe('pieces', () => {
  it.each([
    ['', 0],
    ['The cat sat.', 4],
    ['12345', 2.2],
    ['日本語', 3],
    ['a\n\nb', 3.1],
    ['internationally', 1 + 9 * 0.05],
    ['abcdefghijklmnopqrst', 1 + 10 * 0.05 + 4 * 0.25],
    ['{"a": 1}', 4 + 1.1],
    ['мир', 6 / 6.7],
  ])('of %j', (text, pieces) => {
    expect(piecesOf(text)).toBeCloseTo(pieces);
  });
});
