import { describe, expect, it } from '@jest/globals';
import { exactMoney, formatAxisMoney, formatFineMoney, formatMoney } from '../../web/src/format/money.ts';
import { formatBytes, formatCompact, formatDuration, formatShare, plural } from '../../web/src/format/quantity.ts';
import { bucketStart, formatAgo } from '../../web/src/format/time.ts';

const NANO = 1e9;

describe('money', () => {
  it('that is not known is said to be unknown, and is never nothing', () => {
    expect(formatMoney(null)).toBe('unknown');
    expect(formatFineMoney(null)).toBe('unknown');
    expect(exactMoney(null)).toBe('The cost is not known.');
    expect(formatMoney(0)).toBe('$0.00');
  });

  it.each([
    [1_234.5 * NANO, '$1,234.50'],
    [0.05 * NANO, '$0.05'],
    [4_230_000, '$0.0042'],
    [12_345, '$0.000012'],
  ])('%d nano-USD is %s', (nano, text) => {
    expect(formatMoney(nano)).toBe(text);
  });

  it('is exact to the nano-dollar where one asks', () => {
    expect(exactMoney(12_345_678_901)).toBe('12.345678901 USD');
    expect(exactMoney(1)).toBe('0.000000001 USD');
    expect(exactMoney(5 * NANO)).toBe('5 USD');
    expect(exactMoney(-1_500_000_000)).toBe('-1.5 USD');
  });

  it('is fine enough for the parts of a call to add up, and short on an axis', () => {
    expect(formatFineMoney(95_151_000)).toBe('$0.095151');
    expect(formatFineMoney(12)).toBe('$0.000000012');
    expect([0, 0.5, 40, 1_200].map((usd) => formatAxisMoney(usd * NANO))).toEqual(['$0', '$0.5', '$40', '$1.2K']);
  });
});

describe('quantities', () => {
  it('are short where they are long', () => {
    expect([999, 9_999, 1_240_000].map(formatCompact)).toEqual(['999', '9,999', '1.24M']);
    expect([plural(1, 'request'), plural(2, 'request')]).toEqual(['1 request', '2 requests']);
  });

  it('a share that is there is never nought', () => {
    expect([0, 0.001, 0.384].map(formatShare)).toEqual(['0%', '<1%', '38%']);
  });

  it('times and sizes have units', () => {
    expect([null, 840, 1_400, 42_000, 185_000].map(formatDuration)).toEqual([
      '–',
      '840 ms',
      '1.4 s',
      '42 s',
      '3 min 5 s',
    ]);
    expect([null, 12, 12_400, 3_000_000].map(formatBytes)).toEqual(['–', '12 B', '12.4 kB', '3.0 MB']);
  });
});

describe('time', () => {
  it('buckets begin where the API says, in UTC', () => {
    expect(['2026-11-20T16', '2026-11-20', '2026-11'].map((time) => bucketStart(time).toISOString())).toEqual([
      '2026-11-20T16:00:00.000Z',
      '2026-11-20T00:00:00.000Z',
      '2026-11-01T00:00:00.000Z',
    ]);
  });

  it('is told from now', () => {
    const now = Date.parse('2026-11-20T12:00:00Z');
    const ago = (ms: number) => formatAgo(new Date(now - ms).toISOString(), now);
    expect([ago(5_000), ago(180_000), ago(7_200_000)]).toEqual(['just now', '3 minutes ago', '2 hours ago']);
  });
});
