import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { addCounters, type Counters } from '../../../lambda/domain/spend/counters.ts';
import { crossDimensionNames, OTHER } from '../../../lambda/domain/spend/dimensions.ts';
import { bounded, type SummaryCross, summarize } from '../../../lambda/domain/spend/summary.ts';

/** Counters are sparse: a zero is left out. */
const count = fc.integer({ min: 1 });

const someCross = fc.record({
  dimensions: fc.record({
    provider: fc.constantFrom('openai', 'xai'),
    model: fc.constantFrom('a', 'b', null),
    tag: fc.constantFrom('x', 'y', '', null),
    keyId: fc.constantFrom('k', null),
    providerKey: fc.constantFrom('p', 'q'),
  }),
  counters: fc.record(
    { requests: count, costComputedNanoUsd: count, inputTokens: count, overflowRequests: count },
    { requiredKeys: ['requests'] },
  ),
});

const sum = (values: readonly { counters: Counters }[]) =>
  values.map(({ counters }) => counters).reduce(addCounters, {});
const manyTags = (count: number): SummaryCross[] =>
  Array.from({ length: count }, (_, n) => ({
    dimensions: { provider: 'openai', model: `m${n % 3}`, tag: `t${n}`, keyId: 'k', providerKey: 'p' },
    counters: { requests: 1, costComputedNanoUsd: n },
  }));

describe('summarize', () => {
  it('keeps every name of a day, however many', () => {
    const { totals, crosses } = summarize(manyTags(5_000));
    expect(crosses).toHaveLength(5_000);
    expect(totals.filter(({ name }) => name === 'tag')).toHaveLength(5_000);
  });

  it('adds up the crosses in total and by each dimension, in any order', () => {
    fc.assert(
      fc.property(fc.array(someCross, { maxLength: 60 }), fc.func(fc.nat()), (crosses, order) => {
        const summary = summarize(crosses);
        expect(summarize([...crosses].sort((a, b) => order(a) - order(b)))).toEqual(summary);
        const all = sum(crosses);
        expect(sum(summary.crosses)).toEqual(all);
        expect(bounded(summary)).toEqual(summary);
        expect(summary.totals.filter(({ name }) => name === null).map(({ counters }) => counters)).toEqual([all]);
        for (const name of crossDimensionNames) {
          const totals = summary.totals.filter((total) => total.name === name);
          expect(new Set(totals.map(({ value }) => value)).size).toBe(totals.length);
          for (const { value, counters } of totals)
            expect(counters).toEqual(sum(crosses.filter(({ dimensions }) => dimensions[name] === value)));
        }
      }),
    );
  });

  it('limits a month of ever new tags: the costliest stay separate, models stay exact, no request is lost', () => {
    const crosses = manyTags(5_000);
    const { crosses: kept, totals } = bounded(summarize(crosses));
    expect(kept).toHaveLength(1_503);
    expect(sum(kept)).toEqual({ ...sum(crosses), overflowRequests: 3_500 });
    expect(kept.some(({ dimensions }) => dimensions.tag === 't4999')).toBe(true);
    expect(kept.filter(({ dimensions }) => dimensions.tag === OTHER).map(({ dimensions }) => dimensions.model)).toEqual(
      expect.arrayContaining(['m0', 'm1', 'm2']),
    );
    const ofTag = totals.filter(({ name }) => name === 'tag');
    expect(ofTag).toHaveLength(1_001);
    expect(sum(ofTag)).toEqual({ ...sum(crosses), overflowRequests: 4_000 });
    const ofModel = totals.filter(({ name, value }) => name === 'model' && value === 'm1');
    expect(ofModel).toEqual([
      { name: 'model', value: 'm1', counters: sum(crosses.filter(({ dimensions }) => dimensions.model === 'm1')) },
    ]);
  });

  it('keeps 2,000 crosses separate, and not one more', () => {
    expect(bounded(summarize(manyTags(2_000))).crosses).toHaveLength(2_000);
    expect(sum(bounded(summarize(manyTags(2_000))).crosses).overflowRequests).toBeUndefined();
    // 1,500 named ones, and one of each of three models.
    expect(bounded(summarize(manyTags(2_001))).crosses).toHaveLength(1_503);
    const free = manyTags(2_001).map((cross, n) => ({ ...cross, counters: { requests: n + 1 } }));
    expect(bounded(summarize(free)).crosses[0]?.dimensions.tag).toBe('t2000');
  });

  it('names 1,000 values of a dimension, and not one more', () => {
    const tagsOf = (count: number) => bounded(summarize(manyTags(count))).totals.filter(({ name }) => name === 'tag');
    expect(tagsOf(1_000).map(({ value }) => value)).not.toContain(OTHER);
    expect(tagsOf(1_000)).toHaveLength(1_000);
    const overflow = tagsOf(1_001).find(({ value }) => value === OTHER);
    // The cheapest one.
    expect(overflow?.counters).toEqual({ requests: 1, costComputedNanoUsd: 0, overflowRequests: 1 });
  });

  it('overflows no further than it must', () => {
    // With tags alone in one value the rest has 400 provider keys; 1,500 and these are within the limit.
    const crosses = manyTags(4_000).map(({ dimensions, counters }, n) => ({
      dimensions: { ...dimensions, providerKey: `p${n % 400}`, model: 'm' },
      counters,
    }));
    const overflowed = bounded(summarize(crosses)).crosses.filter(({ dimensions }) => dimensions.tag === OTHER);
    expect(overflowed).toHaveLength(400);
    expect(overflowed.every(({ dimensions }) => dimensions.providerKey !== OTHER)).toBe(true);
  });

  it('stays within the limit where every dimension has ever new values', () => {
    const crosses = manyTags(4_000).map(({ dimensions, counters }, n) => ({
      dimensions: { ...dimensions, model: `m${n}`, keyId: `k${n}`, providerKey: `p${n}` },
      counters,
    }));
    const { crosses: kept } = bounded(summarize(crosses));
    expect(kept).toHaveLength(1_501);
    expect(sum(kept)).toEqual({ ...sum(crosses), overflowRequests: 2_500 });
  });
});
