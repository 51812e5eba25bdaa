import type { CustomerBilling } from '../../data/billing/billing-sync.ts';
import { billingStateOf, billingStateWithoutCustomer } from '../../domain/billing/billing-state.ts';
import type { PriceList } from '../../domain/billing/price-list.ts';
import type { StripeBilling } from '../../integrations/stripe-billing.ts';

/** Reads a customer's current billing state from Stripe. */
export const billingReader =
  (stripe: Pick<StripeBilling, 'isDeleted' | 'subscriptionsOf'>, prices: PriceList) =>
  async (customerId: string): Promise<CustomerBilling> => {
    if (await stripe.isDeleted(customerId)) return { state: billingStateWithoutCustomer, isDeleted: true };
    return { state: billingStateOf(await stripe.subscriptionsOf(customerId), prices), isDeleted: false };
  };
