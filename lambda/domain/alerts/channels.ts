import { type ChannelName, targetNames } from '../limits/rule.ts';
import { cut, fitted, type Message, shortened, shortLinks } from './message.ts';

/** Teams takes 28 KB for a message. */
const MAX_TEAMS_BYTES = 28_000;
const MAX_TEAMS_TITLE = 300;
const MAX_TEAMS_SUMMARY = 2_000;

/** The larger of its sizes in UTF-8 and UTF-16: Teams' documentation does not say which counts, and people report both. */
const bytesOf = (json: string): number => Math.max(new TextEncoder().encode(json).length, 2 * json.length);

/** Text without Markdown: only a TextBlock and a fact have that, a TextRun does not. @see https://adaptivecards.io/explorer/TextRun.html */
const textOf = (...runs: readonly Record<string, string>[]) => ({
  type: 'RichTextBlock',
  inlines: runs.map((run) => ({ type: 'TextRun', ...run })),
});

/**
 * A message with an Adaptive Card for a Teams workflow that begins with "When a Teams webhook request is received".
 *
 * @see https://learn.microsoft.com/power-automate/teams/send-a-message-in-teams
 * @see https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using
 */
export const teamsMessage = (message: Message) =>
  fitted(
    message,
    (facts) => ({
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          contentUrl: null,
          content: {
            $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
            type: 'AdaptiveCard',
            version: '1.4',
            msteams: { width: 'Full' },
            body: [
              textOf({ text: cut(message.title, MAX_TEAMS_TITLE), size: 'Large', weight: 'Bolder' }),
              textOf({ text: cut(message.summary, MAX_TEAMS_SUMMARY) }),
              ...facts.map(({ label, text }) => textOf({ text: `${label}: `, weight: 'Bolder' }, { text })),
            ],
            actions: shortLinks(message).map(({ text: title, url }) => ({ type: 'Action.OpenUrl', title, url })),
          },
        },
      ],
    }),
    (built) => bytesOf(JSON.stringify(built)) <= MAX_TEAMS_BYTES,
  );

/** Slack's escapes: without them a tag such as `<!channel>` would notify everybody. @see https://docs.slack.dev/messaging/formatting-message-text */
const escapeSlack = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Escapes and cuts a text. An escape that the cut splits would show as text. */
const slackText = (text: string, maxLength: number): string => {
  const escaped = escapeSlack(text);
  return escaped.length <= maxLength ? escaped : `${shortened(escaped, maxLength - 1).replace(/&[a-z]{0,3}$/, '')}…`;
};

/** @see https://docs.slack.dev/reference/block-kit/blocks/header-block */
const MAX_HEADER_CHARACTERS = 150;
/** @see https://docs.slack.dev/reference/block-kit/blocks/section-block */
const MAX_SECTION_CHARACTERS = 3_000;

/** Text in which Slack sees no formatting, links or mentions. */
const plainText = (text: string, maxLength: number) => ({
  type: 'plain_text',
  text: slackText(text, maxLength),
  emoji: false,
});

/**
 * A message for Slack's incoming webhooks: blocks, and a text for notifications. What users and clients wrote is in plain text only.
 *
 * @see https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
 */
export const slackMessage = (message: Message) => {
  const { title, summary } = message;
  const lines = fitted(
    message,
    (facts) => [summary, ...facts.map(({ label, text }) => `${label}: ${text}`)].join('\n'),
    (text) => escapeSlack(text).length <= MAX_SECTION_CHARACTERS,
  );
  const footer = shortLinks(message).map(({ url, text }) => `<${escapeSlack(url)}|${text}>`);
  return {
    text: slackText(`${title}: ${summary}`, MAX_SECTION_CHARACTERS),
    blocks: [
      { type: 'header', text: plainText(title, MAX_HEADER_CHARACTERS) },
      { type: 'section', text: plainText(lines, MAX_SECTION_CHARACTERS) },
      { type: 'section', text: { type: 'mrkdwn', text: footer.join(' · ') } },
    ],
  };
};

/**
 * The plain webhook's JSON body: a message in the format of Slack's incoming webhooks, with the alert or report as data under `metadata`.
 *
 * @see https://docs.slack.dev/messaging/message-metadata
 */
export const webhookBody = (message: Message) => ({ ...slackMessage(message), metadata: message.event });

