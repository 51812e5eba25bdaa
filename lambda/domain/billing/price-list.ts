import type { PlanName } from './plans.ts';

export const paidPlanNames = ['STARTER', 'PRO', 'SCALE'] as const satisfies readonly PlanName[];
export type PaidPlanName = (typeof paidPlanNames)[number];

/** Stripe price ids by plan. The first is sold; the others are those of subscriptions sold before. Prices recur monthly. */
export type PriceIds = Readonly<Partial<Record<PaidPlanName, readonly string[] | undefined>>>;

/** Which plan a price buys, and which price a plan is sold at; undefined where the configuration does not say. */
export const priceList = (prices: PriceIds) => {
  const plans = new Map(
    paidPlanNames.flatMap((plan) => (prices[plan] ?? []).map((priceId) => [priceId, plan] as const)),
  );
  return {
    planOf: (priceId: string): PaidPlanName | undefined => plans.get(priceId),
    soldAt: (plan: PaidPlanName): string | undefined => prices[plan]?.[0],
    /** Nothing is sold, nor was. */
    isEmpty: plans.size === 0,
  };
};

export type PriceList = ReturnType<typeof priceList>;
