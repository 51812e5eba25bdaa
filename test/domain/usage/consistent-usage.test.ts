import { describe, expect, it } from '@jest/globals';
import { clampUsage } from '../../../lambda/domain/usage/consistent-usage.ts';

describe('clampUsage', () => {
  it('does not change consistent usage', () => {
    const draft = {
      inputTokens: 100,
      outputTokens: 50,
      cacheReadTokens: 60,
      cacheWriteTokens: 40,
      reasoningTokens: 50,
    };
    expect(clampUsage(draft)).toMatchObject(draft);
  });

  it('cuts cache writes to the input that cache reads leave', () => {
    const usage = clampUsage({ inputTokens: 100, cacheReadTokens: 80, cacheWriteTokens: 50, cacheWrite1hTokens: 30 });
    expect(usage).toMatchObject({ cacheReadTokens: 80, cacheWriteTokens: 20, cacheWrite1hTokens: 20 });
    expect(clampUsage({ inputTokens: 100, cacheReadTokens: 120, cacheWriteTokens: 50 })).toMatchObject({
      cacheReadTokens: 100,
      cacheWriteTokens: 0,
    });
  });

  it('cuts image to the input that audio leaves, and video to what both leave', () => {
    const input = { inputAudioTokens: 60, inputImageTokens: 30, inputVideoTokens: 30 };
    expect(clampUsage({ inputTokens: 100, ...input })).toMatchObject({ ...input, inputVideoTokens: 10 });
    const output = { outputAudioTokens: 60, outputImageTokens: 60, outputVideoTokens: 30 };
    expect(clampUsage({ outputTokens: 100, ...output })).toMatchObject({
      outputAudioTokens: 60,
      outputImageTokens: 40,
      outputVideoTokens: 0,
    });
  });

  it('cuts reasoning to the output', () => {
    expect(clampUsage({ outputTokens: 10, reasoningTokens: 11 }).reasoningTokens).toBe(10);
  });

  it('cuts cached tokens of a modality to the modality, and together to the cache reads', () => {
    const input = { inputTokens: 100, inputAudioTokens: 30, inputImageTokens: 30, cacheReadTokens: 40 };
    expect(clampUsage({ ...input, cacheReadAudioTokens: 35 }).cacheReadAudioTokens).toBe(30);
    expect(clampUsage({ ...input, cacheReadAudioTokens: 25, cacheReadImageTokens: 25 })).toMatchObject({
      cacheReadAudioTokens: 25,
      cacheReadImageTokens: 15,
    });
    expect(clampUsage({ ...input, cacheReadImageTokens: 35 }).cacheReadImageTokens).toBe(30);
    expect(clampUsage({ ...input, cacheReadTokens: 10, cacheReadAudioTokens: 25 }).cacheReadAudioTokens).toBe(10);
  });

  it('takes a missing count for 0, and missing billed counts and costs for unknown', () => {
    const { units, billedInputTokens, billedOutputTokens, providerCostNanoUsd, ...counts } = clampUsage({});
    expect(Object.values(counts).every((count) => count === 0)).toBe(true);
    expect({ units, billedInputTokens, billedOutputTokens, providerCostNanoUsd }).toEqual({
      units: {},
      billedInputTokens: null,
      billedOutputTokens: null,
      providerCostNanoUsd: null,
    });
  });
});
