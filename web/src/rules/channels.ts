/** How a rule or budget notifies, as its form holds it. */
export interface ChannelValues {
  readonly channels: readonly ('email' | 'webhook')[];
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
