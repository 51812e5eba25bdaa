import { type PlanName, plans } from '../../../lambda/domain/billing/plans.ts';
import type { BillingStatus } from '../api/responses.ts';

export const planTitles: Readonly<Record<PlanName, string>> = {
  FREE: 'Free',
  STARTER: 'Starter',
  PRO: 'Pro',
  SCALE: 'Scale',
};

/** The plans in order, with their limits from the domain's table. */
export const planList = (Object.keys(plans) as PlanName[]).map((name) => ({
  name,
  title: planTitles[name],
  ...plans[name],
}));

/** What a subscription's status means for the account; null where there is nothing to report. */
export const statusNotes: Readonly<Record<BillingStatus['billingStatus'], string | null>> = {
  ACTIVE: null,
  TRIALING: 'A trial is running.',
  PAST_DUE: 'The last payment failed and will be retried. Check your payment details.',
  UNPAID: 'The plan is not paid: proxy requests are rejected until it is.',
  CANCELED: 'Your paid plan has ended.',
  INCOMPLETE: 'The first payment has not gone through yet.',
  PAUSED: 'The subscription is paused.',
};
