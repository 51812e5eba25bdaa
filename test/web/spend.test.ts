import { describe, expect, it } from '@jest/globals';
import { budgetForecast } from '../../lambda/domain/alert-rules/budget-forecast.ts';
import { periodAt } from '../../lambda/domain/calendar/periods.ts';
import { trendOf } from '../../web/src/spend/groups.ts';
import { changeOf, monthOf, sameDayOfLastMonth, todayOf } from '../../web/src/spend/headline.ts';
import { comparedRange, rangeOf, rangeSearch } from '../../web/src/spend/ranges.ts';
import { seriesOf } from '../domain/alert-rules/series-of.ts';

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

const noHours = { series: [] };
const none = { requests: 0, gaps: [] };

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
    expect(judged?.observed).toBeGreaterThan(0);
    expect(monthOf({ series, untracked: none }, noHours, noHours, now).forecastNanoUsd).toBe(judged?.observed);
  });

  it('counts today once, and needs a week of history', () => {
    const firstHour = new Date('2026-12-01T01:00:00Z');
    const forecastOf = (series: ReturnType<typeof days>) =>
      monthOf({ series, untracked: none }, noHours, noHours, firstHour).forecastNanoUsd;
    expect(forecastOf(days('2026-11-01', 31, () => 10))).toBe(310 * NANO);
    expect(forecastOf(days('2026-11-24', 8, () => 10))).toBe(310 * NANO);
    expect(forecastOf(days('2026-11-25', 7, () => 10))).toBeNull();
  });

  it('is unknown where no cost of the month is known', () => {
    const month = monthOf({ series: [point('2026-11-20', null, 3, 3)], untracked: none }, noHours, noHours, now);
    expect(month.sum).toMatchObject({ costNanoUsd: null, requests: 3, unpricedRequests: 3 });
    expect(month.forecastNanoUsd).toBeNull();
  });
});

describe('the earlier period for comparison', () => {
  const hoursOf = (day: string, usd: (hour: number) => number) =>
    Array.from({ length: 24 }, (_, hour) => point(`${day}T${String(hour).padStart(2, '0')}`, usd(hour)));
  // It is 14:30: fourteen hours are whole.
  const sinceYesterday = [...hoursOf('2026-11-19', () => 1), ...hoursOf('2026-11-20', () => 2).slice(0, 15)];

  it('is yesterday: whole hours against the same hours', () => {
    const today = todayOf({ series: sinceYesterday, untracked: none }, now);
    expect([today.sum, today.elapsed, today.before].map(({ costNanoUsd }) => (costNanoUsd ?? 0) / NANO)).toEqual([
      30, 28, 14,
    ]);
    expect(today.beforeUntil).toBe('2026-11-19T14:00:00.000Z');
  });

  it('is last month, up to the same hour of the same day', () => {
    const figures = { series: days('2026-10-01', 51, () => 24), untracked: none };
    const thatDay = { series: hoursOf('2026-10-20', () => 1) };
    const month = monthOf(figures, { series: sinceYesterday }, thatDay, now);
    expect([month.elapsed, month.before].map(({ costNanoUsd }) => (costNanoUsd ?? 0) / NANO)).toEqual([
      19 * 24 + 28,
      19 * 24 + 14,
    ]);
    expect(month.beforeUntil).toBe('2026-10-20T14:00:00.000Z');
    expect(sameDayOfLastMonth(new Date('2026-03-31T10:00:00Z'))).toBe('2026-02-28');
  });

  it('is as many whole days, or hours, whatever the bars are', () => {
    const compared = (search: object) => comparedRange(rangeOf(search, now), now);
    expect(compared({ range: '7d' })).toEqual({
      from: '2026-11-14',
      to: '2026-11-20T00:00:00.000Z',
      granularity: 'day',
    });
    expect(compared({ range: '7d', per: 'hour' })).toEqual(compared({ range: '7d' }));
    expect(compared({ range: '24h' })).toMatchObject({ to: '2026-11-20T14:00:00.000Z', granularity: 'hour' });
    expect(compared({ range: 'custom', from: '2026-11-01', to: '2026-11-05' })?.to).toBe('2026-11-06T00:00:00.000Z');
  });

  it('gives no change where there is nothing to compare with', () => {
    expect([changeOf(2, 1), changeOf(1, 0), changeOf(null, 1), changeOf(1, null)]).toEqual([1, null, null, null]);
  });
});

describe('untracked requests', () => {
  it('are reported with the sums that may miss them', () => {
    const gaps = [
      { from: '2026-10-31T23:50:00.000Z', to: '2026-10-31T23:59:00.000Z', requests: 1 },
      { from: '2026-11-03T10:00:00.000Z', to: '2026-11-03T10:05:00.000Z', requests: 10 },
      { from: '2026-11-19T23:58:00.000Z', to: '2026-11-20T00:01:00.000Z', requests: 100 },
    ];
    const untracked = { requests: 111, gaps };
    expect(todayOf({ series: [], untracked }, now).untrackedRequests).toBe(100);
    expect(monthOf({ series: [], untracked }, noHours, noHours, now).untrackedRequests).toBe(110);
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
    const first = { ...point('2026-11-19', 3), displayCost: '2.700000001', groups: [group] };
    const second = { ...point('2026-11-20', 2), displayCost: '1.8', groups: [group] };
    const reportOf = (...series: object[]) => ({ groups: [group], series, displayCurrency: { code: 'EUR' } }) as never;
    const converted = trendOf(reportOf(first, second), ['model']);
    expect(converted.code).toBe('EUR');
    expect(converted.points.map(({ value, values }) => [value, ...values])).toEqual([
      [2_700_000_001, 1_800_000_000, 900_000_001],
      [1_800_000_000, 1_800_000_000, 0],
    ]);
    // The rest of a rounded sum is no rest.
    const rounded = trendOf(reportOf({ ...second, displayCost: '1.800000001' }), ['model']);
    expect([rounded.hasRest, rounded.code]).toEqual([false, 'EUR']);
    const partly = trendOf(reportOf(first, { ...second, displayCost: null, groups: [] }), ['model']);
    expect([partly.code, partly.points[0]?.value]).toEqual([undefined, 3 * NANO]);
    expect(trendOf(reportOf(first), ['model'], 'requests').code).toBeUndefined();
  });

  it('separates pairs of names', () => {
    const groups = ['x', 'y'].map((tag, index) => ({ model: 'a', tag, costNanoUsd: (2 - index) * NANO }));
    const report = { groups, series: [{ ...point('2026-11-20', 3), groups: groups.toReversed() }] };
    expect(trendOf(report as never, ['model', 'tag']).points[0]?.values).toEqual([2 * NANO, NANO, 0]);
  });

  it('shows tokens, requests or errors in the place of costs, with the rest', () => {
    const group = { model: 'a', costNanoUsd: null, requests: 2, tokens: 30, errors: 1 };
    const report = { groups: [group], series: [{ ...point('2026-11-20', null, 5), groups: [group] }] };
    const shown = (metric: 'cost' | 'requests' | 'tokens') =>
      trendOf(report as never, ['model'], metric).points.map(({ value, values }) => [value, ...values]);
    expect(shown('cost')).toEqual([[null, 0, 0]]);
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
    [{ range: '12m' }, '2025-12-01', 'month'],
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
    expect(rangeSearch({ range: '<b>', from: 'yesterday', per: 7 })).toEqual({});
  });
});
