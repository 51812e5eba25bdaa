import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { addCounters, type Counters } from '../../../lambda/domain/spend/counters.ts';
import { OTHER, spendDimensionNames } from '../../../lambda/domain/spend/dimensions.ts';
import { type SummaryCounter, summarize } from '../../../lambda/domain/spend/summary.ts';

/** Counters are sparse: a zero is left out. */
const count = fc.integer({ min: 1 });

const someCell = fc.record({
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
const manyTags = (count: number): SummaryCounter[] =>
  Array.from({ length: count }, (_, n) => ({
    dimensions: { provider: 'openai', model: `m${n % 3}`, tag: `t${n}`, keyId: 'k', providerKey: 'p' },
    counters: { requests: 1, costComputedNanoUsd: n },
  }));

describe('summarize', () => {
  it('comes to the sums of the cells, in all and by each dimension, in any order', () => {
    fc.assert(
      fc.property(fc.array(someCell, { maxLength: 60 }), fc.func(fc.nat()), (cells, order) => {
        const summary = summarize(cells);
        expect(summarize([...cells].sort((a, b) => order(a) - order(b)))).toEqual(summary);
        const all = sum(cells);
        expect(sum(summary.cells)).toEqual(all);
        expect(summary.totals.filter(({ name }) => name === null).map(({ counters }) => counters)).toEqual([all]);
        for (const name of spendDimensionNames) {
          const totals = summary.totals.filter((total) => total.name === name);
          expect(new Set(totals.map(({ value }) => value)).size).toBe(totals.length);
          for (const { value, counters } of totals)
            expect(counters).toEqual(sum(cells.filter(({ dimensions }) => dimensions[name] === value)));
        }
      }),
    );
  });

  it('keeps a month of endless tags bounded: the costliest stay apart, models stay exact, no request is lost', () => {
    const cells = manyTags(5_000);
    const { cells: kept, totals } = summarize(cells);
    expect(kept).toHaveLength(1_503);
    expect(sum(kept)).toEqual({ ...sum(cells), overflowRequests: 3_500 });
    expect(kept.some(({ dimensions }) => dimensions.tag === 't4999')).toBe(true);
    expect(kept.filter(({ dimensions }) => dimensions.tag === OTHER).map(({ dimensions }) => dimensions.model)).toEqual(
      expect.arrayContaining(['m0', 'm1', 'm2']),
    );
    const ofTag = totals.filter(({ name }) => name === 'tag');
    expect(ofTag).toHaveLength(1_001);
    expect(sum(ofTag)).toEqual({ ...sum(cells), overflowRequests: 4_000 });
    const ofModel = totals.filter(({ name, value }) => name === 'model' && value === 'm1');
    expect(ofModel).toEqual([
      { name: 'model', value: 'm1', counters: sum(cells.filter(({ dimensions }) => dimensions.model === 'm1')) },
    ]);
  });

  it('stays bounded where every dimension is without end', () => {
    const cells = manyTags(4_000).map(({ dimensions, counters }, n) => ({
      dimensions: { ...dimensions, model: `m${n}`, keyId: `k${n}`, providerKey: `p${n}` },
      counters,
    }));
    const { cells: kept } = summarize(cells);
    expect(kept).toHaveLength(1_501);
    expect(sum(kept)).toEqual({ ...sum(cells), overflowRequests: 2_500 });
  });
});
