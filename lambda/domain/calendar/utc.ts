import { DAY_MS, HOUR_MS } from './units.ts';

/*
 * Hours, days and months of the UTC calendar. The ledger writes each as the prefix of an ISO 8601 instant, so that they sort as
 * text: `2026-11-20T16`, `2026-11-20`, `2026-11`.
 */
export const granularities = ['hour', 'day', 'month'] as const;
export type Granularity = (typeof granularities)[number];

export type Month = string;
export type Day = string;
export type Hour = string;

const CHARACTERS = { month: 7, day: 10, hour: 13 } as const satisfies Record<Granularity, number>;

/** The hour, day or month of an ISO 8601 instant, or of a finer prefix of one. */
export const bucketOf = (iso: string, granularity: Granularity): string => iso.slice(0, CHARACTERS[granularity]);

export const monthOf = (iso: string): Month => bucketOf(iso, 'month');
export const dayOf = (iso: string): Day => bucketOf(iso, 'day');
export const hourOf = (iso: string): Hour => bucketOf(iso, 'hour');

export const isMonth = (dayOrMonth: Day | Month): boolean => dayOrMonth.length === CHARACTERS.month;

/** The first instant of the month an instant is in, or of a month before or after it. */
export const startOfMonth = (at: Date, monthsOn = 0): Date =>
  new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + monthsOn, 1));

const LENGTH_MS = { hour: HOUR_MS, day: DAY_MS } as const;

/** The first instant of the hour, day or month an instant is in. */
export const startOf = (granularity: Granularity, at: Date): Date => {
  if (granularity === 'month') return startOfMonth(at);
  return new Date(Math.floor(at.getTime() / LENGTH_MS[granularity]) * LENGTH_MS[granularity]);
};

/** The first instant after the hour, day or month an instant is in. */
export const startOfNext = (granularity: Granularity, at: Date): Date =>
  granularity === 'month' ? startOfMonth(at, 1) : new Date(startOf(granularity, at).getTime() + LENGTH_MS[granularity]);

/** True where an hour, day or month begins at an instant. */
export const isStartOf = (granularity: Granularity, at: Date): boolean =>
  startOf(granularity, at).getTime() === at.getTime();

/** The first start of an hour, day or month at or after an instant. */
export const roundUp = (granularity: Granularity, at: Date): Date =>
  isStartOf(granularity, at) ? at : startOfNext(granularity, at);

/** The first instant after a day or month. */
export const endOf = (dayOrMonth: Day | Month): Date =>
  startOfNext(isMonth(dayOrMonth) ? 'month' : 'day', new Date(dayOrMonth));

/** The instants of some days or months, from the first one to before what follows the last. */
export const boundsOf = (
  from: Day | Month,
  to: Day | Month = from,
): { readonly from: string; readonly to: string } => ({
  from: new Date(from).toISOString(),
  to: endOf(to).toISOString(),
});

export const addDays = (day: Day, days: number): Day => dayOf(new Date(Date.parse(day) + days * DAY_MS).toISOString());

export const lastDayOf = (month: Month): Day => addDays(dayOf(endOf(month).toISOString()), -1);

/** The days from one to another, both included, ascending. */
export const daysBetween = (from: Day, to: Day): Day[] =>
  Array.from({ length: Math.max(0, (Date.parse(to) - Date.parse(from)) / DAY_MS + 1) }, (_, index) =>
    addDays(from, index),
  );
