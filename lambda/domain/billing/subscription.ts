import { type Period, periodAt } from '../calendar/periods.ts';

/** The states of a subscription, in Stripe's terms. @see https://docs.stripe.com/billing/subscriptions/overview#subscription-statuses */
export const subscriptionStatuses = [
  'active',
  'trialing',
  'past_due',
  'unpaid',
  'paused',
  'incomplete',
  'incomplete_expired',
  'canceled',
] as const;
export type SubscriptionStatus = (typeof subscriptionStatuses)[number];

/** The parts of a subscription that billing needs. Instants are ISO 8601 UTC. */
export interface Subscription {
  readonly id: string;
  readonly status: SubscriptionStatus;
  readonly createdAt: string;
  /** The customer has cancelled it; it ends with its period. */
  readonly isEnding: boolean;
  /** A change is planned for later. Until then the portal makes no other. */
  readonly isScheduled: boolean;
  readonly items: readonly {
    readonly id: string;
    readonly priceId: string;
    readonly periodStart: string;
    readonly periodEnd: string;
  }[];
}

/** It has ended or never began, so it no longer matters. */
export const isOver = ({ status }: Subscription): boolean => status === 'canceled' || status === 'incomplete_expired';

/** Instants are ISO 8601 UTC; the end is the first instant after the period. */
export type BillingPeriod = Pick<Period, 'start' | 'end'>;

/** A paid plan has its subscription's period; FREE has the calendar month (UTC). */
export const billingPeriod = (
  subscription: { readonly periodStart: string; readonly periodEnd: string } | null,
  now: Date,
): BillingPeriod => {
  const { start, end } =
    subscription === null ? periodAt('monthly', now) : { start: subscription.periodStart, end: subscription.periodEnd };
  return { start, end };
};
