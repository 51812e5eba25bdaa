import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { dayIn, instantIn, isTimeZone } from '../../../lambda/domain/calendar/time-zones.ts';
import {
  dueAt,
  lastPeriod,
  nextPeriod,
  periodAfter,
  periodBefore,
  periodOn,
  type ReportCalendar,
  reportFrequencies,
  weekStarts,
} from '../../../lambda/domain/reports/report-period.ts';

const berlin: ReportCalendar = { timeZone: 'Europe/Berlin', weekStartsOn: 'monday' };
const zones = [
  ...['UTC', 'Europe/Berlin', 'America/New_York', 'America/Santiago', 'Asia/Kolkata', 'Asia/Kathmandu'],
  ...['Africa/Cairo', 'Asia/Beirut', 'America/Havana', 'Australia/Lord_Howe', 'Pacific/Auckland', 'Pacific/Chatham'],
];

describe('time zones', () => {
  it.each([
    ['Europe/Berlin', true],
    ['America/Argentina/Buenos_Aires', true],
    ['Etc/GMT+5', true],
    ['UTC', true],
    ['+01:00', false],
    ['Berlin', false],
    ['', false],
  ])('%s is the name of one: %s', (name, isOne) => {
    expect(isTimeZone(name)).toBe(isOne);
  });

  it('are told from signs without end in linear time', async () => {
    const isOne = isTimeZone(`A${'+'.repeat(47)}!`);
    // Exponential time would be minutes: then this test's limit has passed by the next turn.
    await new Promise((resolve) => setTimeout(resolve));
    expect(isOne).toBe(false);
  }, 15_000);

  it.each([
    ['Europe/Berlin', '2026-11-20', 8, '2026-11-20T07:00:00.000Z'],
    ['Europe/Berlin', '2026-07-20', 8, '2026-07-20T06:00:00.000Z'],
    ['the day on which clocks go forward', '2026-03-29', 8, '2026-03-29T06:00:00.000Z', 'Europe/Berlin'],
    ['an hour that is skipped', '2026-03-29', 2, '2026-03-29T01:00:00.000Z', 'Europe/Berlin'],
    ['an hour that comes twice', '2026-10-25', 2, '2026-10-25T00:00:00.000Z', 'Europe/Berlin'],
    ['a midnight that is skipped', '2026-03-08', 0, '2026-03-08T05:00:00.000Z', 'America/Havana'],
    ['Asia/Kolkata', '2026-11-20', 0, '2026-11-19T18:30:00.000Z'],
  ])('%s: %s at %i is %s', (name, day, hour, at, zone = name) => {
    expect(instantIn(zone, day, hour).toISOString()).toBe(at);
  });

  it('is the day on the calendar there', () => {
    const at = new Date('2026-11-20T23:30:00Z');
    expect(['Europe/Berlin', 'UTC', 'America/New_York'].map((zone) => dayIn(zone, at))).toEqual([
      ...['2026-11-21', '2026-11-20', '2026-11-20'],
    ]);
  });
});

describe('periods of reports', () => {
  it('begin and end at midnight of the zone, also when clocks change', () => {
    expect(periodOn('daily', '2026-10-25', berlin)).toEqual({
      ...{ firstDay: '2026-10-25', lastDay: '2026-10-25' },
      ...{ from: '2026-10-24T22:00:00.000Z', to: '2026-10-25T23:00:00.000Z' },
    });
    expect(periodOn('monthly', '2026-10-25', berlin)).toMatchObject({
      ...{ from: '2026-09-30T22:00:00.000Z', to: '2026-10-31T23:00:00.000Z' },
    });
  });

  it('begin weeks on the day that the account chose', () => {
    const firstDays = weekStarts.map(
      (weekStartsOn) => periodOn('weekly', '2026-11-20', { ...berlin, weekStartsOn }).firstDay,
    );
    expect(firstDays).toEqual([
      ...['2026-11-15', '2026-11-16', '2026-11-17', '2026-11-18', '2026-11-19', '2026-11-20', '2026-11-14'],
    ]);
  });

  it('begin at the whole hour before midnight where the offset has half an hour', () => {
    const kolkata = { ...berlin, timeZone: 'Asia/Kolkata' };
    const period = periodOn('daily', '2026-11-20', kolkata);
    expect(period).toMatchObject({ from: '2026-11-19T18:00:00.000Z', to: '2026-11-20T18:00:00.000Z' });
    expect(lastPeriod('daily', new Date(period.to), kolkata)).toEqual(period);
  });

  it('are due an hour after their end at the earliest, also where clocks skip the hour after midnight', () => {
    const havana = { ...berlin, timeZone: 'America/Havana' };
    const period = periodOn('daily', '2026-03-07', havana);
    expect([period.to, dueAt({ every: 'daily', hour: 1 }, period, havana)]).toEqual([
      ...['2026-03-08T05:00:00.000Z', '2026-03-08T06:00:00.000Z'],
    ]);
  });

  it('follow each other without gap or overlap, in every zone, and each is due once, after its end', () => {
    const days = fc.date({ min: new Date('2024-01-01'), max: new Date('2029-12-31'), noInvalidDate: true });
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.constantFrom(...weekStarts),
        fc.constantFrom(...reportFrequencies),
        fc.integer({ min: 1, max: 23 }),
        days,
        (timeZone, weekStartsOn, every, hour, now) => {
          const calendar = { timeZone, weekStartsOn };
          const schedule = { every, hour };
          const last = lastPeriod(every, now, calendar);
          const current = periodAfter(every, last, calendar);
          expect(current.from).toBe(last.to);
          expect(last.to <= now.toISOString()).toBe(true);
          // Where an offset has half an hour, a day of UTC hours ends before midnight.
          expect(current.to > now.toISOString()).toBe(true);
          expect(periodBefore(every, current, calendar)).toEqual(last);
          expect(Date.parse(dueAt(schedule, last, calendar)) - Date.parse(last.to)).toBeGreaterThanOrEqual(3_600_000);
          const next = nextPeriod(schedule, now, calendar);
          const due = dueAt(schedule, next, calendar);
          expect(due > now.toISOString()).toBe(true);
          expect(dueAt(schedule, periodBefore(every, next, calendar), calendar) <= now.toISOString()).toBe(true);
          expect(nextPeriod(schedule, new Date(Date.parse(due) - 1), calendar)).toEqual(next);
          expect(nextPeriod(schedule, new Date(due), calendar)).toEqual(periodAfter(every, next, calendar));
        },
      ),
      { numRuns: 300 },
    );
  });
});
