/** Periods of the ledger, all UTC, written as prefixes of ISO 8601: `2026-11`, `2026-11-20`, `2026-11-20T16`. */
export type Month = string;
export type Day = string;
export type Hour = string;

const MONTH_CHARACTERS = 7;
const DAY_CHARACTERS = 10;
const HOUR_CHARACTERS = 13;
const DAY_MS = 86_400_000;

export const monthOf = (iso: string): Month => iso.slice(0, MONTH_CHARACTERS);
export const dayOf = (iso: string): Day => iso.slice(0, DAY_CHARACTERS);
export const hourOf = (iso: string): Hour => iso.slice(0, HOUR_CHARACTERS);

export const isMonth = (period: string): boolean => period.length === MONTH_CHARACTERS;

export const addDays = (day: Day, days: number): Day =>
  dayOf(new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString());

/** The first instant after a day or month. */
export const endOf = (period: Day | Month): Date =>
  isMonth(period)
    ? new Date(Date.UTC(Number(period.slice(0, 4)), Number(period.slice(5)), 1))
    : new Date(Date.parse(`${period}T00:00:00Z`) + DAY_MS);

export const lastDayOf = (month: Month): Day => dayOf(new Date(endOf(month).getTime() - DAY_MS).toISOString());

/** The days of a range, both ends included, ascending. */
export const daysBetween = (from: Day, to: Day): Day[] => {
  const days: Day[] = [];
  for (let day = from; day <= to; day = addDays(day, 1)) days.push(day);
  return days;
};
