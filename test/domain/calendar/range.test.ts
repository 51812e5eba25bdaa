import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  bucketFinder,
  bucketsOf,
  instantsOf,
  instantsOfDays,
  precedingRange,
  rangeOf,
  rangesOf,
} from '../../../lambda/domain/calendar/range.ts';
import { HOUR_MS } from '../../../lambda/domain/calendar/units.ts';
import { bucketOf, granularities, startOf } from '../../../lambda/domain/calendar/utc.ts';
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
      'instants at whole hours',
      { from: '2026-11-20T10:00:00+01:00', to: '2026-11-20T12:00:00Z' },
      'hour',
      '2026-11-20T09:00:00.000Z',
      '2026-11-20T12:00:00.000Z',
    ],
    [
      'a part of its first day',
      { from: '2026-11-18T10:00:00Z', to: '2026-11-20T00:00:00Z' },
      'day',
      '2026-11-18T10:00:00.000Z',
      '2026-11-20T00:00:00.000Z',
    ],
    [
      'parts of months',
      { from: '2026-01-15', to: '2026-02-01' },
      'month',
      '2026-01-15T00:00:00.000Z',
      '2026-02-02T00:00:00.000Z',
    ],
    [
      'an end that is not past, rounded up',
      { from: '2026-11-20', to: '2026-11-20T16:30:00Z' },
      'day',
      '2026-11-20T00:00:00.000Z',
      '2026-11-20T17:00:00.000Z',
    ],
  ] as const)('takes %s', (_, query, granularity, from, to) => {
    expect(rangeOf({ ...query, granularity }, now)).toEqual({ granularity, from, to });
  });

  it.each([
    ['days for a day', { from: '2026-10-01', to: '2026-10-01' }, 'day'],
    ['hours for less than a day', { from: '2026-11-20T09:00:00Z', to: '2026-11-20T12:00:00Z' }, 'hour'],
    ['days for more', { from: '2026-11-18T09:00:00Z', to: '2026-11-20T12:00:00Z' }, 'day'],
    ['days until now', { from: '2026-11-20' }, 'day'],
    ['hours until now', { from: '2026-11-20T09:00:00Z' }, 'hour'],
  ] as const)('has by default %s', (_, query, granularity) => {
    expect(rangeOf(query, now).granularity).toBe(granularity);
  });

  it('includes today at the very start of the month', () => {
    const start = new Date('2026-12-01T00:00:00.000Z');
    expect(bucketsOf(rangeOf({ granularity: 'day' }, start))).toEqual(['2026-12-01']);
  });

  it('takes the new day of a client whose clock is a few minutes ahead', () => {
    const ofDays = (from: string, at: string) => bucketsOf(rangeOf({ from, granularity: 'day' }, new Date(at)));
    expect(ofDays('2026-11-21', '2026-11-20T23:55:00.001Z')).toEqual(['2026-11-21']);
    expect(() => ofDays('2026-11-21', '2026-11-20T23:55:00Z')).toThrow(ValidationError);
    const from = '2026-11-21T00:00:00.000Z';
    expect(instantsOf({ from }, new Date('2026-11-20T23:59:00Z'))).toEqual({ from, to: '2026-11-21T00:00:00.001Z' });
    expect(instantsOf({ from }, new Date(from))).toEqual({ from, to: '2026-11-21T00:00:00.001Z' });
  });

  it.each([
    ['an empty range', { from: '2026-11-20', to: '2026-11-19' }, 'day', 'to'],
    ['a future start', { from: '2026-12-01' }, 'day', 'from'],
    ['too many days', { from: '2025-01-01', to: '2026-11-20' }, 'day', 'from'],
    ['too many hours', { from: '2026-10-01', to: '2026-11-20' }, 'hour', 'from'],
    ['hours that may be half gone', { from: '2026-08-23', to: '2026-08-23' }, 'hour', 'from'],
    ['ages', { from: '2000-01-01', to: '9998-12-30' }, 'hour', 'from'],
    ['the first years of the calendar', { from: '0000-01-01', to: '0000-01-02' }, 'day', 'from'],
    ['years of two digits', { from: '0050-01-01', to: '0050-02-01' }, 'month', 'from'],
    ['the last day of the calendar', { from: '9999-12-31', to: '9999-12-31' }, 'day', 'from'],
    ['a last day of the calendar', { from: '2026-11-20', to: '9999-12-31' }, 'month', 'to'],
    ['a part of an hour', { from: '2026-11-20T09:30:00Z' }, 'day', 'from'],
    ['an end within a past hour', { from: '2026-11-20', to: '2026-11-20T16:29:59Z' }, 'day', 'to'],
    ['a part of a day whose hours are no longer kept', { from: '2026-08-20T01:00:00Z' }, 'month', 'from'],
    ['such a part of the last day', { from: '2026-08-01', to: '2026-08-20T01:00:00Z' }, 'day', 'to'],
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
          const from = startOf('hour', start).toISOString();
          const to = new Date(Date.parse(from) + hours * HOUR_MS).toISOString();
          const range = rangeOf({ from, to, granularity }, start);
          const buckets = bucketsOf(range);
          expect(new Set(buckets).size).toBe(buckets.length);
          expect([...buckets].sort()).toEqual(buckets);
          expect(buckets).toContain(bucketOf(from, granularity));
          expect(buckets).toContain(bucketOf(new Date(Date.parse(to) - 1).toISOString(), granularity));
          const before = precedingRange(range);
          expect(before.to).toBe(range.from);
          expect(Date.parse(before.to) - Date.parse(before.from)).toBe(hours * HOUR_MS);
        },
      ),
    );
  });
});

