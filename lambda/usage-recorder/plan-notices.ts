import QuickLRU from 'quick-lru';
import type { Alerts } from '../data/alerts/alerts.ts';
import type { BillingAccount } from '../data/billing/billing-accounts.ts';
import type { PeriodUsage } from '../data/billing/billing-usage.ts';
import type { Alert } from '../domain/alerts/alert.ts';
import { type BillingPeriod, billingPeriod } from '../domain/billing/billing-period.ts';
import { isNearNotice, type PlanNotice, planNotice } from '../domain/billing/plan-notice.ts';
import type { PlanName } from '../domain/billing/plans.ts';
import { MINUTE_MS } from '../domain/calendar/units.ts';

interface PlanNoticesDependencies {
  /** Undefined for an account that is gone. */
  readonly findAccount: (accountId: string) => Promise<Pick<BillingAccount, 'plan' | 'subscription'> | undefined>;
  /** Tracked requests of a billing period so far. */
  readonly usage: PeriodUsage;
  readonly notify: Alerts['notify'];
  readonly newAlertId: () => string;
  readonly now: () => Date;
}

/** Time between two checks of an account that is far from its next notice. */
const PAUSE_MS = MINUTE_MS;
/** A forgotten pause costs a read; a forgotten notice costs a write that changes nothing. */
const MAX_REMEMBERED = 5_000;

const noticeOf = (
  facts: { accountId: string; alertId: string; plan: PlanName; period: BillingPeriod; used: number; at: Date },
  { percent, limit }: PlanNotice,
): Alert => ({
  alertId: facts.alertId,
  accountId: facts.accountId,
  ruleId: null,
  ruleName: `${percent} % of the plan's tracked requests`,
  type: 'plan_usage',
  event: null,
  status: 'triggered',
  triggeredAt: facts.at.toISOString(),
  acknowledgedAt: null,
  acknowledgedBy: null,
  period: { name: 'monthly', ...facts.period },
  unit: 'requests',
  observed: facts.used,
  limit,
  unpricedRequests: 0,
  summary: `${facts.used} of the ${limit} tracked requests of the ${facts.plan} plan are used in the billing period that ends on ${facts.period.end.slice(0, 10)}. No request is rejected for it.`,
  drivers: [],
  deliveries: [{ channel: 'email', status: 'pending', attempts: 0, lastAttemptAt: null, sentAt: null, error: null }],
});

/**
 * Notifies the users of an account at 80 % and at 100 % of the tracked requests of its billing period, once each in a period and plan.
 * The rule evaluator delivers the notice as it delivers every alert.
 *
 * The returned function takes `recordedFor`, when the request began that is the reason to look, if one is.
 */
export const openPlanNotices = ({ findAccount, usage, notify, newAlertId, now }: PlanNoticesDependencies) => {
  const pausedUntilMs = new QuickLRU<string, number>({ maxSize: MAX_REMEMBERED });
  const notified = new QuickLRU<string, true>({ maxSize: MAX_REMEMBERED });
  return async (accountId: string, recordedFor?: string): Promise<void> => {
    const at = now();
    if ((pausedUntilMs.get(accountId) ?? 0) > at.getTime()) return;
    const account = await findAccount(accountId);
    if (account === undefined) return;
    const { plan, subscription } = account;
    const period = billingPeriod(subscription, at);
    // A period that is over needs no warning, and neither does one whose successor Stripe has not reported yet.
    if ((recordedFor && recordedFor < period.start) || at.toISOString() >= period.end) return;
    const used = await usage(accountId, period, at);
    if (!isNearNotice(plan, used)) pausedUntilMs.set(accountId, at.getTime() + PAUSE_MS);
    const notice = planNotice(plan, used);
    if (notice === null) return;
    const name = `plan-${plan}-${notice.percent}`;
    const key = `${accountId} ${period.start} ${name}`;
    if (notified.has(key)) return;
    await notify(noticeOf({ accountId, alertId: newAlertId(), plan, period, used, at }, notice), name);
    notified.set(key, true);
  };
};
