import type { PlanName } from './plans.ts';

export const priceIntervals = ['day', 'week', 'month', 'year'] as const;

/** Price of a subscription for each interval, as the payment processor has it. Taxes may come on top. */
export interface PlanPrice {
  /** In the currency's minor unit: 2900 is 29 US dollars, and 2,900 yen. */
  readonly amountMinor: number;
  /** The same in the currency's own unit: `29.00`, `2900`. */
  readonly amount: string;
  /** ISO 4217: `USD`. */
  readonly currency: string;
  readonly interval: (typeof priceIntervals)[number];
  /** 3 with `month`: each quarter. */
  readonly intervalCount: number;
}

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
