import { describe, expect, it } from '@jest/globals';
import { backtestValues } from '../../../lambda/domain/limits/backtest-values.ts';
import { usualOf } from '../../../lambda/domain/limits/burn-rate.ts';
import { type BurnRateCondition, evaluatorOf, ruleConditionSchema } from '../../../lambda/domain/limits/rule.ts';
import { splitSeries } from '../../../lambda/domain/limits/spend-series.ts';
import type { SpendCounter } from '../../../lambda/domain/spend/counters.ts';
import { type Random, randomFrom } from '../../faults/random.ts';

const USD = 1e9;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** The middle of a day, so that the last day is not whole. */
const NOW = new Date('2026-11-20T12:00:00.000Z');

const conditionOf = (config: object) => ruleConditionSchema.parse({ type: 'burn_rate', config }) as BurnRateCondition;

const spent = (atMs: number, usd: number, keyId = 'key-1', requests = 1): SpendCounter => ({
  time: new Date(atMs).toISOString().slice(0, 13),
  dimensions: { provider: 'openai', model: 'gpt-4o', tag: null, keyId, providerKey: null },
  counters: { requests, costComputedNanoUsd: Math.round(usd * USD) },
});

const seriesOf = (condition: BurnRateCondition, counters: readonly SpendCounter[]) => {
  const series = splitSeries(evaluatorOf(condition));
  for (const counter of counters) {
    const project = counter.dimensions.keyId === 'key-9' ? null : 'project-1';
    series.add({ ...counter, dimensions: { ...counter.dimensions, project } });
  }
  return series.ofValues;
};

/** $10 at 10:00 and $20 at 15:00 of each of these days back. */
const work = (days: readonly number[]) =>
  days.flatMap((back) => {
    const day = Date.parse('2026-11-20T00:00:00.000Z') - back * DAY_MS;
    return [spent(day + 10 * HOUR_MS, 10), spent(day + 15 * HOUR_MS, 20)];
  });
const lastWeeks = Array.from({ length: 44 }, (_, index) => index + 1);

describe('the usual hour', () => {
  it('is the median of the busiest hours of days with requests, and needs five of them', () => {
    const condition = conditionOf({ each: 'key', factor: 2 });
    const usual = (days: readonly number[]) => {
      const series = seriesOf(condition, work(days)).get('key-1');
      return series ? usualOf(condition.config, series)('2026-11-20T03:00:00.000Z') : null;
    };
    expect(usual([1, 2, 3, 4, 14])).toBe(20 * USD);
    expect(usual([1, 2, 3, 4])).toBeNull();
    // The fifteenth day back is too old.
    expect(usual([1, 2, 3, 4, 15])).toBeNull();
  });
});

it('judges the sessions of yesterday for three hours, and longer where that was not done', () => {
  const { periodsToJudge } = evaluatorOf(conditionOf({ each: 'session', limit: 5 }));
  const at = (time: string) => new Date(`2026-11-20T${time}Z`);
  const days = (now: string, until = now) => periodsToJudge(at(now), at(until)).map(({ start }) => start.slice(8, 10));
  expect([days('02:59:59'), days('03:00:00'), days('03:00:00', '02:59:59')]).toEqual([
    ['20', '19'],
    ['20'],
    ['20', '19'],
  ]);
});

it.each([{ limit: 5 }, { factor: 2, minimum: 0.01 }])(
  'looks only at the hours in which a value has requests: an account has thousands of values (%j)',
  (config) => {
    const condition = conditionOf({ each: 'key', ...config });
    const counters = work(lastWeeks);
    const series = seriesOf(condition, counters).get('key-1')!;
    let asked = 0;
    const sum: typeof series.sum = (...range) => {
      asked += 1;
      return series.sum(...range);
    };
    backtestValues(condition, new Map([['key-1', { ...series, sum }]]), NOW);
    expect(asked).toBeLessThan(4 * counters.length);
  },
);

