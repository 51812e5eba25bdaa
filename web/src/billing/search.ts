export interface BillingSearch {
  /** The result of a visit to the payment page. */
  readonly checkout?: 'completed' | 'cancelled' | undefined;
}

export const billingSearch = ({ checkout }: Record<string, unknown>): BillingSearch => ({
  checkout: (['completed', 'cancelled'] as const).find((known) => known === checkout),
});
