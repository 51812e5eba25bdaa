import { dayIn, instantIn } from '../../../lambda/domain/calendar/time-zones.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lambda/domain/calendar/units.ts';
import { addDays, startOf } from '../../../lambda/domain/calendar/utc.ts';
import { chosenZone, locale } from './reading.ts';

/**
 * Instants and hours are shown in the zone that the user chose, or the browser's. Days of spend are those of the user's or the account's
 * zone where hours allow that; weeks and months of rules and plans are UTC, as the ledger counts them. Days are labelled by their zone.
 */

export const timeZone = chosenZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;

const local = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale, { timeZone, ...options });
const inUtc = (options: Intl.DateTimeFormatOptions) => local({ timeZone: 'UTC', ...options });

const instant = local({ dateStyle: 'medium', timeStyle: 'medium' });
const shortInstant = local({ month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' });
const day = local({ dateStyle: 'medium' });
const clock = local({ hour: 'numeric', minute: '2-digit' });
const utcClock = inUtc({ hour: 'numeric', minute: '2-digit' });
const hourOfDay = local({ weekday: 'short', hour: 'numeric' });
const offsetName = local({ timeZoneName: 'shortOffset' });
const utcFullDay = inUtc({ dateStyle: 'medium' });
const utcDay = inUtc({ month: 'short', day: 'numeric' });
const utcLongDay = inUtc({ weekday: 'short', month: 'short', day: 'numeric' });
const utcMonth = inUtc({ month: 'short', year: 'numeric' });
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

/** `8:00 AM`: an hour of the day, in whatever zone. */
export const formatHour = (hour: number): string => utcClock.format(hour * HOUR_MS);

/** `UTC+1`, the user's current offset. */
export const zoneOffset = (): string =>
  offsetName
    .formatToParts(new Date())
    .find(({ type }) => type === 'timeZoneName')
    ?.value.replace('GMT', 'UTC') ?? 'UTC';

const STEPS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', DAY_MS],
  ['hour', HOUR_MS],
  ['minute', MINUTE_MS],
];

/** `3 minutes ago`; the instant where the browser's clock is behind it. */
export const formatAgo = (iso: string, now = Date.now()): string => {
  const ms = Date.parse(iso) - now;
  if (ms >= MINUTE_MS) return formatShortInstant(iso);
  const step = STEPS.find(([, length]) => Math.abs(ms) >= length);
  return step ? relative.format(Math.round(ms / step[1]), step[0]) : 'just now';
};

/** The name of a zone in a label: `UTC`, `Auckland`. */
export const zoneName = (zone: string): string => zone.split('/').at(-1)?.replaceAll('_', ' ') ?? zone;

/** The first instant of a day in a zone: a whole hour, since spend is counted by the hour. */
export const startInZone = (zone: string, day: string): Date => startOf('hour', instantIn(zone, day, 0));

/** The instant at which a bucket of spend begins: `2026-11-20T16`, `2026-11`, or `2026-11-20`, a day of a zone. */
export const bucketStart = (time: string, zone = 'UTC'): Date =>
  time.length === 10 ? startInZone(zone, time) : new Date(`${time}${time.length === 7 ? '-01T00' : ''}:00:00Z`);

/** The first instant after a bucket. */
export const bucketEnd = (time: string, zone = 'UTC'): Date => {
  const start = bucketStart(time, zone);
  if (time.length === 7) return new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 1));
  return time.length === 10 ? startInZone(zone, addDays(time, 1)) : new Date(start.getTime() + HOUR_MS);
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
export const formatBucketLong = (time: string, zone = 'UTC'): string => {
  const start = bucketStart(time);
  if (time.length === 13) return `${shortInstant.format(start)} – ${clock.format(start.getTime() + HOUR_MS)}`;
  return time.length === 10
    ? `${utcLongDay.format(start)} (${zoneName(zone)} day)`
    : `${utcMonth.format(start)} (UTC month)`;
};

/** A range of whole days of a zone, `Nov 1 – 20`, or of hours in the user's time zone; `to` is the first instant after it. */
export const formatPeriod = (from: string, to: string, zone = 'UTC'): string => {
  const days = daysOf({ from, to }, zone);
  return days ? utcDay.formatRange(new Date(days.from), new Date(days.to)) : formatInstants(from, to);
};

/** The first and last day of a range of instants that begins and ends with days of a zone; else undefined. */
export const daysOf = ({ from, to }: { readonly from: string; readonly to: string }, zone: string) => {
  // At the end of an hour in which a day begins it has begun, in zones of half and quarter hours, too.
  const begunAt = (hour: string) => dayIn(zone, new Date(Date.parse(hour) + HOUR_MS - 1));
  const days = { from: begunAt(from), to: addDays(begunAt(to), -1) };
  const isWhole =
    startInZone(zone, days.from).getTime() === Date.parse(from) &&
    startInZone(zone, addDays(days.to, 1)).getTime() === Date.parse(to);
  return isWhole ? days : undefined;
};

/** The UTC day of an instant or a day, to read: `Nov 20, 2026`. */
export const utcDayText = (iso: string): string => utcFullDay.format(new Date(iso));

/** The UTC day of an instant: `2026-11-20`. */
export const utcDate = (at: Date): string => at.toISOString().slice(0, 10);