describe('a rule on each key', () => {
  const backtest = (config: object, more: readonly SpendCounter[]) => {
    const condition = conditionOf(config);
    return backtestValues(condition, seriesOf(condition, [...work(lastWeeks), ...more]), NOW);
  };
  const night = Date.parse('2026-11-15T02:00:00.000Z');
  const loop = Array.from({ length: 5 }, (_, hour) => spent(night + hour * HOUR_MS, 100));

  it('would have fired in each hour of a loop, and once where it pauses', () => {
    const alone = backtest({ each: 'key', factor: 3 }, loop);
    expect(alone.alerts.map(({ by, isBrief, stoppedNanoUsd }) => [by.slice(0, 13), isBrief, stoppedNanoUsd])).toEqual([
      ['2026-11-15T03', false, null],
      ['2026-11-15T04', false, null],
      ['2026-11-15T05', false, null],
      ['2026-11-15T06', false, null],
      ['2026-11-15T07', true, null],
    ]);
    expect(alone.stoppedNanoUsd).toBeNull();
    const paused = backtest({ each: 'key', factor: 3, pause: { minutes: 240 } }, loop);
    // $40 of the first hour were above $60, and the four hours after it are paused.
    expect(paused).toMatchObject({
      stoppedNanoUsd: 440 * USD,
      alerts: [{ of: { dimension: 'key', value: 'key-1' }, figure: 100 * USD, limit: 60 * USD, isBrief: false }],
    });
  });

  it('calls an hour alone brief: it may have been a false alarm', () => {
    expect(backtest({ each: 'key', factor: 3 }, loop.slice(0, 1)).alerts).toMatchObject([{ isBrief: true }]);
  });

  it('compares with the limit where there is no history, and with the lower one where there is', () => {
    const newKey = loop.map(({ time, dimensions, counters }) => ({
      ...{ time, counters },
      dimensions: { ...dimensions, keyId: 'key-2' },
    }));
    expect(backtest({ each: 'key', factor: 3 }, newKey).alerts).toEqual([]);
    expect(backtest({ each: 'key', limit: 100 }, newKey).alerts).toHaveLength(5);
    expect(backtest({ each: 'key', limit: 50, factor: 3 }, loop).alerts[0]?.limit).toBe(50 * USD);
  });

  it('counts requests, and the keys of a project together', () => {
    const many = [
      spent(night, 0.01, 'key-1', 600),
      spent(night, 0.01, 'key-2', 500),
      spent(night, 0.01, 'key-9', 5_000),
    ];
    expect(backtest({ each: 'project', measure: 'requests', limit: 1_000 }, many).alerts).toMatchObject([
      { of: { value: 'project-1' }, unit: 'requests', figure: 1_100 },
    ]);
  });

  it.each<[string, object, string]>([
    ['neither limit nor factor', { each: 'key' }, 'needs a limit or a factor'],
    ['a factor for sessions', { each: 'session', factor: 3 }, 'no history'],
    ['a filter for sessions', { each: 'session', limit: 3, filter: { tag: 'a' } }, 'cannot be filtered'],
    ['a client and tags', { each: 'tag', limit: 3, filter: { client: 'a' } }, 'cannot be combined'],
    ['a short pause', { each: 'key', limit: 3, pause: { minutes: 5 } }, '60'],
  ])('is refused with %s', (_case, config, message) => {
    const { error } = ruleConditionSchema.safeParse({ type: 'burn_rate', config });
    expect(JSON.stringify(error?.issues)).toContain(message);
  });
});

/*
 * Normal traffic: work by day and little at night, less at weekends, with noise of a factor of about two in each hour, a batch of three
 * times the usual hour in one night a week, and a doubled hour now and then.
 */
const normalTraffic = ({ below }: Random, keys: readonly string[], days: number): SpendCounter[] => {
  const random = () => below(2 ** 32) / 2 ** 32;
  const gauss = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const first = Date.parse('2026-11-20T00:00:00.000Z') - days * DAY_MS;
  return keys.flatMap((keyId) => {
    const scaleUsd = 0.5 * 80 ** random();
    const batchDay = Math.floor(random() * 7);
    return Array.from({ length: days * 24 }, (_, n) => {
      const atMs = first + n * HOUR_MS;
      const [hour, weekday] = [n % 24, new Date(atMs).getUTCDay()];
      const byHour = 0.05 + Math.max(0, Math.sin(((hour - 7) / 12) * Math.PI));
      const byDay = weekday === 0 || weekday === 6 ? 0.25 : 1;
      const batch = weekday === batchDay && hour === 2 ? 1.5 : 0;
      const burst = random() < 0.01 ? 2 : 1;
      return spent(atMs, scaleUsd * (byHour * byDay * burst * Math.exp(0.4 * gauss()) + batch), keyId);
    });
  });
};

it.each([1, 2, 3])('fires at most once for each key and month on 60 days of normal traffic (seed %i)', (seed) => {
  const keys = Array.from({ length: 8 }, (_, index) => `key-${index}`);
  const condition = conditionOf({ each: 'key', factor: 3, pause: {} });
  const counters = normalTraffic(randomFrom(seed), keys, 74);
  const ofValues = seriesOf(condition, counters);
  expect(ofValues.size).toBe(keys.length);
  // Two months, each after two weeks of history.
  for (const now of [new Date(NOW.getTime() - 30 * DAY_MS), NOW]) {
    const { alerts, periods } = backtestValues(condition, ofValues, now);
    expect(periods).toBeGreaterThan(700);
    const perKey = keys.map((key) => alerts.filter(({ of }) => of?.value === key).length);
    expect(Math.max(...perKey)).toBeLessThanOrEqual(1);
  }
});
