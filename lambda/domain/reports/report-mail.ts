import { oneLine } from '../alerts/message.ts';
import { escapeHtml, htmlDocument, type Mail, withoutLinks } from '../mail/mail.ts';
import { countText, percentText } from '../spend/spend-report.ts';
import type { Breakdown, ReportContent } from './report-content.ts';
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
  type ReportMoney,
  reportLinks,
  reportMoney,
  savingsNotes,
  summaryText,
  unknownText,
  usedText,
  zoneText,
} from './report-text.ts';

/** Mail programs know few styles, and only those of elements. */
const TEXT = 'min-width:4em;padding:4px 0;text-align:left;border-bottom:1px solid #ddd';
const NUMBER = 'padding:4px 0 4px 8px;text-align:right;border-bottom:1px solid #ddd;white-space:nowrap';

const row = (cell: 'th' | 'td', [name = '', ...numbers]: readonly string[]): string =>
  `<tr><${cell} style="${TEXT}">${escapeHtml(name)}</${cell}>${numbers
    .map((text) => `<${cell} style="${NUMBER}">${escapeHtml(text)}</${cell}>`)
    .join('')}</tr>`;

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string[] => [
  '<table style="border-collapse:collapse;width:100%;font-size:14px">',
  row('th', head),
  ...rows.map((cells) => row('td', cells)),
  '</table>',
];

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const notesOf = (breakdown: Breakdown, money: ReportMoney): string[] => {
  const changes = withoutLinks(changesText(breakdown, money));
  return [
    ...(changes === '' ? [] : [`What changed: ${changes}.`]),
    ...(breakdown.furtherGroups > 0 ? [`${countText(breakdown.furtherGroups)} more are not listed.`] : []),
    ...(breakdown.isComplete ? [] : ['Some of these sums are lower bounds: names were counted under (other).']),
  ];
};

const groupCells = ({ by, groups }: Breakdown, money: ReportMoney): string[][] =>
  groups.map((group) => [
    withoutLinks(groupName(by, group)) + unknownText(group),
    money.text(money.of(group).now),
    money.changeText(money.of(group).change),
    countText(group.requests),
  ]);

const budgetCells = (budgets: ReportContent['budgets'], money: ReportMoney): string[][] =>
  budgets.map((budget) => [
    withoutLinks(oneLine(budget.name)) + unknownText(budget),
    percentText(budget.percentUsed),
    usedText(budget, money),
    budget.projectedNanoUsd === null ? '' : money.text(money.from(budget.projectedNanoUsd)),
  ]);

/** The mail of a report, in text and in HTML without images. The subject has no text of users. */
export const reportMail = (run: Omit<ReportRun, 'deliveries'>, dashboardUrl: string): Mail => {
  const { name, content } = run;
  const links = reportLinks(dashboardUrl, run);
  const money = reportMoney(content);
  const summary = summaryText(content, money);
  const effects = effectsText(content, money);
  const title = `${withoutLinks(oneLine(name))}, ${periodText(content)}`;
  const coverage = coverageLines(content, money);
  const { savings } = content;
  const findings = (savings?.findings ?? []).map((finding) => [
    withoutLinks(`${findingText(finding)}. ${oneLine(finding.arithmetic)}`),
    finding.perMonth,
  ]);
  const notes = savings ? savingsNotes(savings) : [];
  const text = [
    title,
    summary,
    ...(effects === null ? [] : [effects]),
    `(${content.every}, ${zoneText(content)})`,
    ...content.breakdowns.flatMap((breakdown) => [
      '',
      `By ${groupingText(breakdown.by)}:`,
      ...groupCells(breakdown, money).map(
        ([group, cost, change, requests]) =>
          `  ${group}: ${cost} (${change}), ${requests} ${requests === '1' ? 'request' : 'requests'}`,
      ),
      ...notesOf(breakdown, money),
    ]),
    ...(content.budgets.length === 0 ? [] : ['', 'Budgets now:']),
    ...content.budgets.map((budget) => `  ${withoutLinks(oneLine(budget.name))}: ${budgetText(budget, money)}`),
    ...(savings ? ['', 'Where money is wasted, for 30 days:'] : []),
    ...findings.map(([what, perMonth]) => `  ${perMonth}: ${what}`),
    ...notes.map((note) => `  ${note}`),
    ...(coverage.length === 0 ? [] : ['', 'How the numbers are known:', ...coverage.map((line) => `  ${line}`)]),
    '',
    `See the spend: ${links.spend}`,
    ...(savings ? [`See all savings: ${links.savings}`] : []),
    `Change the report: ${links.report}`,
    '',
  ].join('\n');
  const html = htmlDocument([
    '<div style="max-width:640px;margin:0 auto;padding:8px;line-height:1.4">',
    `<h2 style="margin-bottom:4px">${escapeHtml(title)}</h2>`,
    `<p style="margin-top:0;opacity:0.75">${escapeHtml(capital(content.every))}, ${escapeHtml(zoneText(content))}</p>`,
    `<p style="font-size:18px"><strong>${escapeHtml(summary)}</strong></p>`,
    ...(effects === null ? [] : [`<p>${escapeHtml(effects)}</p>`]),
    ...content.breakdowns.flatMap((breakdown) => [
      `<h3>By ${escapeHtml(withoutLinks(groupingText(breakdown.by)))}</h3>`,
      ...table(['', 'Cost', 'Change', 'Requests'], groupCells(breakdown, money)),
      ...notesOf(breakdown, money).map((note) => `<p style="opacity:0.75">${escapeHtml(note)}</p>`),
    ]),
    ...(content.budgets.length === 0
      ? []
      : ['<h3>Budgets now</h3>', ...table(['', 'Used', 'Spent', 'Projected'], budgetCells(content.budgets, money))]),
    ...(savings
      ? [
          '<h3>Where money is wasted</h3>',
          ...(findings.length > 0 ? table(['', 'In 30 days'], findings) : []),
          ...notes.map((note) => `<p style="opacity:0.75">${escapeHtml(note)}</p>`),
          `<p><a href="${escapeHtml(links.savings)}">See all savings</a></p>`,
        ]
      : []),
    ...(coverage.length === 0
      ? []
      : [
          '<h3>How the numbers are known</h3>',
          `<ul>${coverage.map((line) => `<li>${escapeHtml(line)}</li>`).join('')}</ul>`,
        ]),
    `<p><a href="${escapeHtml(links.spend)}">See the spend</a> · <a href="${escapeHtml(links.report)}">Change the report</a></p>`,
    '</div>',
  ]);
  return { subject: `AI spend report: ${periodText(content)} (${content.every})`, text, html };
};
