import type { Alert } from './alert.ts';
import { driverLines, notesOf, oneLine, periodText, shortened } from './alert-text.ts';

export interface Mail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text that users or clients wrote never becomes markup. */
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '');

const MAX_SUBJECT_CHARACTERS = 150;

/** The mail for an alert, in text and HTML: what fired, by how much, what drove it, and where to see more. */
export const alertMail = (alert: Alert, alertUrl: string): Mail => {
  const name = oneLine(alert.ruleName);
  const rows = [
    { label: 'Period', text: periodText(alert) },
    ...driverLines(alert).map(({ dimension, text }) => ({ label: `By ${dimension}`, text })),
    ...notesOf(alert).map((text) => ({ label: 'Note', text })),
  ];
  const text = [
    alert.summary,
    '',
    `Alert: ${name}`,
    ...rows.map((row) => `${row.label}: ${row.text}`),
    '',
    `See and acknowledge it: ${alertUrl}`,
    '',
  ].join('\n');
  const html = [
    '<!doctype html><html><body style="font-family:sans-serif">',
    `<h2>${escapeHtml(name)}</h2>`,
    `<p>${escapeHtml(alert.summary)}</p>`,
    '<table cellpadding="4">',
    ...rows.map((row) => `<tr><th align="left">${escapeHtml(row.label)}</th><td>${escapeHtml(row.text)}</td></tr>`),
    '</table>',
    `<p><a href="${escapeHtml(alertUrl)}">See and acknowledge it</a></p>`,
    '</body></html>',
  ].join('\n');
  return { subject: shortened(`AI spend alert: ${name}`, MAX_SUBJECT_CHARACTERS), text, html };
};
