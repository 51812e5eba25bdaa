import { channelTypes, type PostedChannel } from '../domain/alerts/channels.ts';
import type { Message } from '../domain/alerts/message.ts';
import type { TargetName } from '../domain/limits/rule.ts';
import type { Mail } from '../domain/mail/mail.ts';
import { MailError, type SendMail } from './mail.ts';
import { type PostJson, WebhookError } from './webhook.ts';

/** A member, as far as it says whether mail may be sent. */
interface MailedMember {
  readonly userId: string;
  readonly email: string;
  /** Null: unverified addresses get no mail but codes that verify them. */
  readonly emailVerifiedAt?: string | null | undefined;
  readonly mailBlock?: { readonly until: string; readonly reason: string } | undefined;
}

/** Nobody can get it on this channel yet: a later attempt may find somebody. */
class WaitingError extends Error {}

/** It can never be sent on this channel, so it is not tried again. */
export class UndeliverableError extends Error {}

/** An alert keeps it, and a page of alerts is one response. */
const MAX_NAMED = 20;

const textOf = (notSent: readonly string[]): string =>
  [
    ...notSent.slice(0, MAX_NAMED),
    ...(notSent.length > MAX_NAMED ? [`and ${notSent.length - MAX_NAMED} more`] : []),
  ].join(', ');

/** The result of a mail that somebody has. */
interface Mailed {
  /** Who did not get it; null for nobody. */
  readonly error: string | null;
  /** Some of them may get it later. */
  readonly isTemporary: boolean;
}

/** Who has a mail already, by user id, and what notes it of others. */
interface MailProgress {
  readonly mailed: ReadonlySet<string>;
  readonly note: (userIds: readonly string[]) => Promise<void>;
}

/**
 * Mails the members of an account whose address is verified and takes mail.
 *
 * @throws WaitingError, UndeliverableError where nobody can get it
 * @throws MailError
 */
export const mailMembers = async (
  sendMail: SendMail,
  {
    accountId,
    recipients,
    now,
  }: { readonly accountId: string; readonly recipients: readonly MailedMember[]; readonly now: Date },
  mail: Mail,
  { mailed, note }: MailProgress = { mailed: new Set(), note: async () => {} },
): Promise<Mailed> => {
  if (recipients.length === 0) throw new UndeliverableError('no member is left to get it');
  const waiting = recipients.filter(({ userId }) => !mailed.has(userId));
  const unverified = waiting.filter(({ emailVerifiedAt }) => emailVerifiedAt === null);
  const blocked = waiting.filter(({ mailBlock }) => mailBlock && Date.parse(mailBlock.until) > now.getTime());
  const reachable = waiting.filter((one) => !unverified.includes(one) && !blocked.includes(one));
  const notSent = [
    ...blocked.map(({ email, mailBlock }) => `not sent to ${email} (${mailBlock?.reason})`),
    ...unverified.map(({ email }) => `not sent to ${email} (the address is not verified)`),
  ];
  if (reachable.length === 0 && mailed.size === 0)
    throw new (unverified.length > 0 ? WaitingError : UndeliverableError)(textOf(notSent));
  const to = reachable.map(({ email }) => email);
  const noteSent = (sent: readonly string[]) =>
    note(reachable.flatMap(({ email, userId }) => (sent.includes(email) ? userId : [])));
  let isTemporary = false;
  try {
    await sendMail({ accountId, to, ...mail }, noteSent);
  } catch (error) {
    if (!(error instanceof MailError && (error.unsent || mailed.size > 0))) throw error;
    const { unsent = to, message } = error;
    notSent.push(...unsent.map((email) => `not sent to ${email} (${message})`));
    isTemporary = error.isTemporary;
  }
  return { error: notSent.length === 0 ? null : textOf(notSent), isTemporary };
};

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

/** How a channel takes a message. @param sending a text that it resolves to says who did not get it */
export const resultOf = async <C>(channel: C, sending: Promise<unknown>) => {
  try {
    const error = await sending;
    return { channel, isDelivered: true, error: typeof error === 'string' ? error : null };
  } catch (error) {
    if (!isDeliveryError(error)) throw error;
    return { channel, isDelivered: false, error: error.message };
  }
};

/** True for errors of a channel, whose messages people may read. */
export const isDeliveryError = (error: unknown): error is Error =>
  [MailError, WebhookError, WaitingError, UndeliverableError].some((type) => error instanceof type);