/** @see https://developer.pagerduty.com/docs/send-alert-event */
const MAX_PAGERDUTY_SUMMARY = 1_024;

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
    summary: cut(`${message.title}: ${message.summary}`, MAX_PAGERDUTY_SUMMARY),
    source: 'ai-spend-gateway',
    severity: message.severity,
    timestamp: message.at,
    class: message.type,
    custom_details: Object.fromEntries(
      [...Map.groupBy(message.facts, ({ label }) => label)].map(([label, facts]) => [
        label,
        facts.map(({ text }) => text).join(' '),
      ]),
    ),
  },
});

/** Resolves the incident of a message. PagerDuty takes it where there is none, too. */
const pagerDutyResolve = ({ id }: Message, routingKey: string) => ({
  routing_key: routingKey,
  event_action: 'resolve',
  dedup_key: id,
});

/** Channels that post JSON to a service. */
export type PostedChannel = Exclude<ChannelName, 'email'>;

interface ChannelType {
  /** How forms name the target. The target itself is a secret. */
  readonly target: string;
  /** The problem with the form of a target; undefined if there is none. The address of `url` is checked as well. */
  readonly targetProblem: (target: string) => string | undefined;
  /** Where to post. */
  readonly url: (target: string) => string;
  readonly body: (message: Message, target: string) => object;
  /** Every 2xx is delivered. These statuses mean that the same message is never taken; after others it is tried again. */
  readonly finalStatuses: readonly number[];
}

const urlProblem = (hosts: RegExp, path: RegExp, example: string) => (target: string) => {
  const url = URL.canParse(target) ? new URL(target) : undefined;
  const isRight = url?.protocol === 'https:' && hosts.test(url.hostname) && path.test(url.pathname);
  return isRight ? undefined : `must be a URL like ${example}`;
};

const ROUTING_KEY = /^(eu:)?([A-Za-z0-9]{32})$/;

/** The types of channels. A new row, with its name in rule.ts, is a new channel: rules, budgets, reports, delivery, tests of rules and the API follow. */
export const channelTypes: Readonly<Record<PostedChannel, ChannelType>> = {
  webhook: {
    target: 'An HTTPS URL with a public address',
    targetProblem: () => undefined,
    url: (target) => target,
    body: webhookBody,
    // The owner may still be setting it up.
    finalStatuses: [],
  },
  slack: {
    target: "URL of a Slack app's incoming webhook",
    targetProblem: urlProblem(/^hooks\.slack(-gov)?\.com$/, /^\/\w+\/./, 'https://hooks.slack.com/services/T…/B…/…'),
    url: (target) => target,
    body: slackMessage,
    // invalid_payload, action_prohibited, no_service, channel_is_archived
    finalStatuses: [400, 403, 404, 410],
  },
  teams: {
    target: 'URL of a Teams workflow that begins with "When a Teams webhook request is received"',
    targetProblem: urlProblem(
      /\.(logic\.azure|api\.powerplatform)\.(com|us|cn)$/,
      /\/workflows\/.*\/triggers\//,
      'https://….environment.api.powerplatform.com/…/workflows/…/triggers/manual/paths/invoke?…',
    ),
    url: (target) => target,
    body: teamsMessage,
    // A workflow that is switched off responds with 404 until it is on again.
    finalStatuses: [400, 401, 403, 410, 413],
  },
  pagerduty: {
    target:
      "Integration key of PagerDuty's Events API v2: 32 characters, with `eu:` before it in the EU service region",
    targetProblem: (target) => (ROUTING_KEY.test(target) ? undefined : 'must be an integration key of 32 characters'),
    url: (target) => `https://events.${target.startsWith('eu:') ? 'eu.' : ''}pagerduty.com/v2/enqueue`,
    body: (message, target) =>
      (message.isOver ? pagerDutyResolve : pagerDutyEvent)(message, target.replace(/^eu:/, '')),
    finalStatuses: [400],
  },
};

/** A target as it is shown after it was set: the host, and its end, by which its owner knows it. */
export const maskTarget = (target: string): string =>
  `${URL.canParse(target) && target.startsWith('https://') ? `${new URL(target).origin}/` : ''}…${target.slice(-4)}`;

/** A webhook's URL as it is shown: those of chat services are credentials. */
export const shownWebhookUrl = (url: string): string =>
  targetNames.some((name) => channelTypes[name].targetProblem(url) === undefined) ? maskTarget(url) : url;
