import type { PlanName } from './plans.ts';

export const paidPlanNames = ['STARTER', 'PRO', 'SCALE'] as const satisfies readonly PlanName[];
export type PaidPlanName = (typeof paidPlanNames)[number];

/** Stripe price ids by plan. The first one is sold now; the others belong to earlier subscriptions. Prices recur monthly. */
export type PriceIds = Readonly<Partial<Record<PaidPlanName, readonly string[] | undefined>>>;

/** The plan of a price, and the current price of a plan; undefined where the configuration has none. */
export const priceList = (prices: PriceIds) => {
  const plans = new Map(
    paidPlanNames.flatMap((plan) => (prices[plan] ?? []).map((priceId) => [priceId, plan] as const)),
  );
  return {
    planOf: (priceId: string): PaidPlanName | undefined => plans.get(priceId),
    soldAt: (plan: PaidPlanName): string | undefined => prices[plan]?.[0],
    /** True where no plan is or was sold. */
    isEmpty: plans.size === 0,
  };
};

export type PriceList = ReturnType<typeof priceList>;
