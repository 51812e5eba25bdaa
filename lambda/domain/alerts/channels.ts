import type { ChannelName } from '../limits/rule.ts';
import type { Message } from './message.ts';
import { pagerDutyEvent } from './pagerduty-event.ts';
import { slackMessage, webhookBody } from './slack-message.ts';
import { teamsMessage } from './teams-message.ts';

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
    body: (message, target) => pagerDutyEvent(message, target.replace(/^eu:/, '')),
    finalStatuses: [400],
  },
};

/** A target as it is shown after it was set: the host, and its end, by which its owner knows it. */
export const maskTarget = (target: string): string =>
  `${URL.canParse(target) && target.startsWith('https://') ? `${new URL(target).origin}/` : ''}…${target.slice(-4)}`;

/** A webhook's URL as it is shown: those of chat services are credentials. */
export const shownWebhookUrl = (url: string): string =>
  [channelTypes.slack, channelTypes.teams].some(({ targetProblem }) => targetProblem(url) === undefined)
    ? maskTarget(url)
    : url;
