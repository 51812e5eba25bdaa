import { DAY_MS, MINUTE_MS } from './units.ts';
import { type Day, dayOf } from './utc.ts';

/** IANA names alone: an offset such as `+01:00` has no summer time. */
const ZONE_NAME = /^[A-Za-z]\w*(?:[/+-]\w+)*$/;

export const isTimeZone = (name: string): boolean => {
  if (!ZONE_NAME.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
};

/** By zone. A query asks for the day of each of 1,488 hours, and making a format takes seven times as long as its use. */
const formats = new Map<string, Intl.DateTimeFormat>();
/** Names differ by case as well, so that there is no end of them. */
const MAX_FORMATS = 100;

const formatOf = (timeZone: string): Intl.DateTimeFormat => {
  const format = formats.get(timeZone) ?? new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
  if (formats.size >= MAX_FORMATS) formats.clear();
  formats.set(timeZone, format);
  return format;
};

/** How far the clocks of a zone are ahead of UTC at an instant, in milliseconds. */
const offsetMs = (timeZone: string, at: Date): number => {
  const parts = formatOf(timeZone).formatToParts(at);
  const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign, hours = '0', minutes = '0'] = /^GMT([+-])(\d\d):(\d\d)/.exec(name) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * MINUTE_MS;
};

export const dayIn = (timeZone: string, at: Date): Day =>
  dayOf(new Date(at.getTime() + offsetMs(timeZone, at)).toISOString());

/**
 * When clocks of a zone show an hour of a day. Where they show it twice, the first time; where they skip it, the instant at which they
 * were put forward.
 */
export const instantIn = (timeZone: string, day: Day, hour: number): Date => {
  const shown = Date.parse(`${day}T${String(hour).padStart(2, '0')}:00:00.000Z`);
  const [before, after] = [-DAY_MS, DAY_MS].map((ms) => offsetMs(timeZone, new Date(shown + ms))) as [number, number];
  const [first, second] = [before, after].map((ms) => new Date(shown - ms)) as [Date, Date];
  const isSecond = offsetMs(timeZone, first) !== before && offsetMs(timeZone, second) === after;
  return isSecond ? second : first;
};
