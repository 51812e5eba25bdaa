import { type PlanName, plans } from '../../../lambda/domain/billing/plans.ts';
import type { BillingStatus, PlanPriceItem } from '../api/responses.ts';
import { formatPrice } from '../format/money.ts';

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

/** `$29 a month`, `€87 every 3 months`; where no amount is known, who shows it. An account may pay an earlier price of its own plan. */
export const priceText = (name: PlanName, item: PlanPriceItem | undefined, isCurrent: boolean): string => {
  if (name === 'FREE') return 'No charge';
  if (item?.isSold === false) return isCurrent ? 'Not sold any more' : 'Not sold here';
  if (!item?.price) return isCurrent ? 'Your invoices show the price' : 'The checkout shows the price';
  const { amount, currency, interval, intervalCount } = item.price;
  const each = intervalCount === 1 ? `a ${interval}` : `every ${intervalCount} ${interval}s`;
  return `${isCurrent ? 'Now sold for ' : ''}${formatPrice(amount, currency)} ${each}`;
};
