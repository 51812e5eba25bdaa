import type { AlertRepository } from '../data/alerts.ts';
import type { Alert } from '../domain/alert-rules/alert.ts';
import { periodAt } from '../domain/alert-rules/rule-periods.ts';
import { isNearNotice, type PlanNotice, planNotice } from '../domain/plan-usage.ts';
import type { PlanName } from '../domain/plans.ts';
import { monthOf } from '../domain/spend/periods.ts';

interface PlanNoticingDependencies {
  readonly findPlan: (accountId: string) => Promise<PlanName>;
  readonly trackedRequests: (accountId: string, month: string) => Promise<number>;
  readonly notify: AlertRepository['notify'];
  readonly newAlertId: () => string;
  readonly now: () => Date;
}

/** An account far from its next notice is looked at no more often. */
const PAUSE_MS = 60_000;
const MAX_REMEMBERED = 10_000;

const noticeOf = (
  facts: { accountId: string; alertId: string; plan: PlanName; used: number; at: Date },
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
  period: periodAt('monthly', facts.at),
  unit: 'requests',
  observed: facts.used,
  limit,
  unpricedRequests: 0,
  summary: `${facts.used} of the ${limit} tracked requests of the ${facts.plan} plan are used this month. No request is rejected for it.`,
  drivers: [],
  deliveries: [{ channel: 'email', status: 'pending', attempts: 0, lastAttemptAt: null, sentAt: null, error: null }],
});

/**
 * Tells an account's users at 80 % and 100 % of the month's tracked requests: once each in a month and plan. The rule evaluator
 * delivers it as it does every alert.
 */
export const planNoticing = ({ findPlan, trackedRequests, notify, newAlertId, now }: PlanNoticingDependencies) => {
  const restUntilMs = new Map<string, number>();
  const told = new Set<string>();
  return async (accountId: string, recordedFor: string): Promise<void> => {
    const at = now();
    const month = monthOf(at.toISOString());
    // Requests of a month that is over are nothing to be warned of any more.
    if (monthOf(recordedFor) !== month || (restUntilMs.get(accountId) ?? 0) > at.getTime()) return;
    const [plan, used] = await Promise.all([findPlan(accountId), trackedRequests(accountId, month)]);
    if (restUntilMs.size + told.size >= MAX_REMEMBERED) {
      restUntilMs.clear();
      told.clear();
    }
    if (!isNearNotice(plan, used)) restUntilMs.set(accountId, at.getTime() + PAUSE_MS);
    const notice = planNotice(plan, used);
    if (notice === null) return;
    const name = `plan-${plan}-${notice.percent}`;
    const key = `${accountId} ${month} ${name}`;
    if (told.has(key)) return;
    await notify(noticeOf({ accountId, alertId: newAlertId(), plan, used, at }, notice), name);
    told.add(key);
  };
};
