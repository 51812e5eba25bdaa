export interface BillingSearch {
  /** How the payment processor's page was left. */
  readonly checkout?: 'completed' | 'cancelled' | undefined;
}

export const billingSearch = ({ checkout }: Record<string, unknown>): BillingSearch => ({
  checkout: (['completed', 'cancelled'] as const).find((known) => known === checkout),
});
