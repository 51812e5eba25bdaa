import type { Alert } from './alert.ts';
import { driverLines, notesOf, oneLine, periodText, shortened } from './alert-text.ts';

/** Slack's escapes: without them a tag such as `<!channel>` would notify everybody. @see https://docs.slack.dev/messaging/formatting-message-text */
const escapeSlack = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Slack allows 3,000 characters in a section; the link needs the rest. */
const MAX_SECTION_CHARACTERS = 2_900;

/**
 * The webhook's JSON body: a message in the format of Slack's incoming webhooks, with the alert as data under `metadata`.
 *
 * @see https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
 * @see https://docs.slack.dev/messaging/message-metadata
 */
export const alertWebhookBody = (alert: Alert, alertUrl: string): string => {
  const lines = [
    alert.summary,
    `Period: ${periodText(alert)}`,
    ...driverLines(alert).map(({ dimension, text }) => `By ${dimension}: ${text}`),
    ...notesOf(alert),
  ].map(escapeSlack);
  const title = escapeSlack(`AI spend alert: ${oneLine(alert.ruleName)}`);
  // An escape that the cut splits would show as text.
  const section = shortened(`*${title}*\n${lines.join('\n')}`, MAX_SECTION_CHARACTERS).replace(/&[a-z]{0,3}$/, '');
  const { accountId: _, deliveries: __, acknowledgedAt: ___, acknowledgedBy: ____, alertId, ...data } = alert;
  return JSON.stringify({
    text: `${title}: ${lines[0]}`,
    blocks: [{ type: 'section', text: { type: 'mrkdwn', text: `${section}\n<${alertUrl}|See and acknowledge it>` } }],
    metadata: { event_type: 'ai_spend_alert', event_payload: { id: alertId, ...data } },
  });
};
