import { type Message, shortened, shortFacts } from './message.ts';

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
  const { title, summary, links } = message;
  const lines = [summary, ...shortFacts(message).map(({ label, text }) => `${label}: ${text}`)];
  const shown = links.map(({ url, text }) => `<${escapeSlack(url)}|${text}>`);
  const footer = shown.join(' · ');
  return {
    text: slackText(`${title}: ${summary}`, MAX_SECTION_CHARACTERS),
    blocks: [
      { type: 'header', text: plainText(title, MAX_HEADER_CHARACTERS) },
      { type: 'section', text: plainText(lines.join('\n'), MAX_SECTION_CHARACTERS) },
      // A section is too short for a link with very long filters: the page that the message is about has it, too.
      {
        type: 'section',
        text: { type: 'mrkdwn', text: footer.length <= MAX_SECTION_CHARACTERS ? footer : (shown[0] ?? '') },
      },
    ],
  };
};

/**
 * The plain webhook's JSON body: a message in the format of Slack's incoming webhooks, with the alert or report as data under `metadata`.
 *
 * @see https://docs.slack.dev/messaging/message-metadata
 */
export const webhookBody = (message: Message) => ({ ...slackMessage(message), metadata: message.event });
