import { priceList } from '../../../lambda/domain/billing/price-list.ts';
import type { Subscription, SubscriptionStatus } from '../../../lambda/domain/billing/subscription.ts';

export const prices = priceList({
  STARTER: ['price_starter', 'price_starter_old'],
  PRO: ['price_pro'],
  SCALE: ['price_scale'],
});

/** A subscription, by default to PRO. */
export const subscription = (
  given: Partial<{ id: string; status: SubscriptionStatus; price: string; createdAt: string; isEnding: boolean }>,
): Subscription => ({
  id: given.id ?? 'sub_1',
  status: given.status ?? 'active',
  createdAt: given.createdAt ?? '2026-11-05T10:00:00.000Z',
  isEnding: given.isEnding ?? false,
  isScheduled: false,
  items: [
    {
      id: 'si_1',
      priceId: given.price ?? 'price_pro',
      periodStart: '2026-11-05T10:00:00.000Z',
      periodEnd: '2026-12-05T10:00:00.000Z',
    },
  ],
});
