import { describe, expect, it } from '@jest/globals';
import { periodAt } from '../../lambda/domain/calendar/periods.ts';
import { budgetForecast } from '../../lambda/domain/limits/limit-rules.ts';
import { effectsShown } from '../../web/src/compare/effects.ts';
import { canGroupBy } from '../../web/src/spend/filters.ts';
import { trendOf } from '../../web/src/spend/groups.ts';
import { monthOf, todayOf } from '../../web/src/spend/headline.ts';
import { rangeOf, rangeSearch } from '../../web/src/spend/ranges.ts';
import { seriesOf } from '../domain/limits/series-of.ts';

const NANO = 1e9;
const now = new Date('2026-11-20T14:30:00Z');
const DAY_MS = 86_400_000;

const point = (time: string, usd: number | null, requests = 1, unpriced = 0) => ({
  time,
  requests,
  costNanoUsd: usd === null ? null : usd * NANO,
  costUsd: usd === null ? null : String(usd),
  unpricedRequests: unpriced,
  errors: 0,
  tokens: requests * 100,
  mayAlsoMatch: null,
  groups: [],
});
const days = (from: string, count: number, usd: (index: number) => number) =>
  Array.from({ length: count }, (_, index) =>
    point(new Date(Date.parse(from) + index * DAY_MS).toISOString().slice(0, 10), usd(index)),
  );

const none = { requests: 0, gaps: [] };

const day = (at: Date) => at.toISOString().slice(0, 10);

describe('the forecast', () => {
  it('equals that of budget_forecast rules', () => {
    const series = days('2026-10-01', 51, (index) => 3 + ((index * 7) % 11));
    const counterRows = series.map(({ time, costNanoUsd }) => ({
      time,
      dimensions: { provider: 'openai', model: 'm', tag: null, keyId: null, providerKey: null },
      counters: { requests: 1, costComputedNanoUsd: costNanoUsd ?? 0 },
    }));
    const rule = { type: 'budget_forecast', config: { budget: 1_000_000 } } as const;
    const judged = budgetForecast.judge(rule.config, {
      period: periodAt('monthly', now),
      now,
      series: seriesOf(rule, counterRows),
    });
    expect(judged?.figure).toBeGreaterThan(0);
    expect(monthOf({ series, untracked: none }, day(now)).forecastNanoUsd).toBe(judged?.figure);
  });

  it('counts today once, and needs a week of history', () => {
    const firstHour = new Date('2026-12-01T01:00:00Z');
    const forecastOf = (series: ReturnType<typeof days>) =>
      monthOf({ series, untracked: none }, day(firstHour)).forecastNanoUsd;
    expect(forecastOf(days('2026-11-01', 31, () => 10))).toBe(310 * NANO);
    expect(forecastOf(days('2026-11-24', 8, () => 10))).toBe(310 * NANO);
    expect(forecastOf(days('2026-11-25', 7, () => 10))).toBeNull();
  });

  it.each([
    ['no cost of the month is known', []],
    ['the only known cost is 0', [point('2026-11-19', 0, 0)]],
  ])('is unknown where %s', (_name, known) => {
    const month = monthOf({ series: [...known, point('2026-11-20', null, 3, 3)], untracked: none }, day(now));
    expect(month.sum).toMatchObject({ costNanoUsd: null, requests: 3, unpricedRequests: 3 });
    expect(month.forecastNanoUsd).toBeNull();
  });

  it('is unknown where no cost of the month is, whatever the days before it had', () => {
    const series = [...days('2026-10-20', 12, () => 3), point('2026-11-01', null, 3, 3)];
    expect(monthOf({ series, untracked: none }, '2026-11-02').forecastNanoUsd).toBeNull();
  });

  it('is unknown where no cost of the last seven days is, whatever the month has', () => {
    const unknown = days('2026-10-25', 7, () => 0).map(({ time }) => point(time, null, 3, 3));
    const forecastOf = (today: object[]) =>
      monthOf({ series: [...unknown, ...today] as never, untracked: none }, '2026-11-01').forecastNanoUsd;
    expect(forecastOf([])).toBeNull();
    expect(forecastOf([point('2026-11-01', 5)])).toBeNull();
  });
});

