import type { Alert } from './alert.ts';
import { type AlertLinks, alertFacts } from './alert-text.ts';
import { type Message, oneLine } from './message.ts';

/** An alert that stops work or grows by the minute is critical. */
const severityOf = ({ type, percent = 0 }: Alert): Message['severity'] =>
  type === 'burn_rate' || (type === 'budget' && percent >= 100) ? 'critical' : 'warning';

/** An alert as channels send it. */
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
    severity: severityOf(alert),
    type: alert.type,
    at: alert.triggeredAt,
    event: {
      event_type: 'ai_spend_alert',
      event_payload: { id: alertId, ...data, alertUrl: links.alert, spendUrl: links.spend },
    },
  };
};
