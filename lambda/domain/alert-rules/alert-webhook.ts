import type { Alert } from './alert.ts';
import { slackMessage } from './alert-slack.ts';
import type { AlertLinks } from './alert-text.ts';

/**
 * The plain webhook's JSON body: a message in the format of Slack's incoming webhooks, with the alert as data under `metadata`.
 *
 * @see https://docs.slack.dev/messaging/message-metadata
 */
export const alertWebhookBody = (alert: Alert, links: AlertLinks) => {
  const { accountId: _, deliveries: __, acknowledgedAt: ___, acknowledgedBy: ____, alertId, ...data } = alert;
  return {
    ...slackMessage(alert, links),
    metadata: {
      event_type: 'ai_spend_alert',
      event_payload: { id: alertId, ...data, alertUrl: links.alert, spendUrl: links.spend },
    },
  };
};
