/** The limits of a plan. No request is ever rejected because of them. */
export interface PlanLimits {
  /** Tracked requests per period: a calendar month (UTC) on FREE, the subscription's own otherwise. */
  readonly trackedRequests: number;
  /** Active service keys. */
  readonly keys: number;
  /** How long request records are kept. Sums of spend are kept longer. */
  readonly requestRetentionDays: number;
}

export const planNames = ['FREE', 'STARTER', 'PRO', 'SCALE'] as const;
export type PlanName = (typeof planNames)[number];

export const plans: Readonly<Record<PlanName, PlanLimits>> = {
  FREE: { trackedRequests: 10_000, keys: 2, requestRetentionDays: 30 },
  STARTER: { trackedRequests: 100_000, keys: 5, requestRetentionDays: 90 },
  PRO: { trackedRequests: 1_000_000, keys: 20, requestRetentionDays: 400 },
  SCALE: { trackedRequests: 10_000_000, keys: 100, requestRetentionDays: 400 },
};

/**
 * State of an account's subscription, in the payment processor's terms. FREE accounts are ACTIVE, CANCELED after a paid plan has
 * ended, or PAUSED or INCOMPLETE while nobody pays for one.
 */
export const billingStatuses = [
  'ACTIVE',
  'TRIALING',
  'PAST_DUE',
  'UNPAID',
  'CANCELED',
  'INCOMPLETE',
  'PAUSED',
] as const;
export type BillingStatus = (typeof billingStatuses)[number];

/** Proxy requests of a suspended or cancelled account are rejected with ACCOUNT_INACTIVE. */
export const accountStatuses = ['active', 'suspended', 'cancelled'] as const;
export type AccountStatus = (typeof accountStatuses)[number];

/** The days in which the owner can cancel the deletion of an account. */
export const DELETION_GRACE_DAYS = 7;
