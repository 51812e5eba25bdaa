import type { Alert } from '../api/responses.ts';
import { locale } from '../format/locale.ts';
import { bucketStart, formatBucketLong } from '../format/time.ts';
import { limitTypes } from '../limits/limit-types.ts';

/** An alert comes from a rule, a budget, or the plan's limit. */
export const alertTypeName = (type: Alert['type']): string =>
  type === 'plan_usage' ? 'Plan usage' : limitTypes[type].name;

/** The period of an alert in words; days, weeks and months are in UTC. */
export const periodText = ({ name, start }: Alert['period']): string => {
  if (name === 'hourly') return formatBucketLong(start.slice(0, 13));
  if (name === 'daily') return formatBucketLong(start.slice(0, 10));
  if (name === 'fixed') return `${formatBucketLong(start.slice(0, 10))} on`;
  if (name === 'monthly') return formatBucketLong(start.slice(0, 7));
  const day = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', month: 'short', day: 'numeric' });
  return `Week from ${day.format(bucketStart(start.slice(0, 10)))} (UTC)`;
};
