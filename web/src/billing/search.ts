import { type PlanName, planNames } from '../../../lambda/domain/billing/plans.ts';

export interface BillingSearch {
  /** The result of a visit to the payment page. */
  readonly checkout?: 'completed' | 'cancelled' | undefined;
  /** The plan that was chosen there. */
  readonly plan?: PlanName | undefined;
}

export const billingSearch = ({ checkout, plan }: Record<string, unknown>): BillingSearch => ({
  checkout: (['completed', 'cancelled'] as const).find((known) => known === checkout),
  plan: planNames.find((known) => known === plan),
});
