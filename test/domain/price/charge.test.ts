import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { attoUsdPerUnit, costNanoUsd } from '../../../lambda/domain/money.ts';
import { charge, tokensByKind } from '../../../lambda/domain/price/charge.ts';
import { type Rates, tokenKinds } from '../../../lambda/domain/price/rates.ts';
import { clampUsage } from '../../../lambda/domain/usage/consistent-usage.ts';

const perMtok = (usd: number) => attoUsdPerUnit(usd, 1e6);

const count = fc.nat(50_000);
const usages = fc
  .record({
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
    cacheReadAudioTokens: count,
    cacheReadImageTokens: count,
  })
  .map(clampUsage);

describe('tokensByKind', () => {
  it('puts every token in exactly one kind', () => {
    fc.assert(
      fc.property(usages, (usage) => {
        const { output, reasoning, outputAudio, outputImage, outputVideo, ...input } = tokensByKind(usage);
        for (const quantity of [...Object.values(input), output, reasoning, outputAudio, outputImage, outputVideo])
          expect(quantity).toBeGreaterThanOrEqual(0);
        expect(Object.values(input).reduce((sum, quantity) => sum + quantity, 0)).toBe(usage.inputTokens);
        expect(output + reasoning + outputAudio + outputImage + outputVideo).toBe(usage.outputTokens);
      }),
      { numRuns: 700 },
    );
  });

  it('takes cached tokens for text first', () => {
    const usage = clampUsage({ inputTokens: 100, cacheReadTokens: 70, inputAudioTokens: 40 });
    expect(tokensByKind(usage)).toMatchObject({ input: 0, cacheRead: 60, cacheReadAudio: 10, inputAudio: 30 });
  });
});

describe('charge', () => {
  it('charges a kind without a rate as what it is part of', () => {
    const rates: Rates = { input: perMtok(2), output: perMtok(8), cacheRead: perMtok(0.5) };
    const usage = clampUsage({
      inputTokens: 100,
      cacheReadTokens: 40,
      inputAudioTokens: 10,
      outputTokens: 20,
      reasoningTokens: 5,
    });
    const { charges, unpriced } = charge(usage, rates);
    expect(unpriced).toEqual([]);
    expect(charges.map(({ kind, quantity }) => [kind, quantity])).toEqual([
      ['input', 60],
      ['cacheRead', 40],
      ['output', 20],
    ]);
  });

  it('costs the same with separate kinds of the same rate as with one kind', () => {
    const flat: Rates = { input: perMtok(3), output: perMtok(15) };
    const separate: Rates = Object.fromEntries(
      tokenKinds.map((kind) => [kind, /^(output|reasoning)/.test(kind) ? perMtok(15) : perMtok(3)]),
    );
    fc.assert(
      fc.property(usages, (usage) => {
        expect(costNanoUsd(charge(usage, separate).charges)).toBe(costNanoUsd(charge(usage, flat).charges));
      }),
    );
  });

  it('reports what has no rate', () => {
    expect(charge(clampUsage({ units: { searchUnits: 1 } }), { input: 1n }).unpriced).toEqual(['searchUnits']);
    expect(charge(clampUsage({ inputTokens: 1 }), { output: 1n }).unpriced).toEqual(['input']);
  });

  it('charges what is billed, not what was processed', () => {
    const usage = clampUsage({
      inputTokens: 1501,
      cacheReadTokens: 1008,
      billedInputTokens: 84,
      outputTokens: 346,
      billedOutputTokens: 314,
    });
    const { charges } = charge(usage, { input: 1n, output: 1n });
    expect(charges.map(({ quantity }) => quantity)).toEqual([84, 314]);
  });
});
