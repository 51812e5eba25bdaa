import { dayIn, instantIn } from '../calendar/time-zones.ts';
import { HOUR_MS } from '../calendar/units.ts';
import { addDays, type Day, lastDayOf, monthOf, startOf } from '../calendar/utc.ts';

export const reportFrequencies = ['daily', 'weekly', 'monthly'] as const;
export type ReportFrequency = (typeof reportFrequencies)[number];

/** In the order of `Date.getUTCDay`. */
export const weekStarts = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const;

/** When an account's days and weeks begin. */
export interface ReportCalendar {
  /** IANA name. */
  readonly timeZone: string;
  readonly weekStartsOn: (typeof weekStarts)[number];
}

export const UTC_CALENDAR: ReportCalendar = { timeZone: 'UTC', weekStartsOn: 'monday' };

/** When a report is sent: at an hour of the calendar's time zone, after each period. */
export interface Schedule {
  readonly every: ReportFrequency;
  /** It begins at 1, because requests that run at midnight are recorded by then. */
  readonly hour: number;
}

/** A day, week or month of a calendar. */
export interface ReportPeriod {
  readonly firstDay: Day;
  readonly lastDay: Day;
  /** First instant, ISO 8601 UTC: a whole hour, since spend is counted by the hour. See docs/integrations.md. */
  readonly from: string;
  /** First instant after it. */
  readonly to: string;
}

const firstDayOf = (every: ReportFrequency, day: Day, { weekStartsOn }: ReportCalendar): Day => {
  if (every === 'daily') return day;
  if (every === 'monthly') return `${monthOf(day)}-01`;
  const daysIn = (new Date(day).getUTCDay() - weekStarts.indexOf(weekStartsOn) + 7) % 7;
  return addDays(day, -daysIn);
};

const lastDayFrom = (every: ReportFrequency, firstDay: Day): Day =>
  every === 'monthly' ? lastDayOf(monthOf(firstDay)) : addDays(firstDay, every === 'weekly' ? 6 : 0);

export const periodOn = (every: ReportFrequency, day: Day, calendar: ReportCalendar): ReportPeriod => {
  const firstDay = firstDayOf(every, day, calendar);
  const lastDay = lastDayFrom(every, firstDay);
  const start = (of: Day) => startOf('hour', instantIn(calendar.timeZone, of, 0)).toISOString();
  return { firstDay, lastDay, from: start(firstDay), to: start(addDays(lastDay, 1)) };
};

/** The period that ended last. Where an offset from UTC has half an hour, that of the day of `now` ends before midnight. */
export const lastPeriod = (every: ReportFrequency, now: Date, calendar: ReportCalendar): ReportPeriod => {
  const current = periodOn(every, dayIn(calendar.timeZone, now), calendar);
  return current.to <= now.toISOString() ? current : periodBefore(every, current, calendar);
};

/** When the report of a period is sent, ISO 8601 UTC: an hour after it at the earliest, also where clocks skip the hour after midnight. */
export const dueAt = ({ hour }: Schedule, { lastDay, to }: ReportPeriod, { timeZone }: ReportCalendar): string =>
  new Date(Math.max(instantIn(timeZone, addDays(lastDay, 1), hour).getTime(), Date.parse(to) + HOUR_MS)).toISOString();

/** The first period whose report is due after an instant. */
export const nextPeriod = (schedule: Schedule, after: Date, calendar: ReportCalendar): ReportPeriod => {
  const last = lastPeriod(schedule.every, after, calendar);
  return dueAt(schedule, last, calendar) > after.toISOString() ? last : periodAfter(schedule.every, last, calendar);
};

export const periodAfter = (every: ReportFrequency, { lastDay }: ReportPeriod, calendar: ReportCalendar) =>
  periodOn(every, addDays(lastDay, 1), calendar);

export const periodBefore = (every: ReportFrequency, { firstDay }: ReportPeriod, calendar: ReportCalendar) =>
  periodOn(every, addDays(firstDay, -1), calendar);
