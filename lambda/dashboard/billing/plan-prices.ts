import type { Logger } from '@aws-lambda-powertools/logger';
import { type PlanPrice, type PriceList, paidPlanNames } from '../../domain/billing/price-list.ts';
import type { Implementation } from '../../http/operation.ts';
import type { StripeBilling } from '../../integrations/stripe-billing.ts';
import type * as operations from './operations.ts';

/** Stripe never changes the amount of a price; it may take the price off sale. */
const REMEMBERED_MS = 10 * 60_000;
/** A page that Stripe does not respond to must not wait for it at each view. */
const FAILURE_REMEMBERED_MS = 30_000;

interface PriceDependencies {
  readonly stripe: Pick<StripeBilling, 'findPrice'>;
  readonly prices: PriceList;
  readonly logger: Pick<Logger, 'warn'>;
  /** Milliseconds. */
  readonly now: () => number;
}

/** Prices of plans, read from Stripe and remembered for some minutes. A price that cannot be read is null: no amount is made up. */
export const planPrices = ({
  stripe,
  prices,
  logger,
  now,
}: PriceDependencies): Implementation<typeof operations.planPrices> => {
  const remembered = new Map<string, { readonly price: Promise<PlanPrice | null>; untilMs: number }>();

  const priceOf = (priceId: string): Promise<PlanPrice | null> => {
    const known = remembered.get(priceId);
    if (known && now() < known.untilMs) return known.price;
    const entry = { price: stripe.findPrice(priceId), untilMs: now() + REMEMBERED_MS };
    entry.price = entry.price.catch((error: unknown) => {
      logger.warn('price of a plan not read', { priceId, error: error as Error });
      entry.untilMs = now() + FAILURE_REMEMBERED_MS;
      return null;
    });
    remembered.set(priceId, entry);
    return entry.price;
  };

  return async () => {
    const items = paidPlanNames.map(async (plan) => {
      const priceId = prices.soldAt(plan);
      return { plan, isSold: priceId !== undefined, price: priceId === undefined ? null : await priceOf(priceId) };
    });
    return { items: await Promise.all(items) };
  };
};
