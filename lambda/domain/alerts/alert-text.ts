import { queryOf } from '../calendar/range.ts';
import { dayOf, monthOf } from '../calendar/utc.ts';
import type { RuleCondition } from '../limits/rule.ts';
import { usdOf } from '../spend/spend-report.ts';
import type { Alert, Driver } from './alert.ts';
import { oneLine } from './message.ts';

const percent = (share: number): string => `${Math.round(share * 100)} %`;

const nameOf = ({ dimension, value, label }: Driver): string =>
  value === null ? `no ${dimension}` : label === null ? value : `${label} (${value})`;

/** One line for each dimension: `gpt-4o 80 %, gpt-4o-mini 20 %`. */
const driverLines = (alert: Alert): { readonly dimension: string; readonly text: string }[] =>
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

/** Notes on requests that the alert does not include. */
const notesOf = ({ unit, unpricedRequests, mayAlsoMatch }: Alert): string[] => [
  ...(unit === 'nanoUsd' && unpricedRequests > 0
    ? [`The cost of ${unpricedRequests} more requests in this period is unknown and not included.`]
    : []),
  ...(mayAlsoMatch
    ? [
        `Up to ${mayAlsoMatch.requests} more requests for $${usdOf(mayAlsoMatch.costNanoUsd)} may match the rule's filter: they were counted under (other), or have no known value, from before the rule or the dimension.`,
      ]
    : []),
];

/** Where an alert's message leads. */
export interface AlertLinks {
  readonly alert: string;
  /** The spend of the alert's period and filter. */
  readonly spend: string;
}

/** The lines of an alert after its summary. */
export const alertFacts = (alert: Alert): { readonly label: string; readonly text: string }[] => [
  { label: 'Period', text: periodText(alert) },
  ...driverLines(alert).map(({ dimension, text }) => ({ label: `By ${dimension}`, text })),
  ...notesOf(alert).map((text) => ({ label: 'Note', text })),
];

/** The dashboard's pages about an alert. @param condition of its rule, if it still has one */
export const alertLinks = (
  dashboardUrl: string,
  { alertId, period, of }: Pick<Alert, 'alertId' | 'period' | 'of'>,
  condition?: RuleCondition,
): AlertLinks => {
  const { dim, ...filter } = (condition?.config as { filter?: Record<string, unknown> } | undefined)?.filter ?? {};
  const dimensions: Record<string, unknown> = {
    ...filter,
    ...Object.fromEntries(Object.entries((dim ?? {}) as object).map(([name, value]) => [`dim:${name}`, value])),
    // Spend has no dimension for sessions.
    ...(of && of.dimension !== 'session' && { [of.dimension]: of.value }),
  };
  const search = new URLSearchParams({
    range: 'custom',
    ...queryOf({ from: period.start, to: period.end }),
    // The dashboard reads JSON: a value such as `42` stays a text.
    ...Object.fromEntries(Object.entries(dimensions).map(([name, value]) => [name, JSON.stringify([value])])),
  });
  return { alert: `${dashboardUrl}/alerts/${alertId}`, spend: `${dashboardUrl}/?${search}` };
};
