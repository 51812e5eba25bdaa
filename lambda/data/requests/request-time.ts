import { type Day, dayOf } from '../../domain/calendar/utc.ts';
import { timeOfRequestId } from '../../domain/usage/request-id.ts';

/** The prefix that ids of this millisecond or later sort after. */
export const lowestRequestId = (time: number): string => {
  const hex = Math.max(0, time).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
};

/**
 * The gateway of version 0.1 read the clock for `startedAt` a moment after it made the id, and ids do not follow a clock that is set back
 * by less than ten seconds. So the id of an old record may be of another day than its `startedAt`.
 */
export const ID_SLACK_MS = 10_000;

export const daysOfRequestId = (requestId: string): Day[] => {
  const time = timeOfRequestId(requestId);
  if (time === undefined) return [];
  return [...new Set([time, time - ID_SLACK_MS, time + ID_SLACK_MS].map((at) => dayOf(new Date(at).toISOString())))];
};
