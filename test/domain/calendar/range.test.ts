import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { bucketsOf, instantsOf, precedingRange, rangeOf } from '../../../lambda/domain/calendar/range.ts';
import { bucketOf, granularities } from '../../../lambda/domain/calendar/utc.ts';
import { ValidationError } from '../../../lambda/domain/errors.ts';

const now = new Date('2026-11-20T16:30:00Z');

describe('rangeOf', () => {
  it.each([
    ['this month so far', {}, 'day', '2026-11-01T00:00:00.000Z', '2026-11-21T00:00:00.000Z'],
    [
      'whole days, the last included',
      { from: '2026-10-01', to: '2026-10-31' },
      'day',
      '2026-10-01T00:00:00.000Z',
      '2026-11-01T00:00:00.000Z',
    ],
    [
      'instants, widened to hours',
      { from: '2026-11-20T10:30:00+01:00', to: '2026-11-20T12:00:00Z' },
      'hour',
      '2026-11-20T09:00:00.000Z',
      '2026-11-20T12:00:00.000Z',
    ],
    [
      'instants, widened to days',
      { from: '2026-11-18T10:30:00Z', to: '2026-11-20T00:00:00Z' },
      'day',
      '2026-11-18T00:00:00.000Z',
      '2026-11-20T00:00:00.000Z',
    ],
    [
      'days, widened to months',
      { from: '2026-01-15', to: '2026-02-01' },
      'month',
      '2026-01-01T00:00:00.000Z',
      '2026-03-01T00:00:00.000Z',
    ],
  ] as const)('takes %s', (_, query, granularity, from, to) => {
    expect(rangeOf({ ...query, granularity }, now)).toEqual({ granularity, from, to });
  });

  it('includes today at the very start of the month', () => {
    const start = new Date('2026-12-01T00:00:00.000Z');
    expect(bucketsOf(rangeOf({ granularity: 'day' }, start))).toEqual(['2026-12-01']);
  });

  it.each([
    ['an empty range', { from: '2026-11-20', to: '2026-11-19' }, 'day', 'to'],
    ['a future start', { from: '2026-12-01' }, 'day', 'from'],
    ['too many days', { from: '2025-01-01', to: '2026-11-20' }, 'day', 'from'],
    ['too many hours', { from: '2026-10-01', to: '2026-11-20' }, 'hour', 'from'],
    ['hours no longer kept', { from: '2026-08-01', to: '2026-08-02' }, 'hour', 'from'],
    ['ages', { from: '2000-01-01', to: '9998-12-30' }, 'hour', 'from'],
    ['the first years of the calendar', { from: '0000-01-01', to: '0000-01-02' }, 'day', 'from'],
    ['years of two digits', { from: '0050-01-01', to: '0050-02-01' }, 'month', 'from'],
    ['the last day of the calendar', { from: '9999-12-31', to: '9999-12-31' }, 'day', 'from'],
    ['a last day of the calendar', { from: '2026-11-20', to: '9999-12-31' }, 'month', 'to'],
  ] as const)('refuses %s', (_, query, granularity, path) => {
    const attempt = () => rangeOf({ ...query, granularity }, now);
    expect(attempt).toThrow(ValidationError);
    expect(attempt).toThrow(expect.objectContaining({ violations: [expect.objectContaining({ path })] }));
  });

  it('takes a whole leap year by day', () => {
    expect(bucketsOf(rangeOf({ from: '2024-01-01', to: '2024-12-31', granularity: 'day' }, now))).toHaveLength(366);
  });
});

const instant = fc.date({ min: new Date('2020-01-01'), max: new Date('2027-01-01'), noInvalidDate: true });

describe('ranges and buckets', () => {
  it('cover a range without gap or overlap, and the range before is as long and touches it', () => {
    fc.assert(
      fc.property(
        instant,
        fc.integer({ min: 1, max: 30 * 24 }),
        fc.constantFrom(...granularities),
        (start, hours, granularity) => {
          const from = start.toISOString();
          const to = new Date(start.getTime() + hours * 3_600_000).toISOString();
          const range = rangeOf({ from, to, granularity }, start);
          const buckets = bucketsOf(range);
          expect(new Set(buckets).size).toBe(buckets.length);
          expect([...buckets].sort()).toEqual(buckets);
          expect(buckets).toContain(bucketOf(from, granularity));
          expect(buckets).toContain(bucketOf(new Date(Date.parse(to) - 1).toISOString(), granularity));
          const before = precedingRange(range);
          expect(before.to).toBe(range.from);
          expect(bucketsOf(before)).toHaveLength(buckets.length);
        },
      ),
    );
  });
});

describe('instantsOf', () => {
  it.each([
    { from: '9999-12-31' },
    { from: '0000-01-01', to: '0000-01-02' },
    { to: '9999-12-31' },
    { from: '2027-01-01' },
  ])('refuses %j', (query) => {
    expect(() => instantsOf(query, now)).toThrow(ValidationError);
  });

  it('is the last 30 days by default', () => {
    expect(instantsOf({}, now)).toEqual({ from: '2026-10-21T16:30:00.000Z', to: '2026-11-20T16:30:00.000Z' });
  });

  it('includes a day given as `to`, but not an instant given as `to`', () => {
    expect(instantsOf({ from: '2026-11-01', to: '2026-11-02' }, now).to).toBe('2026-11-03T00:00:00.000Z');
    expect(instantsOf({ from: '2026-11-01', to: '2026-11-02T01:00:00Z' }, now).to).toBe('2026-11-02T01:00:00.000Z');
  });
});
