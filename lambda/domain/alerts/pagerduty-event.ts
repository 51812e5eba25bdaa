import { cut, type Message, shortFacts } from './message.ts';

/** @see https://developer.pagerduty.com/docs/send-alert-event */
const MAX_SUMMARY_CHARACTERS = 1_024;

/**
 * An event for PagerDuty's Events API v2. The message's id is the deduplication key: another attempt opens no second incident.
 *
 * @see https://developer.pagerduty.com/docs/send-alert-event
 */
export const pagerDutyEvent = (message: Message, routingKey: string) => ({
  routing_key: routingKey,
  event_action: 'trigger',
  dedup_key: message.id,
  client: 'AI Spend Gateway',
  client_url: message.links[0].url,
  links: message.links.map(({ url, text }) => ({ href: url, text })),
  payload: {
    summary: cut(`${message.title}: ${message.summary}`, MAX_SUMMARY_CHARACTERS),
    source: 'ai-spend-gateway',
    severity: message.severity,
    timestamp: message.at,
    class: message.type,
    custom_details: Object.fromEntries(
      [...Map.groupBy(shortFacts(message), ({ label }) => label)].map(([label, facts]) => [
        label,
        facts.map(({ text }) => text).join(' '),
      ]),
    ),
  },
});
