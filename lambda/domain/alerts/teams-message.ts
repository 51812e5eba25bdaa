import { cut, type Message, shortFacts } from './message.ts';

/** Teams takes 28 KB for a message; these leave room for the links. */
const MAX_TITLE_CHARACTERS = 300;
const MAX_SUMMARY_CHARACTERS = 2_000;

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
export const teamsMessage = (message: Message) => ({
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
          textOf({ text: cut(message.title, MAX_TITLE_CHARACTERS), size: 'Large', weight: 'Bolder' }),
          textOf({ text: cut(message.summary, MAX_SUMMARY_CHARACTERS) }),
          ...shortFacts(message).map(({ label, text }) => textOf({ text: `${label}: `, weight: 'Bolder' }, { text })),
        ],
        actions: message.links.map(({ text: title, url }) => ({ type: 'Action.OpenUrl', title, url })),
      },
    },
  ],
});
