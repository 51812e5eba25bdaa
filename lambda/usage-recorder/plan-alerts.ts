import type { Logger } from '@aws-lambda-powertools/logger';
import pMap from 'p-map';
import QuickLRU from 'quick-lru';
import type { Alerts } from '../data/alerts/alerts.ts';
import type { BillingAccount } from '../data/billing/billing-accounts.ts';
import type { PeriodUsage } from '../data/billing/billing-usage.ts';
import type { RollupMarks } from '../data/ledger/rollup-marks.ts';
import { ROLLUP_MARK_SHARDS } from '../data/table/keys.ts';
import { triggeredAlert } from '../domain/alerts/alert.ts';
import { type PlanName, plans } from '../domain/billing/plans.ts';
import { billingPeriod } from '../domain/billing/subscription.ts';
import { MINUTE_MS } from '../domain/calendar/units.ts';
import { percentText } from '../domain/spend/spend-report.ts';

interface PlanChecking {
  /** Undefined for an account that is gone. */
  readonly findAccount: (accountId: string) => Promise<Pick<BillingAccount, 'plan' | 'subscription'> | undefined>;
  /** Tracked requests of a billing period so far. */
  readonly usage: PeriodUsage;
  readonly notify: Alerts['notify'];
  readonly newAlertId: () => string;
  readonly now: () => Date;
}

/** Percentages of the plan's tracked requests at which users are alerted, the highest first. */
const PERCENTAGES = [100, 80];
/** From this share of the next percentage on, usage is read with every batch. */
const NEAR = 0.85;
/** Time between two checks of an account that is far from its next alert. */
const PAUSE_MS = MINUTE_MS;
/** A forgotten pause costs a read; a forgotten alert costs a write that changes nothing. */
const MAX_REMEMBERED = 5_000;
const ACCOUNTS_AT_ONCE = 16;

/** The highest percentage of a plan that a use has reached, and whether the next one is near. */
const reached = (plan: PlanName, used: number) => {
  const limit = plans[plan].trackedRequests;
  const thresholds = PERCENTAGES.map((percent) => ({ percent, requests: Math.ceil((limit * percent) / 100) }));
  const next = thresholds.findLast(({ requests }) => used < requests);
  return {
    limit,
    percent: thresholds.find(({ requests }) => used >= requests)?.percent,
    isNextNear: next !== undefined && used >= NEAR * next.requests,
  };
};

/**
 * Alerts the users of an account at 80 % and at 100 % of the tracked requests of its billing period, once each in a period and plan.
 * The rule evaluator delivers the alert like any other.
 *
 * The returned function takes `recordedFor`, when the request began that is the reason to look, if one is.
 */
export const openPlanAlerts = ({ findAccount, usage, notify, newAlertId, now }: PlanChecking) => {
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
    const { limit, percent, isNextNear } = reached(plan, used);
    if (!isNextNear) pausedUntilMs.set(accountId, at.getTime() + PAUSE_MS);
    if (percent === undefined) return;
    const name = `plan-${plan}-${percent}`;
    const key = `${accountId} ${period.start} ${name}`;
    if (notified.has(key)) return;
    const alert = triggeredAlert(
      {
        ...{ alertId: newAlertId(), accountId, ruleId: null, type: 'plan_usage', event: null },
        ruleName: `${percentText(percent)} of the plan's tracked requests`,
        ...{ triggeredAt: at.toISOString(), period: { name: 'monthly', ...period } },
        ...{ unit: 'requests', figure: used, limit, unpricedRequests: 0 },
        summary: `${used} of the ${limit} tracked requests of the ${plan} plan are used in the billing period that ends on ${period.end.slice(0, 10)}. No request is rejected for it.`,
        contributors: [],
      },
      ['email'],
    );
    await notify(alert, name);
    notified.set(key, true);
  };
};

interface RecentAccounts {
  readonly marks: Pick<RollupMarks, 'accounts'>;
  readonly checkPlan: ReturnType<typeof openPlanAlerts>;
  readonly logger: Pick<Logger, 'error'>;
}

/**
 * Checks the plans of all accounts with recent usage. The recorder checks them at once in most cases, but not after a burst that ends
 * before its next check, and not where it fails.
 *
 * The returned function takes `isLate`, true where the rest must wait for the next run.
 */
export const checkPlans =
  ({ marks, checkPlan, logger }: RecentAccounts) =>
  async (isLate: () => boolean): Promise<void> => {
    for (let shard = 0; shard < ROLLUP_MARK_SHARDS; shard++)
      await pMap(
        marks.accounts(shard),
        async (accountId) => {
          if (isLate()) return;
          try {
            await checkPlan(accountId);
          } catch (error) {
            logger.error('Plan usage not checked', { errorName: (error as Error).name });
          }
        },
        { concurrency: ACCOUNTS_AT_ONCE },
      );
  };
