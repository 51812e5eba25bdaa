import { escapeHtml, htmlDocument, type Mail, withoutLinks } from '../mail/mail.ts';
import type { Alert } from './alert.ts';
import { type AlertLinks, alertFacts, periodText } from './alert-text.ts';
import { oneLine } from './message.ts';

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
  const rows = [
    ...(alert.ruleId === null ? [] : [{ label: 'Rule', text: `“${withoutLinks(oneLine(alert.ruleName))}”` }]),
    ...alertFacts(alert).map(({ label, text }) => ({
      label,
      text: label.startsWith('By ') ? withoutLinks(text) : text,
    })),
  ];
  const text = [
    alert.summary,
    '',
    ...rows.map((row) => `${row.label}: ${row.text}`),
    '',
    `See and acknowledge it: ${links.alert}`,
    `See the spend: ${links.spend}`,
    '',
  ].join('\n');
  const link = (url: string, label: string) => `<a href="${escapeHtml(url)}">${label}</a>`;
  const html = htmlDocument([
    `<h2>${escapeHtml(alert.summary)}</h2>`,
    '<table cellpadding="4">',
    ...rows.map((row) => `<tr><th align="left">${escapeHtml(row.label)}</th><td>${escapeHtml(row.text)}</td></tr>`),
    '</table>',
    `<p>${link(links.alert, 'See and acknowledge it')} · ${link(links.spend, 'See the spend')}</p>`,
  ]);
  return { subject: `AI spend alert: ${subjects[alert.type]}, ${period}`, text, html };
};
