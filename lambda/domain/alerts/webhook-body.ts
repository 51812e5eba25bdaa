import type { Message } from './message.ts';
import { slackMessage } from './slack-message.ts';

/**
 * The plain webhook's JSON body: a message in the format of Slack's incoming webhooks, with the alert or report as data under `metadata`.
 *
 * @see https://docs.slack.dev/messaging/message-metadata
 */
export const webhookBody = (message: Message) => ({ ...slackMessage(message), metadata: message.event });
