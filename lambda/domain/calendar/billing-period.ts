/** Instants are ISO 8601 UTC; the end is the first instant after the period. */
export interface BillingPeriod {
  readonly start: string;
  readonly end: string;
}

/** A paid plan's period is its subscription's; that of FREE is the calendar month (UTC). */
export const billingPeriod = (
  subscription: { readonly periodStart: string; readonly periodEnd: string } | null,
  now: Date,
): BillingPeriod => {
  if (subscription !== null) return { start: subscription.periodStart, end: subscription.periodEnd };
  const month = (ahead: number) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead, 1)).toISOString();
  return { start: month(0), end: month(1) };
};
