export const priceIntervals = ['day', 'week', 'month', 'year'] as const;

/** What a subscription costs for each interval, as the payment processor has it. Taxes may come on top. */
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
