import type { Alert } from '../api/responses.ts';

/** Channels by their API names, as pages name them. */
export const channelNames = {
  email: 'E-mail',
  webhook: 'Webhook',
  slack: 'Slack',
  teams: 'Microsoft Teams',
  pagerduty: 'PagerDuty',
} as const satisfies Record<Alert['deliveries'][number]['channel'], string>;

/** How a rule or budget notifies, as its form holds it. */
export interface ChannelValues {
  readonly channels: readonly (keyof typeof channelNames)[];
  readonly webhookUrl: string;
}

/** The channels as the API takes them: a null URL removes a stored one. */
export const channelsOf = ({ channels, webhookUrl }: ChannelValues) => ({
  channels: [...channels],
  webhookUrl: channels.includes('webhook') ? webhookUrl.trim() : null,
});

/** What is wrong with the channels, by member of the form. */
export const channelProblems = ({ channels, webhookUrl }: ChannelValues) => ({
  channels: channels.length === 0 ? 'Choose at least one channel.' : null,
  webhookUrl:
    channels.includes('webhook') && !/^https:\/\/\S+\.\S+/.test(webhookUrl.trim()) ? 'An https:// address.' : null,
});
