import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lambda/domain/calendar/units.ts';

const UNIT_MS = { minute: MINUTE_MS, hour: HOUR_MS, day: DAY_MS } as const;
const RATE = /^rate\((\d+) (minute|hour|day)s?\)$/;
const CRON = /^cron\((\S+) (\S+) (\S+) (\S+) (\S+) (\S+)\)$/;

/** Values a cron field allows. AWS counts days of the week from 1, Sunday. Names (MON, JAN) and `L`, `W`, `#` are not read. */
const fieldMatches = (field: string, value: number, first: number): boolean =>
  field.split(',').some((part) => {
    const [range = '', step] = part.split('/');
    const [low, high] =
      range === '*' || range === '?' ? [first, Number.POSITIVE_INFINITY] : range.split('-').map(Number);
    if (low === undefined || Number.isNaN(low)) throw new Error(`Cannot read ${field} in a cron expression.`);
    const last = high ?? (step ? Number.POSITIVE_INFINITY : low);
    return value >= low && value <= last && (value - low) % Number(step ?? 1) === 0;
  });

/**
 * Milliseconds from `now` to the next time a schedule runs.
 *
 * @param expression `rate(…)` or `cron(…)` as EventBridge takes them, in UTC
 * @throws Error where the expression cannot be read
 */
export const msToNextRun = (expression: string, now: Date): number => {
  const rate = RATE.exec(expression);
  if (rate) return Number(rate[1]) * UNIT_MS[rate[2] as keyof typeof UNIT_MS];
  const [, minute, hour, dayOfMonth, month, dayOfWeek, year] = CRON.exec(expression) ?? [];
  if (!minute || !hour || !dayOfMonth || !month || !dayOfWeek || !year)
    throw new Error(`Cannot read the schedule ${expression}.`);
  const first = Math.floor(now.getTime() / UNIT_MS.minute + 1) * UNIT_MS.minute;
  // A year of minutes: whatever does not run within it does not run here.
  for (let time = first; time < first + 366 * UNIT_MS.day; time += UNIT_MS.minute) {
    const at = new Date(time);
    if (
      fieldMatches(minute, at.getUTCMinutes(), 0) &&
      fieldMatches(hour, at.getUTCHours(), 0) &&
      fieldMatches(dayOfMonth, at.getUTCDate(), 1) &&
      fieldMatches(month, at.getUTCMonth() + 1, 1) &&
      fieldMatches(dayOfWeek, at.getUTCDay() + 1, 1) &&
      fieldMatches(year, at.getUTCFullYear(), 1970)
    )
      return time - now.getTime();
  }
  throw new Error(`The schedule ${expression} never runs within a year.`);
};
