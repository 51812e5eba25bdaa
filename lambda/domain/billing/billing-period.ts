import { type Period, periodAt } from '../calendar/periods.ts';

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