describe('the period that is compared', () => {
  const compared = (search: object) => rangeOf(search, now).compared;

  it('is all of a running one, whatever the bars are', () => {
    expect(compared({ range: '7d' })).toEqual({ from: '2026-11-14', to: '2026-11-20' });
    expect(compared({ range: '7d', per: 'hour' })).toEqual(compared({ range: '7d' }));
    expect(compared({ range: '24h' })).toEqual({ from: '2026-11-19T15:00:00.000Z' });
    expect(compared({ range: 'month' })).toEqual({ from: '2026-11-01' });
    expect(compared({ range: '12m' })).toEqual({ from: '2025-12-01' });
  });

  it('of chosen days is theirs; the days of this month so far are this month', () => {
    const chosen = (from: string, to: string) => compared({ range: 'custom', from, to });
    expect(chosen('2026-11-02', '2026-11-05')).toEqual({ from: '2026-11-02', to: '2026-11-05' });
    expect(chosen('2026-11-20', '2026-11-20')).toEqual({ from: '2026-11-20', to: '2026-11-20' });
    expect(chosen('2026-11-01', '2026-11-20')).toEqual(compared({ range: 'month' }));
    const withOther = { from: '2026-11-01', to: '2026-11-20', compareFrom: '2025-11-01', compareTo: '2025-11-20' };
    expect(compared({ range: 'custom', ...withOther })).toEqual(withOther);
  });

  it('of a mail is compared with the one that the mail names', () => {
    const mail = {
      from: '2026-11-08T11:00:00.000Z',
      to: '2026-11-15T11:00:00.000Z',
      compareFrom: '2026-11-01T11:00:00.000Z',
      compareTo: '2026-11-08T11:00:00.000Z',
    };
    const range = rangeOf(rangeSearch({ range: 'custom', ...mail }), now);
    expect(range).toMatchObject({ from: mail.from, to: mail.to, granularity: 'day' });
    expect(range.compared).toEqual(mail);
  });
});

describe('requests that may match the filter as well', () => {
  it.each([
    ['are of unknown cost where nothing of it is known', [null, 0, null], null],
    ['have the cost that is known', [null, 3, 4], 7],
    ['may be free', [0, 0], 0],
  ])('%s', (_, costs, costNanoUsd) => {
    const series = costs.map((cost, index) => ({
      ...point(`2026-11-1${index}`, 1),
      mayAlsoMatch: { requests: 2, costNanoUsd: cost, unpricedRequests: cost === null ? 2 : 0 },
    }));
    const { sum } = monthOf({ series: series as never, untracked: none }, day(now));
    const unpricedRequests = 2 * costs.filter((cost) => cost === null).length;
    expect(sum.mayAlsoMatch).toEqual({ requests: 2 * costs.length, costNanoUsd, unpricedRequests });
  });
});

describe('a sum in the display currency', () => {
  it.each([
    ['adds what is known', [1, null, 2], '2.7'],
    ['is unknown where nothing is known', [null, null], null],
  ])('%s', (_, costs, displayCost) => {
    const series = costs.map((usd, index) => ({
      ...point(`2026-11-1${index}`, usd),
      displayCost: usd === null ? null : String(usd * 0.9),
    }));
    expect(monthOf({ series: series as never, untracked: none }, day(now)).sum).toMatchObject({ displayCost });
  });
});

describe('the effects of a change', () => {
  const shownOf = (usd: object, effects: readonly number[], display = {}) => {
    const [volumeNanoUsd, mixNanoUsd, priceNanoUsd] = effects;
    const change = { totals: { ...usd, ...display }, effects: { volumeNanoUsd, mixNanoUsd, priceNanoUsd } };
    return effectsShown({ ...change, ...('displayCost' in display && { displayCurrency: 'JPY' }) } as never).rows.map(
      ({ label, nano }) => [label, nano / NANO],
    );
  };

  it('add up to it in whole cents, or yen', () => {
    const usd = { costBeforeNanoUsd: 0, costNanoUsd: 1.01 * NANO, costChangeNanoUsd: 1.01 * NANO };
    const thirds = [0.3366, 0.3366, 0.3368].map((part) => part * NANO);
    expect(shownOf(usd, thirds)).toEqual([
      ['Volume', 0.34],
      ['Mix', 0.34],
      ['Price', 0.33],
    ]);
    const less = { costBeforeNanoUsd: 1.01 * NANO, costNanoUsd: 0, costChangeNanoUsd: -1.01 * NANO };
    const lessThirds = thirds.map((part) => -part);
    expect(shownOf(less, lessThirds).map(([, nano]) => nano)).toEqual([-0.34, -0.34, -0.33]);
    expect(shownOf(usd, thirds, { displayCostBefore: '0', displayCost: '100.3' })).toEqual([
      ['Volume', 33],
      ['Mix', 33],
      ['Price', 34],
    ]);
  });

  it('are exact where the change is less than a cent', () => {
    const usd = { costBeforeNanoUsd: NANO, costNanoUsd: 1.004 * NANO, costChangeNanoUsd: 0.004 * NANO };
    expect(shownOf(usd, [0.009 * NANO, -0.005 * NANO, 0]).map(([, nano]) => nano)).toEqual([0.009, -0.005, 0]);
    const cent = { ...usd, costNanoUsd: 1.01 * NANO, costChangeNanoUsd: 0.01 * NANO };
    expect(shownOf(cent, [0.014 * NANO, -0.004 * NANO, 0]).map(([, nano]) => nano)).toEqual([0.01, -0, 0]);
  });

  it('have no part of the exchange rate where all that was spent is gone', () => {
    const usd = { costBeforeNanoUsd: 2 * NANO, costNanoUsd: 0, costChangeNanoUsd: -2 * NANO };
    expect(shownOf(usd, [-2 * NANO, 0, 0], { displayCostBefore: '300', displayCost: '0' })).toEqual([
      ['Volume', -300],
      ['Mix', 0],
      ['Price', 0],
    ]);
  });
});

