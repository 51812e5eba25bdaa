import type { TargetName } from '../../../lambda/domain/limits/rule.ts';
import type { AlertRule } from '../api/responses.ts';

/** Channels by their API names, as pages name them. */
export const channelNames = {
  email: 'E-mail',
  webhook: 'Webhook',
  slack: 'Slack',
  teams: 'Microsoft Teams',
  pagerduty: 'PagerDuty',
} as const satisfies Record<AlertRule['channels'][number], string>;

export type Channel = keyof typeof channelNames;

/** The target that each service needs. */
export const targetFields: Readonly<Record<TargetName, { readonly label: string; readonly placeholder: string }>> = {
  slack: { label: 'Slack: URL of an incoming webhook', placeholder: 'https://hooks.slack.com/services/…' },
  teams: {
    label: 'Microsoft Teams: URL of a workflow that begins with a webhook request',
    placeholder: 'https://….api.powerplatform.com/…/workflows/…',
  },
  pagerduty: {
    label: 'PagerDuty: integration key of the Events API v2',
    placeholder: '32 characters, with eu: before it in the EU',
  },
};

export const targetNames = Object.keys(targetFields) as TargetName[];

const ofTargets = <T>(valueFor: (name: TargetName) => T) =>
  Object.fromEntries(targetNames.map((name) => [name, valueFor(name)])) as Record<TargetName, T>;

/** How a rule, budget or report notifies, as its form holds it. Targets are text; a stored one is shown masked. */
export interface ChannelValues extends Readonly<Record<TargetName, string>> {
  readonly channels: readonly Channel[];
  readonly webhookUrl: string;
}

export const channelValuesOf = ({
  channels,
  webhookUrl,
  targets,
}: Pick<AlertRule, 'channels' | 'webhookUrl' | 'targets'>): ChannelValues => ({
  channels,
  webhookUrl: webhookUrl ?? '',
  ...ofTargets((name) => targets[name] ?? ''),
});

export const mailOnly = channelValuesOf({ channels: ['email'], webhookUrl: null, targets: {} });

/** The channels as the API takes them: without the targets of channels that are not chosen. */
export const channelsOf = (values: ChannelValues) => {
  const { channels, webhookUrl } = values;
  return {
    channels: [...channels],
    webhookUrl: channels.includes('webhook') ? webhookUrl.trim() : null,
    targets: ofTargets((name) => (channels.includes(name) ? values[name].trim() : null)),
  };
};

/** Problems with the channels, by member of the form. */
export const channelProblems = (values: ChannelValues) => {
  const { channels, webhookUrl } = values;
  return {
    channels: channels.length === 0 ? 'Choose at least one channel.' : null,
    webhookUrl:
      channels.includes('webhook') && !/^https:\/\/\S+\.\S+/.test(webhookUrl.trim()) ? 'An https:// address.' : null,
    ...ofTargets((name) => (channels.includes(name) && values[name].trim() === '' ? 'Is required.' : null)),
  };
};
