import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lambda/domain/calendar/units.ts';
import { locale } from './locale.ts';

/**
 * Instants and hours are shown in the user's time zone. Days, weeks and months of spend, rules and plans are UTC, as the ledger
 * counts them, and are labelled so.
 */

export const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

const instant = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' });
const shortInstant = new Intl.DateTimeFormat(locale, {
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
});
const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });
const clock = new Intl.DateTimeFormat(locale, { hour: 'numeric', minute: '2-digit' });
const hourOfDay = new Intl.DateTimeFormat(locale, { weekday: 'short', hour: 'numeric' });
const zoneName = new Intl.DateTimeFormat(locale, { timeZoneName: 'shortOffset' });
const utcDay = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', month: 'short', day: 'numeric' });
const utcLongDay = new Intl.DateTimeFormat(locale, {
  timeZone: 'UTC',
  weekday: 'short',
  month: 'short',
  day: 'numeric',
});
const utcMonth = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', month: 'short', year: 'numeric' });
const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });

/** `Nov 20, 2026, 5:24:11 PM` */
export const formatInstant = (iso: string): string => instant.format(new Date(iso));

/** `Nov 20, 5:24 PM` */
export const formatShortInstant = (iso: string): string => shortInstant.format(new Date(iso));

/** `Nov 20, 2026`, in the user's time zone. */
export const formatDay = (iso: string): string => day.format(new Date(iso));

/** `Nov 20, 5:24 – 5:31 PM`; one instant where both are in the same minute. */
export const formatInstants = (fromIso: string, toIso: string): string =>
  shortInstant.formatRange(new Date(fromIso), new Date(toIso));

/** `5:24 PM` */
export const formatClock = (at: Date): string => clock.format(at);

/** `UTC+1`, the user's current offset. */
export const zoneOffset = (): string =>
  zoneName
    .formatToParts(new Date())
    .find(({ type }) => type === 'timeZoneName')
    ?.value.replace('GMT', 'UTC') ?? 'UTC';

const STEPS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', DAY_MS],
  ['hour', HOUR_MS],
  ['minute', MINUTE_MS],
];

/** `3 minutes ago`. */
export const formatAgo = (iso: string, now = Date.now()): string => {
  const ms = Date.parse(iso) - now;
  const step = STEPS.find(([, length]) => Math.abs(ms) >= length);
  return step ? relative.format(Math.round(ms / step[1]), step[0]) : 'just now';
};

/** The instant at which a bucket of spend begins: `2026-11-20T16`, `2026-11-20` or `2026-11`. */
export const bucketStart = (time: string): Date =>
  new Date(`${time}${{ 7: '-01T00', 10: 'T00', 13: '' }[time.length] ?? ''}:00:00Z`);

/** The first instant after a bucket. */
export const bucketEnd = (time: string): Date => {
  const start = bucketStart(time);
  if (time.length === 7) return new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 1));
  return new Date(start.getTime() + (time.length === 10 ? DAY_MS : HOUR_MS));
};

/** A bucket on an axis: `Fri 5 PM`, `Nov 20`, `Nov 2026`. */
export const formatBucket = (time: string): string => {
  const start = bucketStart(time);
  return time.length === 13
    ? hourOfDay.format(start)
    : time.length === 10
      ? utcDay.format(start)
      : utcMonth.format(start);
};

/** A bucket in full: `Nov 20, 5:00 PM – 6:00 PM`, `Fri, Nov 20 (UTC day)`, `Nov 2026 (UTC month)`. */
export const formatBucketLong = (time: string): string => {
  const start = bucketStart(time);
  if (time.length === 13) return `${shortInstant.format(start)} – ${clock.format(start.getTime() + HOUR_MS)}`;
  return time.length === 10 ? `${utcLongDay.format(start)} (UTC day)` : `${utcMonth.format(start)} (UTC month)`;
};

/** A range of whole UTC days, `Nov 1 – 20`, or of hours in the user's time zone; `to` is the first instant after it. */
export const formatPeriod = (from: string, to: string): string => {
  const [start, end] = [new Date(from), new Date(to)];
  const isDays = start.getTime() % DAY_MS === 0 && end.getTime() % DAY_MS === 0;
  return isDays ? utcDay.formatRange(start, new Date(end.getTime() - 1)) : shortInstant.formatRange(start, end);
};

const utcFullDay = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', dateStyle: 'medium' });

/** The UTC day of an instant or a day, to read: `Nov 20, 2026`. */
export const utcDayText = (iso: string): string => utcFullDay.format(new Date(iso));

/** The UTC day of an instant: `2026-11-20`. */
export const utcDate = (at: Date): string => at.toISOString().slice(0, 10);
