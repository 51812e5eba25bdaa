import { type Day, dayOf } from '../../domain/calendar/utc.ts';

/** A request id is a UUIDv7: its first 48 bits are milliseconds since 1970. Undefined for any other id. */
const timeOfRequestId = (requestId: string): number | undefined => {
  const match = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i.exec(requestId);
  return match ? Number.parseInt(`${match[1]}${match[2]}`, 16) : undefined;
};

/** The prefix that ids of this millisecond or later sort after. */
export const lowestRequestId = (time: number): string => {
  const hex = Math.max(0, time).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
};

/** The gateway makes an id a moment before or after it takes `startedAt`, so around midnight a request may be of two days. */
const SLACK_MS = 1_000;

export const daysOfRequestId = (requestId: string): Day[] => {
  const time = timeOfRequestId(requestId);
  if (time === undefined) return [];
  return [...new Set([time, time - SLACK_MS, time + SLACK_MS].map((at) => dayOf(new Date(at).toISOString())))];
};
