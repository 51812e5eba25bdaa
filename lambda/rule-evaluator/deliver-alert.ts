import { isVerified, type Users } from '../data/accounts/users.ts';
import type { AlertDeliveries } from '../data/alerts/alert-deliveries.ts';
import type { Rules } from '../data/alerts/rules.ts';
import type { Alert, Delivery } from '../domain/alert-rules/alert.ts';
import { alertMail } from '../domain/alert-rules/alert-mail.ts';
import { alertWebhookBody } from '../domain/alert-rules/alert-webhook.ts';
import type { ChannelName } from '../domain/alert-rules/rule.ts';
import { HOUR_MS, MINUTE_MS } from '../domain/calendar/units.ts';
import { NotFoundError } from '../domain/errors.ts';
import { MailError, type SendMail } from '../integrations/mail.ts';
import { WebhookError } from '../integrations/webhook.ts';

export interface DeliveryDependencies {
  readonly deliveries: Pick<AlertDeliveries, 'claimRound' | 'recordDeliveries'>;
  readonly rules: Pick<Rules, 'find'>;
  readonly users: Pick<Users, 'recipients'>;
  readonly sendMail: SendMail;
  readonly postWebhook: (webhook: { url: string; secret: string }, body: string, now: Date) => Promise<void>;
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

  /** Each returns what the account should know although it was sent; null for nothing. */
  const channels: Record<ChannelName, (alert: Alert, url: string) => Promise<string | null>> = {
    email: async (alert, url) => {
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
      await sendMail({ accountId, to: reachable.map(({ email }) => email), ...alertMail(alert, url) });
      return notSent === '' ? null : notSent;
    },
    webhook: async (alert, url) => {
      const rule = alert.ruleId === null ? undefined : await rules.find(alert.accountId, alert.ruleId);
      if (!rule?.webhook) throw new UndeliverableError('the rule no longer has a webhook');
      await postWebhook(rule.webhook, alertWebhookBody(alert, url), now());
      return null;
    },
  };

  const attempt = async (alert: Alert, delivery: Delivery, isLast: boolean): Promise<Delivery> => {
    const at = now().toISOString();
    const tried = { ...delivery, attempts: delivery.attempts + 1, lastAttemptAt: at };
    try {
      const error = await channels[delivery.channel](alert, `${dashboardUrl}/alerts/${alert.alertId}`);
      return { ...tried, status: 'sent', sentAt: at, error };
    } catch (error) {
      const isHopeless = error instanceof UndeliverableError || error instanceof NotFoundError;
      return { ...tried, status: isLast || isHopeless ? 'failed' : 'pending', error: describeError(error) };
    }
  };

  return async (alert: Alert, round: number): Promise<void> => {
    const nextAttemptAt = new Date(now().getTime() + pauseMs(round)).toISOString();
    if (!(await deliveries.claimRound(alert, round, nextAttemptAt))) return;
    const isLast = round + 1 >= MAX_ROUNDS;
    const attempted = await Promise.all(
      alert.deliveries.map((delivery) =>
        delivery.status === 'pending' ? attempt(alert, delivery, isLast) : Promise.resolve(delivery),
      ),
    );
    await deliveries.recordDeliveries(alert, attempted);
  };
};
