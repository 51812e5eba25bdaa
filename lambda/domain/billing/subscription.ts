/** The states of a subscription, in Stripe's words. @see https://docs.stripe.com/billing/subscriptions/overview#subscription-statuses */
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

/** A subscription as far as billing needs it. Instants are ISO 8601 UTC. */
export interface Subscription {
  readonly id: string;
  readonly status: SubscriptionStatus;
  readonly createdAt: string;
  /** It ends with its period: the customer has cancelled it. */
  readonly isEnding: boolean;
  readonly items: readonly {
    readonly id: string;
    readonly priceId: string;
    readonly periodStart: string;
    readonly periodEnd: string;
  }[];
}

/** It is over, or never began: it decides nothing any more. */
export const isOver = ({ status }: Subscription): boolean => status === 'canceled' || status === 'incomplete_expired';
