import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { addCounters, type Counters, type SpendCounter } from '../../../lambda/domain/spend/counters.ts';
import { noDimensions, OTHER, type SpendDimensions, UNKNOWN } from '../../../lambda/domain/spend/dimensions.ts';
import { withUnknownValues } from '../../../lambda/domain/spend/unknown-values.ts';

const day = (time: string) => time.slice(0, 10);
const row = (time: string, dimensions: Partial<SpendDimensions>, counters: Counters): SpendCounter => ({
  time,
  dimensions: { ...noDimensions, provider: 'openai', ...dimensions },
  counters,
});
const unknownOf = (found: readonly SpendCounter[]) =>
  found
    .filter(({ dimensions }) => dimensions.client === UNKNOWN)
    .map(({ time, dimensions: { provider, model }, counters }) => ({ time, provider, model, counters }));

describe('withUnknownValues', () => {
  it('names all that crosses count and the dimension does not', () => {
    const crosses = [
      row('2026-11-20', { model: 'a', tag: 't' }, { requests: 3, costComputedNanoUsd: 30, errors: 1 }),
      row('2026-11-20', { model: 'a' }, { requests: 1, costComputedNanoUsd: 5, listDifferenceComputedNanoUsd: -2 }),
      row('2026-11-20', { model: 'b' }, { requests: 2, unpricedRequests: 2 }),
      row('2026-11-21', { model: 'b' }, { requests: 1 }),
    ];
    const counted = [
      row(
        '2026-11-20T10',
        { model: 'a', client: OTHER },
        { requests: 1, costComputedNanoUsd: 10, overflowRequests: 1 },
      ),
      row('2026-11-20T11', { model: 'a', client: null }, { requests: 1, costComputedNanoUsd: 10, errors: 1 }),
      row('2026-11-21T11', { model: 'b', client: null }, { requests: 1 }),
    ];
    const found = withUnknownValues({ crosses, counted }, 'client', day);
    expect(found.filter(({ dimensions }) => dimensions.client !== UNKNOWN)).toEqual(counted);
    expect(unknownOf(found)).toEqual([
      {
        ...{ time: '2026-11-20', provider: 'openai', model: 'a' },
        counters: { requests: 2, costComputedNanoUsd: 15, listDifferenceComputedNanoUsd: -2 },
      },
      { time: '2026-11-20', provider: 'openai', model: 'b', counters: { requests: 2, unpricedRequests: 2 } },
    ]);
  });

  it('has no unknown value where nothing was requested', () => {
    const crosses = [row('2026-11-20', { provider: '', model: null }, {})];
    expect(withUnknownValues({ crosses, counted: [] }, 'client', day)).toEqual([]);
  });

  it('knows nothing of what came after the crosses were read', () => {
    const crosses = [row('2026-11-20', { model: 'a' }, { requests: 1 })];
    const counted = [row('2026-11-20T10', { model: 'a', client: 'codex' }, { requests: 2 })];
    expect(withUnknownValues({ crosses, counted }, 'client', day)).toEqual(counted);
  });

  it('names the provider alone where a model has less of any sum than the dimension counts of it', () => {
    const crosses = [
      row('2026-11-20', { model: 'a' }, { requests: 3, unpricedRequests: 1 }),
      row('2026-11-20', { model: 'b' }, { requests: 3, unpricedRequests: 2 }),
    ];
    const counted = [row('2026-11-20T10', { model: 'a', client: 'codex' }, { requests: 2, unpricedRequests: 2 })];
    expect(unknownOf(withUnknownValues({ crosses, counted }, 'client', day))).toEqual([
      { time: '2026-11-20', provider: 'openai', model: OTHER, counters: { requests: 4, unpricedRequests: 1 } },
    ]);
  });

  it('names the provider alone where models overflowed in one of both', () => {
    const crosses = [
      row('2026-11-20', { model: 'a' }, { requests: 3 }),
      row('2026-11-20', { provider: 'xai', model: 'x' }, { requests: 1 }),
    ];
    const counted = [row('2026-11-20T10', { model: OTHER, client: 'codex' }, { requests: 1, overflowRequests: 1 })];
    expect(unknownOf(withUnknownValues({ crosses, counted }, 'client', day))).toEqual([
      { time: '2026-11-20', provider: 'openai', model: OTHER, counters: { requests: 2 } },
      { time: '2026-11-20', provider: 'xai', model: 'x', counters: { requests: 1 } },
    ]);
  });

  it('always adds up to the crosses', () => {
    const counters = fc.record({ requests: fc.integer({ min: 1, max: 9 }), costComputedNanoUsd: fc.nat(9) });
    const names = fc.record({ provider: fc.constantFrom('openai', 'xai'), model: fc.constantFrom('a', 'b', null) });
    const request = fc.record({ names, counters, isCounted: fc.boolean(), overflows: fc.boolean(), hour: fc.nat(30) });
    fc.assert(
      fc.property(fc.array(request, { maxLength: 20 }), (requests) => {
        const timeOf = (hour: number) => `2026-11-2${Math.floor(hour / 24)}T${String(hour % 24).padStart(2, '0')}`;
        const crosses = requests.map((each) => row(day(timeOf(each.hour)), each.names, each.counters));
        const counted = requests
          .filter(({ isCounted }) => isCounted)
          .map((each) =>
            row(
              timeOf(each.hour),
              { ...each.names, ...(each.overflows && { model: OTHER }), client: 'codex' },
              each.counters,
            ),
          );
        const sum = (all: readonly SpendCounter[], time: string) =>
          all
            .filter((each) => day(each.time) === time)
            .map((each) => each.counters)
            .reduce(addCounters, {});
        const found = withUnknownValues({ crosses, counted }, 'client', day);
        for (const time of ['2026-11-20', '2026-11-21']) expect(sum(found, time)).toEqual(sum(crosses, time));
        expect(found.map(({ time }) => day(time))).toEqual(found.map(({ time }) => day(time)).sort());
      }),
    );
  });
});
