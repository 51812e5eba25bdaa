import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Range } from '../../../lambda/domain/calendar/range.ts';
import { ValidationError } from '../../../lambda/domain/errors.ts';
import {
  addCounters,
  CounterOverflowError,
  type Counters,
  costAtRateName,
  knownCostNanoUsd,
  PAST_EXACT,
  type SpendCounter,
} from '../../../lambda/domain/spend/counters.ts';
import {
  crossDimensionNames,
  maxOverflowLevel,
  OTHER,
  overflowDimensions,
  UNKNOWN,
} from '../../../lambda/domain/spend/dimensions.ts';
import { latencyOf } from '../../../lambda/domain/spend/durations.ts';
import { spendCsv } from '../../../lambda/domain/spend/spend-csv.ts';
import { type ReportQuery, spendReport, sumsOf, totalOf, usdOf } from '../../../lambda/domain/spend/spend-report.ts';

const range: Range = { granularity: 'day', from: '2026-11-01T00:00:00.000Z', to: '2026-11-04T00:00:00.000Z' };

const spendCounter = (
  time: string,
  dimensions: Partial<SpendCounter['dimensions']>,
  counters: Counters,
): SpendCounter => ({
  time,
  dimensions: { provider: 'openai', model: 'gpt-4o', tag: null, keyId: 'k', providerKey: 'p', ...dimensions },
  counters,
});

async function* each(spendCounters: readonly SpendCounter[]) {
  yield* spendCounters;
}

const report = (spendCounters: readonly SpendCounter[], query: Partial<ReportQuery> = {}) =>
  spendReport(each(spendCounters), { range, groupBy: [], filter: {}, limit: 100, ...query });

