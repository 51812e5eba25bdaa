import { type PlanName, plans } from '../../../lambda/domain/billing/plans.ts';

export const planTitles: Readonly<Record<PlanName, string>> = {
  FREE: 'Free',
  STARTER: 'Starter',
  PRO: 'Pro',
  SCALE: 'Scale',
};

/** The plans in order, with what each allows: the service's own table. */
export const planList = (Object.keys(plans) as PlanName[]).map((name) => ({
  name,
  title: planTitles[name],
  ...plans[name],
}));

export type BillingState = 'ACTIVE' | 'TRIALING' | 'PAST_DUE' | 'UNPAID' | 'CANCELED' | 'INCOMPLETE' | 'PAUSED';

/** What a subscription's state means for the account; nothing to say where all is well. */
export const stateNotes: Readonly<Record<BillingState, string | null>> = {
  ACTIVE: null,
  TRIALING: 'A trial is running.',
  PAST_DUE: 'The last payment failed, and is tried again. Check your payment details.',
  UNPAID: 'The plan is not paid: proxy requests are rejected until it is.',
  CANCELED: 'Your paid plan has ended.',
  INCOMPLETE: 'The first payment has not gone through yet.',
  PAUSED: 'The subscription is paused.',
};
