import type { Alert } from './alert.ts';
import { type AlertLinks, alertTitle, cut, oneLine, shortFacts } from './alert-text.ts';

/** @see https://developer.pagerduty.com/docs/send-alert-event */
const MAX_SUMMARY_CHARACTERS = 1_024;

/** What stops work or grows by the minute is critical. */
const severityOf = ({ type, percent = 0 }: Alert): 'critical' | 'warning' =>
  type === 'burn_rate' || (type === 'budget' && percent >= 100) ? 'critical' : 'warning';

/**
 * An event for PagerDuty's Events API v2. The alert's id is the deduplication key: another attempt opens no second incident.
 *
 * @see https://developer.pagerduty.com/docs/send-alert-event
 */
export const pagerDutyEvent = (alert: Alert, links: AlertLinks, routingKey: string) => ({
  routing_key: routingKey,
  event_action: 'trigger',
  dedup_key: alert.alertId,
  client: 'AI Spend Gateway',
  client_url: links.alert,
  links: [
    { href: links.alert, text: 'See and acknowledge it' },
    { href: links.spend, text: 'See the spend' },
  ],
  payload: {
    summary: cut(`${alertTitle(alert)}: ${oneLine(alert.summary)}`, MAX_SUMMARY_CHARACTERS),
    source: 'ai-spend-gateway',
    severity: severityOf(alert),
    timestamp: alert.triggeredAt,
    class: alert.type,
    custom_details: Object.fromEntries(
      [...Map.groupBy(shortFacts(alert), ({ label }) => label)].map(([label, facts]) => [
        label,
        facts.map(({ text }) => text).join(' '),
      ]),
    ),
  },
});
