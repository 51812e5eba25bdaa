export interface BillingSearch {
  /** How the payment processor's page was left. */
  readonly checkout?: 'success' | 'cancelled' | undefined;
}

export const billingSearch = ({ checkout }: Record<string, unknown>): BillingSearch => ({
  checkout: (['success', 'cancelled'] as const).find((known) => known === checkout),
});
