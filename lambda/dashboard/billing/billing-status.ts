import { requireAccount } from '../../data/accounts/accounts.ts';
import { plans } from '../../domain/billing/plans.ts';
import { type PlanPrice, paidPlanNames } from '../../domain/billing/price-list.ts';
import { billingPeriod } from '../../domain/billing/subscription.ts';
import type { Implementations } from '../../http/operation.ts';
import type { Billing } from '../open-billing.ts';
import type * as operations from './operations.ts';

/** Stripe never changes the amount of a price; it may take the price off sale. */
const REMEMBERED_MS = 10 * 60_000;
/** A page that Stripe does not respond to must not wait for it at each view. */
const FAILURE_REMEMBERED_MS = 30_000;

export const readPlan = (billing: Billing): Implementations<typeof operations, 'planPrices' | 'billingStatus'> => {
  const remembered = new Map<string, { readonly price: Promise<PlanPrice | null>; untilMs: number }>();

  const priceOf = (priceId: string): Promise<PlanPrice | null> => {
    const known = remembered.get(priceId);
    const nowMs = () => billing.now().getTime();
    if (known && nowMs() < known.untilMs) return known.price;
    const entry = { price: billing.stripe.findPrice(priceId), untilMs: nowMs() + REMEMBERED_MS };
    entry.price = entry.price.catch((error: unknown) => {
      billing.logger.warn('price of a plan not read', { priceId, error: error as Error });
      entry.untilMs = nowMs() + FAILURE_REMEMBERED_MS;
      return null;
    });
    remembered.set(priceId, entry);
    return entry.price;
  };

  return {
    /** Prices of plans, read from Stripe and remembered for some minutes. A price that cannot be read is null: no amount is made up. */
    planPrices: async () => {
      const items = paidPlanNames.map(async (plan) => {
        const priceId = billing.prices.soldAt(plan);
        return { plan, isSold: priceId !== undefined, price: priceId === undefined ? null : await priceOf(priceId) };
      });
      return { items: await Promise.all(items) };
    },

    /** Reads the table only, so it works while the payment processor is unavailable. */
    billingStatus: async ({ caller: { accountId } }) => {
      const { plan, billingStatus, activeKeys, subscription } = await requireAccount(billing.accounts, accountId);
      const at = billing.now();
      const period = billingPeriod(subscription, at);
      return {
        plan,
        billingStatus,
        usage: {
          trackedRequests: await billing.readUsage(accountId, period, at),
          limit: plans[plan].trackedRequests,
          keys: activeKeys,
          keyLimit: plans[plan].keys,
        },
        currentPeriodEnd: period.end,
      };
    },
  };
};
