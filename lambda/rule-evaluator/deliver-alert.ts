import type { Recipient, Users } from '../data/accounts/users.ts';
import { type AlertDeliveries, DELIVERY_ROUNDS, isReport, type Outgoing } from '../data/alerts/alert-deliveries.ts';
import type { Rules } from '../data/alerts/rules.ts';
import type { Reports } from '../data/reports/reports.ts';
import { scopeOf } from '../domain/accounts/scope.ts';
import type { Alert, Delivery } from '../domain/alerts/alert.ts';
import { alertLinks, alertMail, alertMessage } from '../domain/alerts/alert-text.ts';
import type { Message } from '../domain/alerts/message.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../domain/calendar/units.ts';
import { NotFoundError, orUndefined } from '../domain/errors.ts';
import { isRuleIn } from '../domain/limits/rule.ts';
import type { Mail } from '../domain/mail/mail.ts';
import { isReportFor } from '../domain/reports/report.ts';
import { reportMail } from '../domain/reports/report-mail.ts';
import { reportMessage } from '../domain/reports/report-message.ts';
import type { ReportRun } from '../domain/reports/report-run.ts';
import {
  isDeliveryError,
  mailMembers,
  type PostTargets,
  postMessage,
  UndeliverableError,
} from '../integrations/channels.ts';
import type { SendMail } from '../integrations/mail.ts';
import { type PostJson, WebhookError } from '../integrations/webhook.ts';

export interface DeliveryDependencies {
  readonly deliveries: Pick<AlertDeliveries, 'claimRound' | 'noteMailed' | 'recordDeliveries'>;
  readonly rules: Pick<Rules, 'find'>;
  readonly reports: Pick<Reports, 'find'>;
  readonly users: Pick<Users, 'recipients'>;
  readonly sendMail: SendMail;
  readonly postWebhook: PostJson;
  readonly dashboardUrl: string;
  readonly now: () => Date;
}

/** Pauses of 1, 2, 4 … minutes, at most 6 hours: the last of ten attempts comes about 15 hours after the first. */
const MAX_PAUSE_MS = 6 * HOUR_MS;

/** As long as any run may take: with many members, and SES at its limit, mails take minutes. */
const CLAIM_MS = 5 * MINUTE_MS;

/** Something to send, in every form. */
interface Prepared {
  /** Undefined where there is no rule any more. */
  readonly targets: PostTargets | undefined;
  /** True for a member who may read it in a mail. */
  readonly isFor: (member: Recipient) => boolean;
  readonly mail: () => Mail;
  readonly message: () => Message;
}

interface Attempt {
  readonly delivery: Delivery;
  /** As the service asks for it. */
  readonly retryAfterSeconds?: number | undefined;
}

const pauseMs = (round: number): number => Math.min(MINUTE_MS * 2 ** (round % DELIVERY_ROUNDS), MAX_PAUSE_MS);

/** The error as the delivery shows it: of unexpected errors only the kind. */
const describeError = (error: unknown): string =>
  isDeliveryError(error) ? error.message : `failed (${error instanceof Error ? error.name : 'error'})`;

/**
 * Sends an alert or report on the channels that are still pending, and records the results. Each round has one claimant, so that
 * nobody gets it twice. A channel that fails is due again in a later round, a mail for those who do not have it.
 */
export const deliverAlert = (dependencies: DeliveryDependencies) => {
  const { deliveries, rules, reports, users, sendMail, postWebhook, dashboardUrl, now } = dependencies;

  const ofAlert = async (alert: Alert): Promise<Prepared> => {
    const rule = await (alert.ruleId === null ? undefined : orUndefined(rules.find(alert.accountId, alert.ruleId)));
    const links = alertLinks(dashboardUrl, alert, rule?.condition);
    return {
      targets: rule,
      // Who sees a part of the account gets what is about a project, or about the member.
      isFor: (member) => {
        const { sees } = scopeOf(member);
        return rule === undefined ? sees.keyIds === undefined : isRuleIn(sees, rule.condition);
      },
      mail: () => alertMail(alert, links),
      message: () => alertMessage(alert, links),
    };
  };

  const ofReport = async (run: ReportRun): Promise<Prepared> => {
    const report = await reports.find(run.accountId, run.reportId);
    return {
      targets: report,
      isFor: (member) => isReportFor(report, member),
      mail: () => reportMail(run, dashboardUrl),
      message: () => reportMessage(run, dashboardUrl),
    };
  };

  const send = async (
    outgoing: Outgoing,
    channel: Delivery['channel'],
    mailed: ReadonlySet<string>,
  ): ReturnType<typeof mailMembers> => {
    const { accountId } = outgoing;
    const { targets, isFor, mail, message } = await (isReport(outgoing) ? ofReport(outgoing) : ofAlert(outgoing));
    if (channel === 'email') {
      const recipients = (await users.recipients(accountId)).filter(isFor);
      const note = (userIds: readonly string[]) => deliveries.noteMailed(outgoing, userIds);
      return mailMembers(sendMail, { accountId, recipients, now: now() }, mail(), { mailed, note });
    }
    if (targets === undefined) throw new UndeliverableError('the alert has no rule with a target');
    await postMessage(postWebhook, targets, channel, message(), now());
    return { error: null, isTemporary: false };
  };

  const attempt = async (
    outgoing: Outgoing,
    delivery: Delivery,
    isLast: boolean,
    mailed: ReadonlySet<string>,
  ): Promise<Attempt> => {
    const at = now().toISOString();
    const tried = { ...delivery, attempts: delivery.attempts + 1, lastAttemptAt: at };
    try {
      const { error, isTemporary } = await send(outgoing, delivery.channel, mailed);
      if (isTemporary && !isLast) return { delivery: { ...tried, status: 'pending', error } };
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

  return async (outgoing: Outgoing, round: number, mailed: ReadonlySet<string> = new Set()): Promise<void> => {
    const inTime = (ms: number) => new Date(now().getTime() + ms).toISOString();
    const nextAttemptAt = inTime(pauseMs(round));
    if (!(await deliveries.claimRound(outgoing, round, inTime(Math.max(pauseMs(round), CLAIM_MS))))) return;
    const isLast = (round + 1) % DELIVERY_ROUNDS === 0;
    const attempted = await Promise.all(
      outgoing.deliveries.map((delivery) =>
        delivery.status === 'pending'
          ? attempt(outgoing, delivery, isLast, mailed)
          : Promise.resolve<Attempt>({ delivery }),
      ),
    );
    const waitsMs = attempted.flatMap(({ delivery: { status }, retryAfterSeconds = 0 }) =>
      status === 'pending' ? [retryAfterSeconds * SECOND_MS] : [],
    );
    // One channel does not delay another.
    const waitMs = waitsMs.length === 0 ? 0 : Math.min(...waitsMs, MAX_PAUSE_MS);
    await deliveries.recordDeliveries(
      outgoing,
      attempted.map(({ delivery }) => delivery),
      waitMs > pauseMs(round) ? inTime(waitMs) : nextAttemptAt,
    );
  };
};
