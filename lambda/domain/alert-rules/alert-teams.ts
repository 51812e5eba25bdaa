import type { Alert } from './alert.ts';
import { type AlertLinks, alertTitle, cut, oneLine, shortFacts } from './alert-text.ts';

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
export const teamsMessage = (alert: Alert, links: AlertLinks) => ({
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
          textOf({ text: cut(alertTitle(alert), MAX_TITLE_CHARACTERS), size: 'Large', weight: 'Bolder' }),
          textOf({ text: cut(oneLine(alert.summary), MAX_SUMMARY_CHARACTERS) }),
          ...shortFacts(alert).map(({ label, text }) => textOf({ text: `${label}: `, weight: 'Bolder' }, { text })),
        ],
        actions: [
          { type: 'Action.OpenUrl', title: 'See and acknowledge it', url: links.alert },
          { type: 'Action.OpenUrl', title: 'See the spend', url: links.spend },
        ],
      },
    },
  ],
});
