import { dayOf, monthOf } from '../calendar/utc.ts';
import { usdOf } from '../spend/spend-report.ts';
import type { Alert, Driver } from './alert.ts';

/** Clients choose models and tags: with a line break, one of them could pass for a line of the message. */
export const oneLine = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();

/** Cuts a text without splitting a surrogate pair. */
export const shortened = (text: string, maxLength: number): string =>
  text.slice(0, maxLength).replace(/[\ud800-\udbff]$/, '');

const percent = (share: number): string => `${Math.round(share * 100)} %`;

const nameOf = ({ dimension, value, label }: Driver): string =>
  value === null ? `no ${dimension}` : label === null ? value : `${label} (${value})`;

/** One line for each dimension: `gpt-4o 80 %, gpt-4o-mini 20 %`. */
export const driverLines = (alert: Alert): { readonly dimension: string; readonly text: string }[] =>
  [...Map.groupBy(alert.drivers, ({ dimension }) => dimension)].map(([dimension, drivers]) => ({
    dimension,
    text: drivers.map((driver) => `${oneLine(nameOf(driver))} ${percent(driver.share)}`).join(', '),
  }));

/** `2026-11-20 (daily, UTC)` */
export const periodText = ({ period: { name, start, end } }: Alert): string => {
  const text = {
    hourly: `${dayOf(start)} ${start.slice(11, 16)} to ${end.slice(11, 16)}`,
    daily: dayOf(start),
    weekly: `the week from ${dayOf(start)}`,
    monthly: monthOf(start),
    fixed: `${dayOf(start)} to ${dayOf(new Date(Date.parse(end) - 1).toISOString())}`,
  }[name];
  return `${text} (${name}, UTC)`;
};

/** What the alert does not include. */
export const notesOf = ({ unit, unpricedRequests, mayAlsoMatch }: Alert): string[] => [
  ...(unit === 'nanoUsd' && unpricedRequests > 0
    ? [`The cost of ${unpricedRequests} more requests in this period is unknown and not included.`]
    : []),
  ...(mayAlsoMatch
    ? [
        `Up to ${mayAlsoMatch.requests} more requests for $${usdOf(mayAlsoMatch.costNanoUsd)} may match the rule's filter: they were counted under (other), or have no known value, from before the rule or the dimension.`,
      ]
    : []),
];
