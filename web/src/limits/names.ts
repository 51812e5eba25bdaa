import { DAY_MS } from '../../../lambda/domain/calendar/units.ts';
import type { Budget, Pause } from '../api/responses.ts';
import { formatBucket, formatShortInstant, utcDate, utcDayText } from '../format/time.ts';
import { scopeText } from '../scope/scope.ts';
import type { KeyNames } from '../spend/groups.ts';

/** Why a budget has no period now. */
export const outsideText = ({ period }: Budget): string =>
  typeof period === 'object' && period.from > utcDate(new Date())
    ? `It begins on ${utcDayText(period.from)}.`
    : 'It is over.';

/** The requests that a budget or pause refuses, in words: `all requests`, `requests of tag batch`. */
export const refusedText = (scope: Budget['filter'] | Pause['scope'], keyNames: KeyNames): string => {
  const only = scopeText(scope, keyNames);
  return only === '' ? 'all requests' : `requests of ${only}`;
};

/** When a period begins or ends: a UTC day, or the minute in the user's time zone. */
export const boundaryText = (iso: string): string =>
  Date.parse(iso) % DAY_MS === 0 ? `${formatBucket(iso.slice(0, 10))} (UTC)` : formatShortInstant(iso);

/** The dimension that a limit holds for each value of: `member`, `user`. */
export const eachText = (each: string | undefined): string => (each ?? '').replace(/^dim:/, '');
