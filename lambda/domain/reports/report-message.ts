import { type Message, oneLine } from '../alerts/message.ts';
import type { ReportRun } from './report-run.ts';
import {
  budgetText,
  changesText,
  coverageLines,
  effectsText,
  findingText,
  groupingText,
  groupName,
  periodText,
  reportLinks,
  reportMoney,
  summaryText,
  zoneText,
} from './report-text.ts';

/** Chat services cut long messages: the mail and the dashboard have the rest. */
const MAX_GROUPS = 5;
const MAX_BUDGETS = 5;

/** A report as channels send it. */
export const reportMessage = (run: Omit<ReportRun, 'deliveries'>, dashboardUrl: string): Message => {
  const { reportId, name, createdAt, content } = run;
  const links = reportLinks(dashboardUrl, run);
  const money = reportMoney(content);
  const effects = effectsText(content, money);
  return {
    id: `${reportId}-${content.every}-${content.period.firstDay}`,
    title: `AI spend report: ${oneLine(name)}`,
    summary: summaryText(content, money),
    facts: [
      { label: 'Period', text: `${periodText(content)} (${content.every}, ${zoneText(content)})` },
      ...(effects === null ? [] : [{ label: 'Why', text: effects }]),
      ...content.breakdowns.flatMap((breakdown) => {
        const { by, groups } = breakdown;
        const changes = changesText(breakdown, money);
        const costs = groups
          .slice(0, MAX_GROUPS)
          .map((group) => `${groupName(by, group)} ${money.text(money.of(group).now)}`)
          .join(', ');
        return [
          { label: `By ${groupingText(by)}`, text: costs || 'nothing' },
          ...(changes === '' ? [] : [{ label: `Change by ${groupingText(by)}`, text: changes }]),
        ];
      }),
      ...content.budgets
        .toSorted((left, right) => right.percentUsed - left.percentUsed)
        .slice(0, MAX_BUDGETS)
        .map((budget) => ({ label: `Budget ${oneLine(budget.name)}`, text: budgetText(budget, money) })),
      ...(content.savings?.findings ?? []).map((finding) => ({
        label: 'Wasted',
        text: `${finding.perMonth} in 30 days: ${findingText(finding)}`,
      })),
      ...coverageLines(content, money).map((text) => ({ label: 'Note', text })),
    ],
    links: [
      { text: 'See the spend', url: links.spend },
      { text: 'Change the report', url: links.report },
    ],
    severity: 'info',
    type: 'report',
    at: createdAt,
    event: {
      event_type: 'ai_spend_report',
      event_payload: { id: reportId, name, createdAt, ...content, spendUrl: links.spend, reportUrl: links.report },
    },
  };
};
