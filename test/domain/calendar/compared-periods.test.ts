import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { comparedPeriods, rangesOf } from '../../../lambda/domain/calendar/compared-periods.ts';
import { bucketsOf } from '../../../lambda/domain/calendar/range.ts';
import { HOUR_MS } from '../../../lambda/domain/calendar/units.ts';

const now = new Date('2026-11-20T16:30:00Z');
const short = ({ from, to }: { from: string; to: string }) => `${from.slice(0, 13)} ${to.slice(0, 13)}`;

describe('comparedPeriods', () => {
  it.each([
    ['this month so far and as much time before', {}, '2026-11-01T00 2026-11-20T16', '2026-10-12T08 2026-11-01T00'],
    [
      'a running month and the one before up to the same hour',
      { from: '2026-11-01', compareFrom: '2026-10-01', compareTo: '2026-10-31' },
      '2026-11-01T00 2026-11-20T16',
      '2026-10-01T00 2026-10-20T16',
    ],
    [
      'today and yesterday up to the same hour',
      { from: '2026-11-20', to: '2026-11-20', compareFrom: '2026-11-19' },
      '2026-11-20T00 2026-11-20T16',
      '2026-11-19T00 2026-11-19T16',
    ],
    [
      'whole periods of other lengths as they are',
      { from: '2026-11-01', to: '2026-11-02', compareFrom: '2026-10-01', compareTo: '2026-10-31' },
      '2026-11-01T00 2026-11-03T00',
      '2026-10-01T00 2026-11-01T00',
    ],
    [
      'a running period and a shorter one',
      { from: '2026-11-01', compareFrom: '2026-10-05', compareTo: '2026-10-06' },
      '2026-11-01T00 2026-11-20T16',
      '2026-10-05T00 2026-10-07T00',
    ],
    [
      'the first hour of a day as it is',
      { from: '2026-11-20T16:00:00Z' },
      '2026-11-20T16 2026-11-20T17',
      '2026-11-20T15 2026-11-20T16',
    ],
    [
      'whole days where hours are no longer kept',
      { from: '2026-02-01T05:00:00Z', to: '2026-02-03T07:00:00Z' },
      '2026-02-01T00 2026-02-04T00',
      '2026-01-29T00 2026-02-01T00',
    ],
  ])('compares %s', (_, query, current, before) => {
    const found = comparedPeriods(query, now);
    expect([short(found.now), short(found.before)]).toEqual([current, before]);
  });

  it.each([
    ['from', { from: '2026-11-21' }],
    ['to', { from: '2026-11-10', to: '2026-11-09' }],
    ['to', { from: '2024-11-10', to: '2026-11-09' }],
    ['compareFrom', { compareFrom: '2026-11-21' }],
    ['compareTo', { compareFrom: '2026-11-10', compareTo: '2026-11-08' }],
    ['compareTo', { from: '2026-11-01', to: '2026-11-02', compareFrom: '2020-11-10', compareTo: '2026-11-08' }],
  ])('refuses a wrong %s', (path, query) => {
    expect(() => comparedPeriods(query, now)).toThrow(
      expect.objectContaining({ violations: [expect.objectContaining({ path })] }),
    );
  });
});

describe('rangesOf', () => {
  it('has every hour of a period once', () => {
    fc.assert(
      fc.property(fc.nat(10_000), fc.integer({ min: 1, max: 200 }), (start, hours) => {
        const fromMs = Date.UTC(2025, 0, 1) + start * HOUR_MS;
        const period = {
          from: new Date(fromMs).toISOString(),
          to: new Date(fromMs + hours * HOUR_MS).toISOString(),
        };
        const found = rangesOf(period).flatMap((range) => bucketsOf({ ...range, granularity: 'hour' }));
        expect(found).toEqual(bucketsOf({ ...period, granularity: 'hour' }));
        for (const { granularity, from, to } of rangesOf(period))
          if (granularity === 'day') expect(from.slice(11) + to.slice(11)).toBe('00:00:00.000Z00:00:00.000Z');
      }),
    );
  });
});
