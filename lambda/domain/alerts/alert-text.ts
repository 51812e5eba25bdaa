import { queryOf } from '../calendar/range.ts';
import { dayOf, monthOf } from '../calendar/utc.ts';
import type { RuleCondition } from '../limits/rule.ts';
import { escapeHtml, htmlDocument, type Mail, withoutLinks } from '../mail/mail.ts';
import { moreRequestsText } from '../spend/known-cost.ts';
import { comparedUsd, countText, plural, shareText } from '../spend/spend-report.ts';
import type { Alert, Contributor } from './alert.ts';
import { type Message, oneLine } from './message.ts';

const nameOf = ({ dimension, value, label }: Contributor): string =>
  value === null ? `no ${dimension}` : label === null ? value : `${label} (${value})`;

/** One line for each dimension: `gpt-4o 80%, gpt-4o-mini 20%`. */
const contributorLines = (alert: Alert): { readonly dimension: string; readonly text: string }[] =>
  [...Map.groupBy(alert.contributors, ({ dimension }) => dimension)].map(([dimension, contributors]) => ({
    dimension,
    text: contributors
      .map((contributor) => `${oneLine(nameOf(contributor))} ${shareText(contributor.share)}`)
      .join(', '),
  }));

/** `2026-11-20 (daily, UTC)` */
const periodText = ({ period: { name, start, end } }: Alert): string => {
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
    ? [`The cost of ${plural(unpricedRequests, 'more request')} in this period is unknown and not included.`]
    : []),
  ...(mayAlsoMatch
    ? [
        `Up to ${moreRequestsText(mayAlsoMatch, countText, comparedUsd)} may match the rule's filter: they were counted under (other), or have no known value, from before the rule or the dimension.`,
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
const alertFacts = (alert: Alert): { readonly label: string; readonly text: string }[] => [
  { label: 'Period', text: periodText(alert) },
  ...contributorLines(alert).map(({ dimension, text }) => ({ label: `By ${dimension}`, text })),
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

/** An alert that stops work or grows by the minute is critical. */
const severityOf = ({ type, percent = 0 }: Alert): Message['severity'] =>
  type === 'burn_rate' || (type === 'budget' && percent >= 100) ? 'critical' : 'warning';

export const alertMessage = (alert: Alert, links: AlertLinks): Message => {
  const { accountId: _, deliveries: __, acknowledgedAt: ___, acknowledgedBy: ____, alertId, ...data } = alert;
  return {
    id: alertId,
    title: `AI spend alert: ${oneLine(alert.ruleName)}`,
    summary: oneLine(alert.summary),
    facts: alertFacts(alert),
    links: [
      { text: 'See and acknowledge it', url: links.alert },
      { text: 'See the spend', url: links.spend },
    ],
    isOver: alert.status === 'acknowledged',
    severity: severityOf(alert),
    type: alert.type,
    at: alert.triggeredAt,
    event: {
      event_type: 'ai_spend_alert',
      event_payload: { id: alertId, ...data, alertUrl: links.alert, spendUrl: links.spend },
    },
  };
};

/** The subject of an alert, by its type. A rule's name is free text, so it never becomes a subject. */
const subjects: Readonly<Record<Alert['type'], string>> = {
  cost_threshold: 'a cost threshold is reached',
  budget_forecast: 'budget and forecast',
  budget: 'a budget reached a percentage',
  spend_anomaly: 'unusual spend',
  burn_rate: 'something spends or sends fast',
  error_rate: 'the error rate is high',
  unpriced_usage: 'usage without a price',
  plan_usage: 'the plan’s limit',
};

/** The mail for an alert, in text and HTML: what fired, by how much, what drove it, and where to see more. The body quotes the rule's name. */
export const alertMail = (alert: Alert, links: AlertLinks): Mail => {
  const period = periodText(alert);
  // It may name a tag, a session or a value of metadata.
  const summary = withoutLinks(oneLine(alert.summary));
  const rows = [
    ...(alert.ruleId === null ? [] : [{ label: 'Rule', text: `“${withoutLinks(oneLine(alert.ruleName))}”` }]),
    ...alertFacts(alert).map(({ label, text }) => ({
      label,
      text: label.startsWith('By ') ? withoutLinks(text) : text,
    })),
  ];
  const text = [
    summary,
    '',
    ...rows.map((row) => `${row.label}: ${row.text}`),
    '',
    `See and acknowledge it: ${links.alert}`,
    `See the spend: ${links.spend}`,
    '',
  ].join('\n');
  const link = (url: string, label: string) => `<a href="${escapeHtml(url)}">${label}</a>`;
  const html = htmlDocument([
    `<h2>${escapeHtml(summary)}</h2>`,
    '<table cellpadding="4">',
    ...rows.map(
      (row) => `<tr><th align="left" nowrap>${escapeHtml(row.label)}</th><td>${escapeHtml(row.text)}</td></tr>`,
    ),
    '</table>',
    `<p>${link(links.alert, 'See and acknowledge it')} · ${link(links.spend, 'See the spend')}</p>`,
  ]);
  return { subject: `AI spend alert: ${subjects[alert.type]}, ${period}`, text, html };
};