describe('days of a zone', () => {
  const now = new Date('2026-11-20T12:00:00Z');
  const query = { from: '2026-10-31T07:00:00Z', to: '2026-11-03T08:00:00Z', granularity: 'day' as const };

  it('are read by hour, and each hour is in one of them', () => {
    const range = rangeOf({ ...query, timeZone: 'America/Los_Angeles' }, now);
    expect(bucketsOf(range)).toEqual(['2026-10-31', '2026-11-01', '2026-11-02']);
    expect(rangesOf(range)).toEqual([{ granularity: 'hour', from: range.from, to: range.to }]);
    const dayOf = bucketFinder(range);
    const days = bucketsOf({ ...range, granularity: 'hour', timeZone: undefined } as never).map(dayOf);
    // Clocks go back on the first of November.
    expect(['2026-10-31', '2026-11-01', '2026-11-02'].map((day) => days.filter((each) => each === day).length)).toEqual(
      [24, 25, 24],
    );
  });

  it('are UTC where hours are no longer kept, or the range is long', () => {
    const zoned = (from: string) => rangeOf({ ...query, from, timeZone: 'Asia/Kolkata' }, now).timeZone;
    expect(zoned('2026-10-31')).toBe('Asia/Kolkata');
    expect(zoned('2026-08-24')).toBeUndefined();
    expect(zoned('2026-01-01')).toBeUndefined();
  });
});

describe('precedingRange', () => {
  it('has as many whole months, else as much time', () => {
    const month = { granularity: 'month', from: '2026-03-01T00:00:00.000Z', to: '2026-04-01T00:00:00.000Z' } as const;
    expect(precedingRange(month).from).toBe('2026-02-01T00:00:00.000Z');
    expect(precedingRange({ ...month, to: '2026-04-01T01:00:00.000Z' }).from).toBe('2026-01-28T23:00:00.000Z');
  });
});

describe('rangesOf', () => {
  it('has every hour of a range once, hours only in days that are not whole', () => {
    fc.assert(
      fc.property(
        fc.nat(10_000),
        fc.integer({ min: 1, max: 200 }),
        fc.constantFrom(...granularities),
        (start, hours, granularity) => {
          const fromMs = Date.UTC(2025, 0, 1) + start * HOUR_MS;
          const range = {
            granularity,
            from: new Date(fromMs).toISOString(),
            to: new Date(fromMs + hours * HOUR_MS).toISOString(),
          };
          const found = rangesOf(range);
          expect(found.flatMap((each) => bucketsOf({ ...each, granularity: 'hour' }))).toEqual(
            bucketsOf({ ...range, granularity: 'hour' }),
          );
          for (const each of found)
            if (each.granularity !== 'hour')
              expect(each.from.slice(11) + each.to.slice(11)).toBe('00:00:00.000Z00:00:00.000Z');
            else if (granularity !== 'hour') expect(bucketsOf(each).length).toBeLessThan(48);
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

  it('may end within a day to come, where sums are by day', () => {
    const to = '2026-11-20T18:00:00.000Z';
    expect(instantsOfDays({ to }, now).to).toBe(to);
  });
});
