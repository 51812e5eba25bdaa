import { describe, expect, it } from '@jest/globals';
import { tokenKinds } from '../../lambda/domain/price/rates.ts';
import { type UnitName, unitNames } from '../../lambda/domain/usage/usage.ts';
import {
  addDecimals,
  exactMoney,
  formatAxisMoney,
  formatBytes,
  formatCompact,
  formatCount,
  formatDuration,
  formatMoney,
  formatPercent,
  formatShare,
  plural,
  shownCosts,
} from '../../web/src/format/numbers.ts';
import {
  bucketEnd,
  bucketStart,
  daysOf,
  formatAgo,
  formatInstants,
  formatShortInstant,
} from '../../web/src/format/time.ts';
import { isTokenKind } from '../../web/src/providers/names.ts';

const NANO = 1e9;

it('the rates of tokens are those of a million; of what is counted one by one, of one', () => {
  const isCounted = (unit: UnitName) => !unit.endsWith('Tokens');
  const kinds = [...tokenKinds, ...unitNames];
  expect(kinds.filter((kind) => !isTokenKind(kind))).toEqual(unitNames.filter(isCounted));
});

describe('money', () => {
  it('is "unknown" where the amount is unknown, never zero', () => {
    expect(formatMoney(null)).toBe('unknown');
    expect(formatMoney(null, 'fine')).toBe('unknown');
    expect(exactMoney(null)).toBe('The cost is unknown.');
    expect(formatMoney(0)).toBe('$0.00');
  });

  it.each([
    [1_234.5 * NANO, '$1,234.50'],
    [0.05 * NANO, '$0.05'],
    [4_230_000, '$0.0042'],
    [2_000_000, '$0.002'],
    [1_000, '$0.000001'],
    [12_345, '$0.000012'],
    [-11.64 * NANO, '−$11.64'],
    [-4_230_000, '−$0.0042'],
    [Number.MAX_SAFE_INTEGER, 'more than $9,007,199.25'],
  ])('%d nano-USD is %s', (nano, text) => {
    expect(formatMoney(nano)).toBe(text);
  });

  it.each([
    [0.42, 'JPY', '¥0.42'],
    [0.004_2, 'JPY', '¥0.0042'],
    [1.6, 'JPY', '¥2'],
    [0.000_4, 'KWD', 'KWD 0.0004'],
    [0.004, 'KWD', 'KWD 0.004'],
  ])('%d %s is %s, and not 0', (amount, code, text) => {
    expect(formatMoney(amount * NANO, 'sum', code).replace('\u00a0', ' ')).toBe(text);
  });

  it('has an exact form with all nano-dollars', () => {
    expect(exactMoney(12_345_678_901)).toBe('12.345678901 USD');
    expect(exactMoney(1)).toBe('0.000000001 USD');
    expect(exactMoney(5 * NANO)).toBe('5 USD');
    expect(exactMoney(-1_500_000_000)).toBe('-1.5 USD');
  });

  it('adds up decimals to the nano-dollar, and no sum of what is not known', () => {
    expect(addDecimals(['-1.5', '0.250000001'])).toBe('-1.249999999');
    expect(addDecimals(['1', null])).toBeNull();
    const costs = { costNanoUsd: NANO, costBeforeNanoUsd: null, displayCost: '2', displayCostBefore: null };
    expect(shownCosts(costs, 'EUR')).toMatchObject({ now: { decimal: '2' }, change: { decimal: null } });
  });

  it('is precise for the cost of a request, and short on an axis', () => {
    expect(formatMoney(95_151_000, 'fine')).toBe('$0.095151');
    expect(formatMoney(12, 'fine')).toBe('$0.000000012');
    expect([0, 0.5, 40, 1_200].map((usd) => formatAxisMoney(usd * NANO))).toEqual(['$0', '$0.5', '$40', '$1.2K']);
    expect([0, 0.5, 40, 1_200].map((eur) => formatAxisMoney(eur * NANO, 'EUR'))).toEqual([
      '€0',
      '€0.5',
      '€40',
      '€1.2K',
    ]);
  });
});

describe('costs of requests', () => {
  it('have the same decimals in every row, and are never rounded to zero', () => {
    expect([109_077_000, 2_110_000_000, 6_790_000].map((nano) => formatMoney(nano, 'call'))).toEqual([
      '$0.1091',
      '$2.1100',
      '$0.0068',
    ]);
    expect([50_000, 49_999].map((nano) => formatMoney(nano, 'call'))).toEqual(['$0.0001', '$0.00005']);
    expect([50_760_000, 109_077_300].map((nano) => formatMoney(nano, 'part'))).toEqual(['$0.050760', '$0.109077']);
    expect([0, null].map((nano) => formatMoney(nano, 'call'))).toEqual(['$0.0000', 'unknown']);
    expect([4_900, null].map((nano) => formatMoney(nano, 'part'))).toEqual(['$0.000005', 'unknown']);
    expect([4_900, 12].map((nano) => formatMoney(nano, 'call'))).toEqual(['$0.0000049', '$0.000000012']);
  });
});

