import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { attoUsdPerUnit, costNanoUsd } from '../../../lambda/domain/money.ts';
import { charge, tokensByKind } from '../../../lambda/domain/price/charge.ts';
import { type Rates, tokenKinds } from '../../../lambda/domain/price/rates.ts';
import { clampUsage, type UsageDraft } from '../../../lambda/domain/usage/consistent-usage.ts';

const perMtok = (usd: number) => attoUsdPerUnit(usd, 1e6);

const reading = ['cacheRead', 'cacheWrite', 'cacheWrite1h', 'cacheWrite12h', 'cacheReadAudio', 'cacheReadImage'];
const both = ['inputAudio', 'inputImage', 'inputVideo', 'outputAudio', 'outputImage', 'outputVideo'];
const names = ['input', 'output', 'reasoning', ...reading, ...both].map((name) => `${name}Tokens`);
const usages = fc.record(Object.fromEntries(names.map((name) => [name, fc.nat(50_000)]))).map(clampUsage);

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
    fc.assert(
      fc.property(usages, (usage) => {
        const { output, reasoning, outputAudio, outputImage, outputVideo, ...input } = tokensByKind(usage);
        const sum = (tokens: readonly number[]) => tokens.reduce((total, each) => total + each, 0);
        expect(sum(Object.values(input))).toBe(usage.inputTokens);
        expect(sum([output, reasoning, outputAudio, outputImage, outputVideo])).toBe(usage.outputTokens);
        expect(sum([input.cacheRead, input.cacheReadAudio, input.cacheReadImage])).toBe(usage.cacheReadTokens);
        expect(sum([input.cacheWrite, input.cacheWrite1h, input.cacheWrite12h])).toBe(usage.cacheWriteTokens);
        for (const tokens of Object.values(tokensByKind(usage))) expect(tokens).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 700 },
    );
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

  it('has no line for what is free', () => {
    expect(charge(clampUsage({ units: { webSearches: 1 } }), { webSearches: 0n })).toEqual({
      charges: [],
      unpriced: [],
    });
  });

  it('reports what has no rate', () => {
    expect(charge(clampUsage({ units: { searchUnits: 1 } }), { input: 1n }).unpriced).toEqual(['searchUnits']);
    expect(charge(clampUsage({ inputTokens: 1 }), { output: 1n }).unpriced).toEqual(['input']);
  });
});
