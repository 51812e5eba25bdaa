import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { costEffects, type ModelSums } from '../../../lambda/domain/spend/cost-effects.ts';
import { addCounters, type Counters, knownCostNanoUsd } from '../../../lambda/domain/spend/counters.ts';

/** @param tokens of which a tenth is output */
const sums = (tokens: number, costComputedNanoUsd: number, more: Counters = {}): Counters => ({
  requests: 10,
  inputTokens: tokens - Math.floor(tokens / 10),
  outputTokens: Math.floor(tokens / 10),
  costComputedNanoUsd,
  ...more,
});
const NOTHING: Counters = {};
const effects = (volumeNanoUsd: number, mixNanoUsd: number, priceNanoUsd: number) => ({
  ...{ volumeNanoUsd, mixNanoUsd, priceNanoUsd },
});

const someCounters = fc.oneof(
  fc.constant(NOTHING),
  fc
    .record({
      priced: fc.nat(50),
      unpriced: fc.nat(5),
      free: fc.nat(5),
      unfinished: fc.nat(5),
      inputTokens: fc.oneof(fc.constant(0), fc.nat(1e13)),
      outputTokens: fc.oneof(fc.constant(0), fc.nat(1e13)),
      cost: fc.nat(1e12),
    })
    .map(({ priced, unpriced, free, unfinished, cost, ...tokens }) => ({
      requests: priced + unpriced + free,
      unpricedRequests: unpriced,
      freeRequests: free,
      unfinishedRequests: Math.min(unfinished, unpriced),
      costComputedNanoUsd: priced === 0 ? 0 : cost,
      ...tokens,
    })),
);
const someModels = fc.array(fc.record({ before: someCounters, now: someCounters }), { maxLength: 12 });

const changeOf = (models: readonly ModelSums[]): number => {
  const cost = (name: 'before' | 'now') => knownCostNanoUsd(models.map((each) => each[name]).reduce(addCounters, {}));
  return cost('now') - cost('before');
};

describe('costEffects', () => {
  it('adds up to the change of the known cost, to the nano-dollar', () => {
    fc.assert(
      fc.property(someModels, (models) => {
        const found = costEffects(models);
        if (found === null) return;
        expect(BigInt(found.volumeNanoUsd) + BigInt(found.mixNanoUsd) + BigInt(found.priceNanoUsd)).toBe(
          BigInt(changeOf(models)),
        );
      }),
    );
  });

  it('is all volume where every model grows alike at the same price', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1e6), { minLength: 1 }), fc.integer({ min: 2, max: 9 }), (tokens, times) => {
        const models = tokens.map((each) => ({
          before: sums(each + 1, (each + 1) * 7),
          now: sums((each + 1) * times, (each + 1) * 7 * times),
        }));
        const volume = models.reduce((sum, { before }) => sum + (before.costComputedNanoUsd ?? 0) * (times - 1), 0);
        expect(costEffects(models)).toEqual(effects(volume, 0, 0));
      }),
    );
  });

  it('is all price where the same tokens cost another amount', () => {
    const models = [
      { before: sums(1_000, 5_000), now: sums(1_000, 8_000) },
      { before: sums(400, 4_000), now: sums(400, 3_000) },
    ];
    expect(costEffects(models)).toEqual(effects(0, 0, 2_000));
  });

  it('is all mix where as many tokens go to another model at its price', () => {
    const models = [
      { before: sums(1_000, 1_000), now: sums(500, 500) },
      { before: sums(1_000, 10_000), now: sums(1_500, 15_000) },
    ];
    expect(costEffects(models)).toEqual(effects(0, 4_500, 0));
  });

  it('separates the three', () => {
    // Twice the tokens (+ 11,000); a fourth of them moves to the dearer model, whose tokens cost 12 instead of 10.
    const models = [
      { before: sums(1_000, 1_000), now: sums(1_000, 1_000) },
      { before: sums(1_000, 10_000), now: sums(3_000, 36_000) },
    ];
    expect(costEffects(models)).toEqual(effects(11_000, 9_000, 6_000));
  });

  it('counts new and vanished models as mix, and all as volume where nothing was before', () => {
    expect(
      costEffects([
        { before: sums(1_000, 3_000), now: NOTHING },
        { before: NOTHING, now: sums(1_000, 5_000) },
      ]),
    ).toEqual(effects(0, 2_000, 0));
    expect(costEffects([{ before: NOTHING, now: sums(10, 50) }])).toEqual(effects(50, 0, 0));
    expect(costEffects([{ before: sums(10, 50), now: NOTHING }])).toEqual(effects(-50, 0, 0));
  });

  it('measures models without tokens in requests, apart from the others', () => {
    const models = [
      { before: sums(1_000, 1_000), now: sums(1_000, 1_000) },
      { before: { requests: 2, costComputedNanoUsd: 80 }, now: { requests: 6, costComputedNanoUsd: 300 } },
    ];
    expect(costEffects(models)).toEqual(effects(160, 0, 60));
  });

  it('takes no tokens of unknown cost for cheaper ones', () => {
    const half = sums(2_000, 1_000, { requests: 10, unpricedRequests: 5 });
    expect(costEffects([{ before: sums(1_000, 1_000), now: half }])).toEqual(effects(0, 0, 0));
    const unfinished = sums(1_000, 1_000, { requests: 12, unpricedRequests: 2, unfinishedRequests: 2 });
    expect(costEffects([{ before: sums(1_000, 1_000), now: unfinished }])).toEqual(effects(0, 0, 0));
  });

  it('has no effect that is not exact', () => {
    const models = [
      { before: sums(1, 9e15), now: NOTHING },
      { before: NOTHING, now: sums(1e6, 1) },
    ];
    expect(costEffects(models)).toBeNull();
  });
});
