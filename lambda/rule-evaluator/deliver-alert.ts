import { isVerified, type Users } from '../data/accounts/users.ts';
import type { AlertDeliveries } from '../data/alerts/alert-deliveries.ts';
import type { Rules } from '../data/alerts/rules.ts';
import type { Alert, Delivery } from '../domain/alert-rules/alert.ts';
import { alertLinks } from '../domain/alert-rules/alert-links.ts';
import { alertMail } from '../domain/alert-rules/alert-mail.ts';
import type { PostedChannel } from '../domain/alert-rules/channels.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../domain/calendar/units.ts';
import { NotFoundError } from '../domain/errors.ts';
import { MailError, type SendMail } from '../integrations/mail.ts';
import { type PostJson, postAlert } from '../integrations/post-alert.ts';
import { WebhookError } from '../integrations/webhook.ts';

export interface DeliveryDependencies {
  readonly deliveries: Pick<AlertDeliveries, 'claimRound' | 'recordDeliveries'>;
  readonly rules: Pick<Rules, 'find'>;
  readonly users: Pick<Users, 'recipients'>;
  readonly sendMail: SendMail;
  readonly postWebhook: PostJson;
  readonly dashboardUrl: string;
  readonly now: () => Date;
}

/** Pauses of 1, 2, 4 … minutes, at most 6 hours: the last of ten attempts comes about 15 hours after the first. */
const MAX_ROUNDS = 10;
const MAX_PAUSE_MS = 6 * HOUR_MS;

/** Nobody can get the alert on this channel yet: a later round may find somebody. */
class WaitingError extends Error {}

/** The alert can never be sent on this channel, so it is not tried again. */
class UndeliverableError extends Error {}

interface Attempt {
  readonly delivery: Delivery;
  /** As the service asks for it. */
  readonly retryAfterSeconds?: number | undefined;
}

const pauseMs = (round: number): number => Math.min(MINUTE_MS * 2 ** round, MAX_PAUSE_MS);

/** The error as the alert shows it: of unexpected errors only the kind. */
const describeError = (error: unknown): string =>
  error instanceof MailError ||
  error instanceof WebhookError ||
  error instanceof WaitingError ||
  error instanceof UndeliverableError
    ? error.message
    : `failed (${error instanceof Error ? error.name : 'error'})`;

/**
 * Sends an alert on the channels that are still pending, and records the results. Each round has one claimant, so that nobody
 * gets an alert twice. A channel that fails is due again in a later round.
 */
export const deliverAlert = (dependencies: DeliveryDependencies) => {
  const { deliveries, rules, users, sendMail, postWebhook, dashboardUrl, now } = dependencies;

  /** Mails the account's users. Returns who did not get it; null for nobody. */
  const mail = async (alert: Alert): Promise<string | null> => {
    const { accountId } = alert;
    const recipients = await users.recipients(accountId);
    if (recipients.length === 0) throw new UndeliverableError('the account has no users');
    const unverified = recipients.filter((recipient) => !isVerified(recipient));
    const blocked = recipients.filter(({ mailBlock }) => mailBlock && Date.parse(mailBlock.until) > now().getTime());
    const reachable = recipients.filter((one) => !unverified.includes(one) && !blocked.includes(one));
    const notSent = [
      ...blocked.map(({ email, mailBlock }) => `not sent to ${email} (${mailBlock?.reason})`),
      ...unverified.map(({ email }) => `not sent to ${email} (the address is not verified)`),
    ].join(', ');
    if (reachable.length === 0) throw new (unverified.length > 0 ? WaitingError : UndeliverableError)(notSent);
    const { alert: alertUrl } = alertLinks(dashboardUrl, alert);
    await sendMail({ accountId, to: reachable.map(({ email }) => email), ...alertMail(alert, alertUrl) });
    return notSent === '' ? null : notSent;
  };

  const post = async (alert: Alert, channel: PostedChannel): Promise<null> => {
    if (alert.ruleId === null) throw new UndeliverableError('the alert has no rule with a target');
    const rule = await rules.find(alert.accountId, alert.ruleId);
    const links = alertLinks(dashboardUrl, alert, rule.condition);
    await postAlert(postWebhook, rule, channel, { alert, links, now: now() });
    return null;
  };

  const attempt = async (alert: Alert, delivery: Delivery, isLast: boolean): Promise<Attempt> => {
    const at = now().toISOString();
    const tried = { ...delivery, attempts: delivery.attempts + 1, lastAttemptAt: at };
    try {
      const error = await (delivery.channel === 'email' ? mail(alert) : post(alert, delivery.channel));
      return { delivery: { ...tried, status: 'sent', sentAt: at, error } };
    } catch (error) {
      const isHopeless =
        error instanceof UndeliverableError ||
        error instanceof NotFoundError ||
        (error instanceof WebhookError && error.isFinal);
      const status = isLast || isHopeless ? 'failed' : 'pending';
      const retryAfterSeconds = error instanceof WebhookError ? error.retryAfterSeconds : undefined;
      return { delivery: { ...tried, status, error: describeError(error) }, retryAfterSeconds };
    }
  };

  return async (alert: Alert, round: number): Promise<void> => {
    const nextAttemptAt = new Date(now().getTime() + pauseMs(round)).toISOString();
    if (!(await deliveries.claimRound(alert, round, nextAttemptAt))) return;
    const isLast = round + 1 >= MAX_ROUNDS;
    const attempted = await Promise.all(
      alert.deliveries.map((delivery) =>
        delivery.status === 'pending' ? attempt(alert, delivery, isLast) : Promise.resolve<Attempt>({ delivery }),
      ),
    );
    const waitsMs = attempted.flatMap(({ delivery: { status }, retryAfterSeconds = 0 }) =>
      status === 'pending' ? [retryAfterSeconds * SECOND_MS] : [],
    );
    // One channel does not delay another.
    const waitMs = waitsMs.length === 0 ? 0 : Math.min(...waitsMs, MAX_PAUSE_MS);
    await deliveries.recordDeliveries(
      alert,
      attempted.map(({ delivery }) => delivery),
      waitMs > pauseMs(round) ? new Date(now().getTime() + waitMs).toISOString() : undefined,
    );
  };
};
