import { describe, expect, it } from '@jest/globals';
import { comparedPeriods } from '../../../lambda/domain/calendar/compared-periods.ts';

const now = new Date('2026-11-20T16:30:00Z');
const short = ({ from, to }: { from: string; to: string }) => `${from.slice(0, 13)} ${to.slice(0, 13)}`;

describe('comparedPeriods', () => {
  it.each([
    ['this month so far and as much of last month', {}, '2026-11-01T00 2026-11-20T16', '2026-10-01T00 2026-10-20T16'],
    [
      'today and as much of yesterday',
      { from: '2026-11-20', to: '2026-11-20' },
      '2026-11-20T00 2026-11-20T16',
      '2026-11-19T00 2026-11-19T16',
    ],
    ['the same without an end', { from: '2026-11-20' }, '2026-11-20T00 2026-11-20T16', '2026-11-19T00 2026-11-19T16'],
    [
      'seven days so far and as much of the seven before',
      { from: '2026-11-14', to: '2026-11-20' },
      '2026-11-14T00 2026-11-20T16',
      '2026-11-07T00 2026-11-13T16',
    ],
    [
      'the hours of a day so far and the same ones of the day before',
      { from: '2026-11-19T17:00:00Z', to: '2026-11-20T17:00:00Z' },
      '2026-11-19T17 2026-11-20T16',
      '2026-11-18T17 2026-11-19T16',
    ],
    [
      'whole months and as many before',
      { from: '2026-09-01', to: '2026-10-31' },
      '2026-09-01T00 2026-11-01T00',
      '2026-07-01T00 2026-09-01T00',
    ],
    [
      'whole days of both periods where hours of one are no longer kept',
      { from: '2026-11-20', compareFrom: '2025-11-20' },
      '2026-11-20T00 2026-11-21T00',
      '2025-11-20T00 2025-11-21T00',
    ],
    [
      'twelve months so far, in whole days',
      { from: '2025-12-01' },
      '2025-12-01T00 2026-11-20T00',
      '2024-12-01T00 2025-11-20T00',
    ],
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
      'whole days, where hours of the period before are no longer kept',
      { from: '2026-08-01' },
      '2026-08-01T00 2026-11-20T00',
      '2026-04-01T00 2026-07-21T00',
    ],
  ])('compares %s', (_, query, current, before) => {
    const found = comparedPeriods(query, now);
    expect([short(found.now), short(found.before)]).toEqual([current, before]);
  });

  it.each([
    ['from', { from: '2026-11-21' }],
    ['from', { from: '2026-11-21', to: '2026-11-22' }],
    ['to', { from: '2026-11-10', to: '2026-11-09' }],
    ['to', { from: '2024-11-10', to: '2026-11-09' }],
    ['compareFrom', { compareFrom: '2026-11-21' }],
    ['from', { from: '2026-11-10T00:30:00Z' }],
    ['from', { from: '2026-02-01T05:00:00Z', to: '2026-02-03' }],
    ['to', { from: '2026-11-10', to: '2026-11-11T00:30:00Z' }],
    ['compareFrom', { from: '2026-11-10', compareFrom: '2026-10-10T00:30:00Z' }],
    ['compareTo', { from: '2026-11-10', compareFrom: '2026-10-10', compareTo: '2026-10-10T00:30:00Z' }],
    ['compareTo', { compareFrom: '2026-11-10', compareTo: '2026-11-08' }],
    ['compareTo', { from: '2026-11-01', to: '2026-11-02', compareFrom: '2020-11-10', compareTo: '2026-11-08' }],
  ])('refuses a wrong %s', (path, query) => {
    expect(() => comparedPeriods(query, now)).toThrow(
      expect.objectContaining({ violations: [expect.objectContaining({ path })] }),
    );
  });
});