describe('spendReport', () => {
  it('names the first groups alone in each point, where that is enough', async () => {
    const spend = ['a', 'b', 'c'].map((model, index) =>
      spendCounter('2026-11-03', { model }, { requests: 1, costComputedNanoUsd: 30 - index }),
    );
    const namesIn = async (query: Partial<ReportQuery>) => {
      const { groups, series } = await report(spend, { groupBy: ['model'], ...query });
      return [groups.length, series.flatMap((point) => point.groups.map(({ model }) => model))];
    };
    expect(await namesIn({ seriesLimit: 2 })).toEqual([3, ['a', 'b']]);
    expect(await namesIn({ seriesLimit: 0 })).toEqual([3, []]);
    expect(await namesIn({})).toEqual([3, ['a', 'b', 'c']]);
  });

  it('shows every day, also those without requests', async () => {
    const counters = { requests: 2, costComputedNanoUsd: 1_500_000, inputTokens: 10, unpricedRequests: 1 };
    const { totals, series } = await report([spendCounter('2026-11-03', {}, counters)]);
    const sums = { requests: 2, costNanoUsd: 1_500_000, costUsd: '0.0015', unpricedRequests: 1 };
    expect(totals).toMatchObject({
      ...sums,
      costByProvenance: { computed: { costUsd: '0.0015' }, provider: { costUsd: '0' } },
      tokens: { inputTokens: 10, outputTokens: 0 },
    });
    const none = { requests: 0, costNanoUsd: 0, costUsd: '0', unpricedRequests: 0 };
    const nothing = { ...none, errors: 0, tokens: 0, mayAlsoMatch: null, groups: [] };
    expect(series).toEqual([
      { time: '2026-11-01', ...nothing },
      { time: '2026-11-02', ...nothing },
      { time: '2026-11-03', ...nothing, ...sums, tokens: 10 },
    ]);
  });

  it('never shows an unknown cost as $0', async () => {
    const { groups } = await report(
      [
        spendCounter('2026-11-01', { model: 'known' }, { requests: 1, costComputedNanoUsd: 5 }),
        spendCounter('2026-11-01', { model: 'unknown' }, { requests: 3, unpricedRequests: 3 }),
        spendCounter('2026-11-01', { model: 'free' }, { requests: 1, freeRequests: 1 }),
      ],
      { groupBy: ['model'] },
    );
    expect(groups.map(({ model, costNanoUsd, costUsd }) => ({ model, costNanoUsd, costUsd }))).toEqual([
      { model: 'known', costNanoUsd: 5, costUsd: '0.000000005' },
      { model: 'unknown', costNanoUsd: null, costUsd: null },
      { model: 'free', costNanoUsd: 0, costUsd: '0' },
    ]);
  });

  it('says how many requests the cost at list prices leaves out', async () => {
    const counters = { requests: 5, costComputedNanoUsd: 7, unpricedRequests: 1, listUnpricedRequests: 2 };
    const { totals } = await report([spendCounter('2026-11-01', {}, counters)]);
    expect(totals).toMatchObject({ listCostNanoUsd: 7, unpricedRequests: 1, listUnpricedRequests: 3 });
  });

  it('says how much may be missing from a filter where its names may have overflowed', async () => {
    const overflowed = { requests: 1, overflowRequests: 1 };
    const spendCounters = [
      spendCounter('2026-11-01', { tag: 'a', model: 'x' }, { requests: 1, costComputedNanoUsd: 3 }),
      spendCounter('2026-11-01', { tag: OTHER, model: 'x' }, { ...overflowed, costComputedNanoUsd: 7 }),
      spendCounter('2026-11-02', { tag: OTHER, model: OTHER }, { requests: 9, freeRequests: 9, overflowRequests: 9 }),
      spendCounter('2026-11-03', { tag: OTHER, model: 'y' }, { ...overflowed, unpricedRequests: 1 }),
    ];
    const found = await report(spendCounters, { filter: { tag: ['a', null], model: ['x'] }, groupBy: ['model'] });
    expect(found.totals).toMatchObject({ requests: 1, costNanoUsd: 3 });
    expect(found).toMatchObject({
      isComplete: false,
      mayAlsoMatch: { requests: 10, costNanoUsd: 7, costUsd: '0.000000007', unpricedRequests: 0 },
    });
    expect(found.series.map(({ requests, mayAlsoMatch }) => [requests, mayAlsoMatch?.costNanoUsd])).toEqual([
      [1, 7],
      [0, 0],
      [0, undefined],
    ]);
    const onlyHidden = await report(spendCounters, { filter: { tag: ['b'], model: ['y'] } });
    expect(onlyHidden.totals).toMatchObject({ requests: 0, costUsd: '0' });
    expect(onlyHidden.mayAlsoMatch).toMatchObject({ requests: 10, unpricedRequests: 1 });
  });

  it('has bounds that contain the truth, in total and in each day, whatever overflowed', async () => {
    const names = { model: fc.constantFrom('x', 'y', null), tag: fc.constantFrom('a', 'b', null) };
    const request = fc.record({
      day: fc.constantFrom('2026-11-01', '2026-11-02', '2026-11-03'),
      ...names,
      cost: fc.nat(100),
      level: fc.integer({ min: 0, max: maxOverflowLevel() }),
      kept: fc.subarray(['model', 'tag'] as const),
    });
    const filters = fc.record(
      { model: fc.array(names.model, { minLength: 1 }), tag: fc.array(names.tag, { minLength: 1 }) },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(request), filters, async (requests, filter) => {
        const sorted = requests.toSorted((a, b) => (a.day < b.day ? -1 : 1));
        const found = await report(
          sorted.map(({ day, model, tag, cost, level, kept }) => ({
            time: day,
            dimensions: overflowDimensions(
              { provider: 'openai', model, tag, keyId: 'k', providerKey: 'p' },
              level,
              kept,
            ),
            counters: { requests: 1, costComputedNanoUsd: cost },
          })),
          { filter, groupBy: ['keyId'] },
        );
        const passes = ({ model, tag }: (typeof requests)[number]) =>
          (filter.model ?? [model]).includes(model) && (filter.tag ?? [tag]).includes(tag);
        const passing = requests.filter(passes);
        const check = (costNanoUsd: number | null, some: typeof requests, more: typeof found.mayAlsoMatch) => {
          const truth = some.reduce((sum, { cost }) => sum + cost, 0);
          expect(costNanoUsd).toBeLessThanOrEqual(truth);
          expect((costNanoUsd ?? 0) + (more?.costNanoUsd ?? 0)).toBeGreaterThanOrEqual(truth);
        };
        check(found.totals.costNanoUsd, passing, found.mayAlsoMatch);
        for (const { time, costNanoUsd, mayAlsoMatch } of found.series)
          check(
            costNanoUsd,
            passing.filter(({ day }) => day === time),
            mayAlsoMatch as typeof found.mayAlsoMatch,
          );
        if (found.isComplete) expect(found.mayAlsoMatch).toBeNull();
      }),
    );
  });

  it('is complete where no name can be missing', async () => {
    const overflowed = [spendCounter('2026-11-01', { tag: OTHER }, { requests: 1, overflowRequests: 1 })];
    expect(await report(overflowed)).toMatchObject({ isComplete: true, mayAlsoMatch: null });
    expect(await report(overflowed, { filter: { model: ['gpt-4o'] } })).toMatchObject({ isComplete: true });
    expect(await report(overflowed, { filter: { model: ['other'], tag: ['a'] } })).toMatchObject({ isComplete: true });
    // The overflow itself is asked for.
    expect(await report(overflowed, { filter: { tag: [OTHER] } })).toMatchObject({
      isComplete: true,
      totals: { requests: 1 },
    });
    // The requests of any named tag may be in the group `(other)`.
    expect(await report(overflowed, { groupBy: ['tag'] })).toMatchObject({ isComplete: false, mayAlsoMatch: null });
  });

  it('never shows a sum as $0 that leaves requests out, in totals, series and CSV', async () => {
    const mixed = [
      spendCounter('2026-11-01', { model: 'unknown' }, { requests: 99, unpricedRequests: 99 }),
      spendCounter('2026-11-01', { model: 'free' }, { requests: 1, freeRequests: 1 }),
    ];
    const { totals, series } = await report(mixed);
    expect([totals.costNanoUsd, totals.costUsd, series[0]?.costUsd]).toEqual([null, null, null]);
    const query = { range, groupBy: [], filter: {} };
    const lines = await Array.fromAsync(spendCsv(each(mixed), query, (name) => name));
    expect(lines[1]).toMatch(/^2026-11-01,100,,99,/);
  });

  it('never shows a total as $0 where requests of unknown values may belong to it', async () => {
    const spendCounters = (client: string) =>
      each([spendCounter('2026-11-01', { client }, { requests: 2, costComputedNanoUsd: 5 })]);
    const codex = { filter: { client: ['codex'] } };
    expect(await totalOf(spendCounters(UNKNOWN), codex)).toMatchObject({
      totals: { requests: 0, costNanoUsd: null },
      mayAlsoMatch: { requests: 2, costNanoUsd: 5 },
    });
    expect(await totalOf(spendCounters('cursor'), codex)).toMatchObject({
      totals: { requests: 0, costNanoUsd: 0 },
      mayAlsoMatch: null,
    });
  });

  it('filters by any of several values, null among them', async () => {
    const spendCounters = ['a', 'b', null].map((tag, index) =>
      spendCounter('2026-11-01', { tag }, { requests: 10 ** index }),
    );
    expect((await report(spendCounters, { filter: { tag: ['a', null] } })).totals.requests).toBe(101);
  });

  it('rejects a bucket whose sum is no longer exact, in a display currency too', async () => {
    const spendCounters = [
      spendCounter('2026-11-01', {}, { costComputedNanoUsd: PAST_EXACT, [costAtRateName(0)]: PAST_EXACT }),
    ];
    const currency = { code: 'EUR', rates: [{ from: '2026-01-01', perUsd: '0.9' }] };
    for (const asked of [{}, { currency }])
      await expect(report(spendCounters, { groupBy: ['model'], ...asked })).rejects.toThrow(CounterOverflowError);
  });

  it('rejects with advice for the user where there are too many groups', async () => {
    const spendCounters = Array.from({ length: 100_001 }, (_, n) =>
      spendCounter('2026-11-01', { tag: `user-${n}` }, { requests: 1 }),
    );
    const asked = report(spendCounters, { groupBy: ['tag'] });
    await expect(asked).rejects.toThrow(ValidationError);
    await expect(asked).rejects.toMatchObject({
      violations: [{ path: 'groupBy', message: expect.stringContaining('the export names them all') }],
    });
    expect((await report(spendCounters, { groupBy: ['model'] })).totals.requests).toBe(100_001);
    const { groups, otherGroups } = await report(spendCounters.slice(1), { groupBy: ['tag'], limit: 1 });
    expect([groups.length, otherGroups?.groups]).toEqual([1, 99_999]);
  });

  it('shows in each point the groups that are costliest over the whole range, in that order', async () => {
    const spendCounters = [1, 2, 3].flatMap((day) =>
      Array.from({ length: 5_000 }, (_, n) =>
        spendCounter(
          `2026-11-0${day}`,
          { tag: `user-${n}` },
          { requests: day, costComputedNanoUsd: (n * 7_919) % 5_003 },
        ),
      ),
    );
    const { groups, series } = await report(spendCounters, { groupBy: ['tag'], limit: 50 });
    const shown = groups.map(({ tag, costNanoUsd }) => ({ tag, costNanoUsd: (costNanoUsd ?? 0) / 3 }));
    for (const [index, point] of series.entries()) {
      expect(point.groups.map(({ tag, costNanoUsd }) => ({ tag, costNanoUsd }))).toEqual(shown);
      expect(new Set(point.groups.map(({ requests }) => requests))).toEqual(new Set([index + 1]));
    }
  });

  it('names the costliest groups and sums up the others', async () => {
    const spendCounters = [3, 1, 2].map((cost) =>
      spendCounter('2026-11-02', { tag: `t${cost}` }, { requests: 1, costProviderNanoUsd: cost }),
    );
    const { groups, otherGroups, series } = await report(spendCounters, { groupBy: ['tag'], limit: 2 });
    expect(groups.map(({ tag }) => tag)).toEqual(['t3', 't2']);
    expect(otherGroups).toMatchObject({ groups: 1, costNanoUsd: 1, requests: 1 });
    expect(series[1]?.groups.map(({ tag }) => tag)).toEqual(['t3', 't2']);
  });

  const spendCounters = fc.array(
    fc.record({
      time: fc.constantFrom('2026-11-01', '2026-11-02', '2026-11-03'),
      dimensions: fc.record({
        provider: fc.constantFrom('openai', 'xai'),
        model: fc.constantFrom('a', 'b', null),
        tag: fc.constantFrom('', '#', null),
        keyId: fc.constantFrom('k', null),
        providerKey: fc.constantFrom('p', null),
      }),
      counters: fc
        .record({
          requests: fc.nat(100),
          costProviderNanoUsd: fc.nat(),
          costComputedNanoUsd: fc.nat(),
          costEstimatedNanoUsd: fc.nat(),
          outputTokens: fc.nat(),
          'milliUnits.searchUnits': fc.nat(),
          'ms.24': fc.nat(50),
          'ms.38': fc.nat(50),
        })
        .chain((counters) => fc.nat(counters.requests).map((unpricedRequests) => ({ ...counters, unpricedRequests }))),
    }),
  );

  const inTime = (list: readonly SpendCounter[]) =>
    list.toSorted((a, b) => (a.time < b.time ? -1 : Number(a.time > b.time)));

  it('has groups (with the others) and a series that add up to the totals, for any groups and order', async () => {
    await fc.assert(
      fc.asyncProperty(
        spendCounters.chain((list) =>
          fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
        ),
        fc.subarray([...crossDimensionNames]),
        fc.integer({ min: 1, max: 5 }),
        async ([list, shuffled], groupBy, limit) => {
          const result = await report(inTime(list), { groupBy, limit, latency: true });
          expect(await report(inTime(shuffled), { groupBy, limit, latency: true })).toEqual(result);
          const total = list.map(({ counters }) => counters as Counters).reduce(addCounters, {});
          expect(result.totals).toEqual({ ...sumsOf(total), latency: latencyOf(total) });
          const known = knownCostNanoUsd(total);
          const sum = (parts: readonly { costNanoUsd: number | null }[]) =>
            parts.reduce((left, { costNanoUsd }) => left + (costNanoUsd ?? 0), 0);
          expect(sum(result.series)).toBe(known);
          if (groupBy.length > 0)
            expect(sum([...result.groups, ...(result.otherGroups ? [result.otherGroups] : [])])).toBe(known);
          const timed = (parts: readonly { latency?: ReturnType<typeof latencyOf> }[]) =>
            parts.reduce((left, { latency }) => left + (latency?.requests ?? 0), 0);
          const all = result.totals.latency?.requests ?? 0;
          expect(timed(result.series)).toBe(all);
          if (groupBy.length > 0)
            expect(timed([...result.groups, ...(result.otherGroups ? [result.otherGroups] : [])])).toBe(all);
          const requests = result.series.reduce((left, point) => left + point.requests, 0);
          expect(requests).toBe(total.requests ?? 0);
        },
      ),
    );
  });
});

describe('usdOf', () => {
  it.each([
    [0, '0'],
    [1, '0.000000001'],
    [1_000_000_000, '1'],
    [1_230_000_000, '1.23'],
    [100_000_000_000, '100'],
    [Number.MAX_SAFE_INTEGER, '9007199.254740991'],
    [-3_500_000, '-0.0035'],
  ])('writes %i nano-USD as %s', (nanoUsd, usd) => {
    expect(usdOf(nanoUsd)).toBe(usd);
  });
});
