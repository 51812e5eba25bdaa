import { channelTypes, type PostedChannel } from '../domain/alerts/channels.ts';
import type { Message } from '../domain/alerts/message.ts';
import type { TargetName } from '../domain/limits/rule.ts';
import { MailError } from './mail.ts';
import { UndeliverableError, WaitingError } from './mail-members.ts';
import { type PostJson, WebhookError } from './webhook.ts';

/** Where a rule or report posts. */
export interface PostTargets {
  readonly webhook: { readonly url: string; readonly secret: string } | null;
  readonly targets?: { readonly [Name in TargetName]?: string | undefined } | undefined;
}

/**
 * Posts a message on a channel of a rule or report.
 *
 * @throws WebhookError, final where another attempt cannot succeed. It contains nothing of the target.
 */
export const postMessage = async (
  post: PostJson,
  { webhook, targets }: PostTargets,
  channel: PostedChannel,
  message: Message,
  now: Date,
): Promise<void> => {
  const { url, body, finalStatuses } = channelTypes[channel];
  const target = channel === 'webhook' ? webhook?.url : targets?.[channel];
  if (target === undefined) throw new WebhookError(`there is no target for ${channel} any more`, { isFinal: true });
  const json = JSON.stringify(body(message, target));
  try {
    await post({ url: url(target), ...(channel === 'webhook' && { secret: webhook?.secret }) }, json, now);
  } catch (error) {
    if (!(error instanceof WebhookError) || error.status === undefined || !finalStatuses.includes(error.status))
      throw error;
    throw new WebhookError(error.message, { status: error.status, isFinal: true });
  }
};

/** True for errors of a channel, whose messages people may read. */
export const isDeliveryError = (error: unknown): error is Error =>
  [MailError, WebhookError, WaitingError, UndeliverableError].some((type) => error instanceof type);