describe('untracked requests', () => {
  it('are reported with the sums that may miss them', () => {
    const gaps = [
      { from: '2026-10-31T23:50:00.000Z', to: '2026-10-31T23:59:00.000Z', requests: 1 },
      { from: '2026-11-03T10:00:00.000Z', to: '2026-11-03T10:05:00.000Z', requests: 10 },
      { from: '2026-11-19T23:58:00.000Z', to: '2026-11-20T00:00:00.000Z', requests: 100 },
    ];
    const untracked = { requests: 111, gaps };
    expect(todayOf({ series: [], untracked }, new Date(day(now))).untrackedRequests).toBe(100);
    expect(monthOf({ series: [], untracked }, day(now)).untrackedRequests).toBe(110);
  });
});

describe('the trend', () => {
  it('has one more series for all but the most expensive groups: each bucket adds up', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'];
    const groups = names.map((model, index) => ({ model, costNanoUsd: (10 - index) * NANO }));
    const total = groups.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0);
    const report = { groups, series: [{ ...point('2026-11-20', total / NANO), groups }] };
    const { points, shown, hasRest } = trendOf(report as never, ['model']);
    expect([shown.length, hasRest]).toEqual([7, true]);
    expect(points[0]?.values.reduce<number>((sum, value) => sum + (value ?? 0), 0)).toBe(total);
    expect(points[0]?.values.at(-1)).toBe(5 * NANO);
  });

  it('is in the display currency where each cost has a rate, else in US dollars as a whole', () => {
    const group = { model: 'a', costNanoUsd: 2 * NANO, displayCost: '1.8' };
    const first = { ...point('2026-11-19', 3), displayCost: '1.800000002', groups: [group] };
    const second = { ...point('2026-11-20', 2), displayCost: '1.8', groups: [group] };
    const reportOf = (...series: object[]) => ({ groups: [group], series, displayCurrency: { code: 'EUR' } }) as never;
    const converted = trendOf(reportOf(first, second), ['model']);
    expect(converted.code).toBe('EUR');
    expect(converted.points.map(({ value, values }) => [value, ...values])).toEqual([
      [1_800_000_002, 1_800_000_000, 2],
      [1_800_000_000, 1_800_000_000, 0],
    ]);
    // The rest of a rounded sum is no rest.
    const rounded = trendOf(reportOf({ ...second, displayCost: '1.800000001' }), ['model']);
    expect([rounded.hasRest, rounded.code]).toEqual([false, 'EUR']);
    const partly = trendOf(reportOf(first, { ...second, displayCost: null, groups: [] }), ['model']);
    expect([partly.code, partly.points[0]?.value]).toEqual([undefined, 3 * NANO]);
    const unknown = { ...second, costNanoUsd: null, displayCost: null, groups: [] };
    expect(trendOf(reportOf(first, unknown), ['model']).code).toBe('EUR');
    expect(trendOf(reportOf(first), ['model'], 'requests').code).toBeUndefined();
  });

  it('has the rest to the nano-dollar', () => {
    const series = [
      { ...point('2026-11-20', 2), costNanoUsd: 2 * NANO + 1, groups: [{ ...point('', 2), model: 'a' }] },
    ];
    const report = { groups: [{ model: 'a' }], series };
    expect(trendOf(report as never, ['model']).points[0]?.values).toEqual([2 * NANO, 1]);
  });

  it('is by key, or by what keys have, not by both', () => {
    expect(canGroupBy(['key', 'project'], {})).toBe(false);
    expect(canGroupBy(['key', 'model'], {})).toBe(true);
  });

  it('separates pairs of names', () => {
    const groups = ['x', 'y'].map((tag, index) => ({ model: 'a', tag, costNanoUsd: (2 - index) * NANO }));
    const report = { groups, series: [{ ...point('2026-11-20', 3), groups: groups.toReversed() }] };
    expect(trendOf(report as never, ['model', 'tag']).points[0]?.values).toEqual([2 * NANO, NANO, 0]);
  });

  it('shows tokens, requests or errors in the place of costs, with the rest', () => {
    const group = { model: 'a', costNanoUsd: null, requests: 2, tokens: 30, errors: 1 };
    const report = { groups: [group], series: [{ ...point('2026-11-20', null, 5), groups: [group] }] };
    const shown = (metric: 'cost' | 'requests' | 'tokens' | 'latency') =>
      trendOf(report as never, ['model'], metric).points.map(({ value, values }) => [value, ...values]);
    expect(shown('cost')).toEqual([[null, 0, 0]]);
    expect(shown('latency')).toEqual([[null, 0, 0]]);
    expect(shown('requests')).toEqual([[5, 2, 3]]);
    expect(shown('tokens')).toEqual([[500, 30, 470]]);
  });
});

