import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { tokensByKind } from '../../../lambda/domain/price/charge.ts';
import { clampUsage, type UsageDraft } from '../../../lambda/domain/usage/consistent-usage.ts';

const kindsOf = (draft: UsageDraft) =>
  Object.fromEntries(Object.entries(tokensByKind(clampUsage(draft))).filter(([, tokens]) => tokens > 0));

describe('tokensByKind', () => {
  it('prices what is written to a cache apart from what is read from one', () => {
    expect(kindsOf({ inputTokens: 100, cacheReadTokens: 60, cacheWriteTokens: 30, cacheWrite1hTokens: 10 })).toEqual({
      input: 10,
      cacheRead: 60,
      cacheWrite: 20,
      cacheWrite1h: 10,
    });
    expect(kindsOf({ inputTokens: 100, cacheReadTokens: 60, cacheWriteTokens: 90 })).toEqual({
      cacheRead: 60,
      cacheWrite: 40,
    });
  });

  it('takes cached tokens for text first, then audio, then images, unless their modality is known', () => {
    const input = { inputTokens: 100, inputAudioTokens: 30, inputImageTokens: 20 };
    expect(kindsOf({ ...input, cacheReadTokens: 60, cacheWriteTokens: 30 })).toEqual({
      cacheRead: 50,
      cacheReadAudio: 10,
      cacheWrite: 30,
      inputImage: 10,
    });
    expect(kindsOf({ ...input, cacheReadTokens: 25, cacheReadAudioTokens: 15, cacheReadImageTokens: 5 })).toEqual({
      input: 45,
      cacheRead: 5,
      inputAudio: 15,
      cacheReadAudio: 15,
      inputImage: 15,
      cacheReadImage: 5,
    });
  });

  it('prices billed tokens instead of processed ones, which leaves no cached tokens', () => {
    const draft = {
      inputTokens: 100,
      outputTokens: 50,
      cacheReadTokens: 60,
      cacheWriteTokens: 20,
      reasoningTokens: 30,
    };
    expect(kindsOf({ ...draft, billedInputTokens: 40, billedOutputTokens: 10 })).toEqual({ input: 40, reasoning: 10 });
  });

  it('puts every token into exactly one kind', () => {
    const count = fc.nat(100);
    const drafts = fc.record({
      inputTokens: count,
      outputTokens: count,
      cacheReadTokens: count,
      cacheWriteTokens: count,
      cacheWrite1hTokens: count,
      cacheWrite12hTokens: count,
      reasoningTokens: count,
      inputAudioTokens: count,
      inputImageTokens: count,
      inputVideoTokens: count,
      outputAudioTokens: count,
      outputImageTokens: count,
      outputVideoTokens: count,
      cacheReadAudioTokens: count,
      cacheReadImageTokens: count,
    });
    fc.assert(
      fc.property(drafts, (draft) => {
        const usage = clampUsage(draft);
        const { output, reasoning, outputAudio, outputImage, outputVideo, ...input } = tokensByKind(usage);
        const sum = (tokens: readonly number[]) => tokens.reduce((total, each) => total + each, 0);
        expect(sum(Object.values(input))).toBe(usage.inputTokens);
        expect(sum([output, reasoning, outputAudio, outputImage, outputVideo])).toBe(usage.outputTokens);
        expect(sum([input.cacheRead, input.cacheReadAudio, input.cacheReadImage])).toBe(usage.cacheReadTokens);
        expect(sum([input.cacheWrite, input.cacheWrite1h, input.cacheWrite12h])).toBe(usage.cacheWriteTokens);
        for (const tokens of Object.values(tokensByKind(usage))) expect(tokens).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});
