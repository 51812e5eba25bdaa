import type { Alerts } from '../data/alerts/alerts.ts';
import type { BillingAccount } from '../data/billing/billing-accounts.ts';
import type { PeriodUsage } from '../data/billing/billing-usage.ts';
import type { Alert } from '../domain/alert-rules/alert.ts';
import { type BillingPeriod, billingPeriod } from '../domain/billing/billing-period.ts';
import { isNearNotice, type PlanNotice, planNotice } from '../domain/billing/plan-notice.ts';
import type { PlanName } from '../domain/billing/plans.ts';
import { MINUTE_MS } from '../domain/calendar/units.ts';

interface PlanNoticingDependencies {
  /** Undefined for an account that is gone. */
  readonly findAccount: (accountId: string) => Promise<Pick<BillingAccount, 'plan' | 'subscription'> | undefined>;
  /** Tracked requests of a billing period so far. */
  readonly usage: PeriodUsage;
  readonly notify: Alerts['notify'];
  readonly newAlertId: () => string;
  readonly now: () => Date;
}

/** An account far from its next notice is looked at no more often. */
const PAUSE_MS = MINUTE_MS;
const MAX_REMEMBERED = 10_000;

const noticeOf = (
  facts: { accountId: string; alertId: string; plan: PlanName; period: BillingPeriod; used: number; at: Date },
  { percent, limit }: PlanNotice,
): Alert => ({
  alertId: facts.alertId,
  accountId: facts.accountId,
  ruleId: null,
  ruleName: `${percent} % of the plan's tracked requests`,
  type: 'plan_usage',
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
 * Tells an account's users at 80 % and 100 % of the tracked requests of its billing period: once each in a period and plan. The
 * rule evaluator delivers it as it does every alert.
 */
export const planNoticing = ({ findAccount, usage, notify, newAlertId, now }: PlanNoticingDependencies) => {
  const restUntilMs = new Map<string, number>();
  const told = new Set<string>();
  return async (accountId: string, recordedFor: string): Promise<void> => {
    const at = now();
    if ((restUntilMs.get(accountId) ?? 0) > at.getTime()) return;
    const account = await findAccount(accountId);
    if (account === undefined) return;
    const { plan, subscription } = account;
    const period = billingPeriod(subscription, at);
    // Requests of a period that is over are nothing to be warned of any more; nor is a period whose successor Stripe has not told of yet.
    if (recordedFor < period.start || at.toISOString() >= period.end) return;
    const used = await usage(accountId, period, at);
    if (restUntilMs.size + told.size >= MAX_REMEMBERED) {
      restUntilMs.clear();
      told.clear();
    }
    if (!isNearNotice(plan, used)) restUntilMs.set(accountId, at.getTime() + PAUSE_MS);
    const notice = planNotice(plan, used);
    if (notice === null) return;
    const name = `plan-${plan}-${notice.percent}`;
    const key = `${accountId} ${period.start} ${name}`;
    if (told.has(key)) return;
    await notify(noticeOf({ accountId, alertId: newAlertId(), plan, period, used, at }, notice), name);
    told.add(key);
  };
};