describe('a range', () => {
  it.each([
    [{}, '2026-10-22', 'day'],
    [{ range: '7d' }, '2026-11-14', 'day'],
    [{ range: 'month' }, '2026-11-01', 'day'],
    [{ range: '24h' }, '2026-11-19T15:00:00.000Z', 'hour'],
    [{ range: '90d' }, '2026-08-23', 'day'],
    [{ range: '12m' }, '2025-12-01', 'month'],
    [{ range: 'custom', from: '2026-11-19' }, '2026-11-19', 'hour'],
    [{ range: 'custom', from: '2026-11-18' }, '2026-11-18', 'day'],
    [{ range: 'custom', from: '2026-05-15' }, '2026-05-15', 'day'],
    [{ range: 'custom', from: '2026-05-14' }, '2026-05-14', 'month'],
  ] as const)('%j starts at %s, by %s', (search, from, granularity) => {
    expect(rangeOf(search, now)).toMatchObject({ from, granularity });
  });

  it('never has a finer granularity than the API allows, whatever the URL says', () => {
    expect(rangeOf({ range: '90d', per: 'hour' }, now).granularity).toBe('month');
    expect(rangeOf({ range: 'custom', from: '2026-11-05', to: '2026-11-01', per: 'hour' }, now)).toMatchObject({
      from: '2026-11-01',
      to: '2026-11-05',
      granularity: 'hour',
    });
    expect(rangeOf({ range: 'custom', from: '2026-08-01', to: '2026-08-01' }, now).granularities).toEqual(['day']);
    expect(rangeSearch({ range: '<b>', from: 'yesterday', to: '0020-11-20', per: 7 })).toEqual({});
  });

  it('is in the days of a zone where hours are kept, else in UTC days', () => {
    const auckland = (search: object) => rangeOf(search, new Date('2026-11-20T12:00:00Z'), 'Pacific/Auckland');
    // There it is one o'clock on the 21st.
    expect(auckland({ range: '7d' })).toMatchObject({
      from: '2026-11-14T11:00:00.000Z',
      to: '2026-11-21T11:00:00.000Z',
      timeZone: 'Pacific/Auckland',
      days: { from: '2026-11-15', to: '2026-11-21' },
    });
    expect(auckland({ range: 'month' }).compared).toMatchObject({
      from: '2026-10-31T11:00:00.000Z',
      to: '2026-11-30T11:00:00.000Z',
      compareFrom: '2026-09-30T11:00:00.000Z',
    });
    expect(auckland({ range: '90d' })).toMatchObject({ timeZone: 'UTC', to: undefined });
    // Days in an address are UTC unless it names a zone.
    const custom = { range: 'custom', from: '2026-11-01', to: '2026-11-02' };
    expect(auckland(custom)).toMatchObject({ from: '2026-11-01', timeZone: 'UTC' });
    expect(auckland({ ...custom, zone: 'America/Los_Angeles' }).from).toBe('2026-11-01T07:00:00.000Z');
    const longAgo = { ...custom, from: '2026-08-20', to: '2026-08-21', zone: 'America/Los_Angeles' };
    expect(auckland(longAgo)).toMatchObject({ from: '2026-08-20', timeZone: 'UTC' });
  });

  it('of one day is compared with the day before, also on the first of a month', () => {
    const day = { from: '2026-11-01', to: '2026-11-01' };
    expect(rangeOf({ range: 'custom', ...day }, new Date('2026-11-01T12:00:00Z')).compared).toMatchObject(day);
  });
});