describe('quantities', () => {
  it('are short in sentences', () => {
    expect([999, 9_999, 1_240_000].map(formatCompact)).toEqual(['999', '9,999', '1.24M']);
    expect([plural(1, 'request'), plural(2, 'request')]).toEqual(['1 request', '2 requests']);
  });

  it('have the same precision in a column', () => {
    expect([0, 9_999, 13_000, 130_400_000].map(formatCount)).toEqual(['0', '9,999', '13.0K', '130M']);
    expect([12, 12.5].map(formatPercent)).toEqual(['12%', '12.5%']);
  });

  it('a share above zero, or an unknown one, is never shown as 0%', () => {
    expect([0, 0.001, 0.005, 0.384, null].map(formatShare)).toEqual(['0%', '<1%', '1%', '38%', '–']);
  });

  it('durations and sizes have units', () => {
    expect([null, 840, 999.6, 1_400, 9_960, 42_000, 185_000, 59_700, 119_600].map(formatDuration)).toEqual([
      '–',
      '840 ms',
      '1.0 s',
      '1.4 s',
      '10 s',
      '42 s',
      '3 min 5 s',
      '1 min 0 s',
      '2 min 0 s',
    ]);
    expect([null, 12, 12_400, 3_000_000].map(formatBytes)).toEqual(['–', '12 B', '12.4 kB', '3.0 MB']);
  });
});

describe('time', () => {
  it('a bucket starts at its time in UTC', () => {
    expect(['2026-11-20T16', '2026-11-20', '2026-11'].map((time) => bucketStart(time).toISOString())).toEqual([
      '2026-11-20T16:00:00.000Z',
      '2026-11-20T00:00:00.000Z',
      '2026-11-01T00:00:00.000Z',
    ]);
  });

  it('a day of a zone begins at the whole hour of its midnight', () => {
    expect(bucketStart('2026-11-20', 'Pacific/Auckland').toISOString()).toBe('2026-11-19T11:00:00.000Z');
    // Clocks go back on this day, which has 25 hours.
    expect(bucketEnd('2026-11-01', 'America/New_York').toISOString()).toBe('2026-11-02T05:00:00.000Z');
    expect(bucketStart('2026-11-20', 'Asia/Kolkata').toISOString()).toBe('2026-11-19T18:00:00.000Z');
  });

  it('is named by the days of a zone where it begins and ends with them', () => {
    const range = { from: '2026-11-19T23:00:00.000Z', to: '2026-11-20T23:00:00.000Z' };
    expect(daysOf(range, 'Europe/Berlin')).toEqual({ from: '2026-11-20', to: '2026-11-20' });
    expect(daysOf({ ...range, to: '2026-11-20T22:00:00.000Z' }, 'Europe/Berlin')).toBeUndefined();
    // There the day begins at 18:15 UTC, and its spend with that hour.
    const kathmandu = { from: '2026-11-19T18:00:00.000Z', to: '2026-11-21T18:00:00.000Z' };
    expect(daysOf(kathmandu, 'Asia/Kathmandu')).toEqual({ from: '2026-11-20', to: '2026-11-21' });
    expect(daysOf({ ...kathmandu, to: '2026-11-21T19:00:00.000Z' }, 'Asia/Kathmandu')).toBeUndefined();
  });

  it('a bucket ends where the next one starts', () => {
    expect(['2026-11-20T16', '2026-11-20', '2026-12'].map((time) => bucketEnd(time).toISOString())).toEqual([
      '2026-11-20T17:00:00.000Z',
      '2026-11-21T00:00:00.000Z',
      '2027-01-01T00:00:00.000Z',
    ]);
  });

  it('a range within one minute is shown as an instant', () => {
    const [at, soon, later] = ['2026-11-20T12:00:00Z', '2026-11-20T12:00:40Z', '2026-11-20T12:09:00Z'] as const;
    expect(formatInstants(at, soon)).toBe(formatShortInstant(at));
    expect(formatInstants(at, later)).toContain('–');
  });

  it('is relative to now', () => {
    const now = Date.parse('2026-11-20T12:00:00Z');
    const ago = (ms: number) => formatAgo(new Date(now - ms).toISOString(), now);
    expect([ago(5_000), ago(180_000), ago(7_200_000)]).toEqual(['just now', '3 minutes ago', '2 hours ago']);
    // Of a clock that is behind.
    expect([ago(-5_000), ago(-60_000)]).toEqual(['just now', formatShortInstant('2026-11-20T12:01:00Z')]);
  });
});
