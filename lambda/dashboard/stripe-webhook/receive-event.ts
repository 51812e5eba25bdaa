import type { Logger } from '@aws-lambda-powertools/logger';
import type { BillingAccounts } from '../../data/billing/billing-accounts.ts';
import type { BillingEvents } from '../../data/billing/billing-events.ts';
import type { CustomerBilling, SyncBilling } from '../../data/billing/billing-sync.ts';
import { billingStateOf, billingStateWithoutCustomer } from '../../domain/billing/billing-state.ts';
import type { PriceList } from '../../domain/billing/price-list.ts';
import type { StripeBilling } from '../../integrations/stripe-billing.ts';
import type { ReadStripeEvent } from '../../integrations/stripe-webhook-event.ts';

/** Stripe's events after which an account may have to change. Any of them only causes a read of the current state. */
const relevantEvents: ReadonlySet<string> = new Set([
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
  'checkout.session.async_payment_failed',
  'customer.subscription.created',
  'customer.subscription.updated',
  'customer.subscription.deleted',
  'customer.subscription.paused',
  'customer.subscription.resumed',
  'invoice.paid',
  'invoice.payment_failed',
  'customer.deleted',
]);

export interface EventDependencies {
  readonly readEvent: ReadStripeEvent;
  readonly events: BillingEvents;
  readonly accounts: Pick<BillingAccounts, 'ownerOf'>;
  readonly sync: SyncBilling;
  readonly stripe: Pick<StripeBilling, 'closeCheckouts'>;
  readonly logger: Pick<Logger, 'info'>;
}

/**
 * Processes a Stripe event. Returns after all effects are written. If it throws, Stripe sends the event again for three days.
 *
 * @throws ValidationError if Stripe did not sign the event, or it has no object
 */
export const receiveEvent =
  ({ readEvent, events, accounts, sync, stripe, logger }: EventDependencies) =>
  async (body: Buffer, signature: string | undefined): Promise<void> => {
    const { id: eventId, type, customerId } = await readEvent(body, signature);
    const fields = { eventId, type, customerId };
    logger.info('event received', fields);
    if (customerId === undefined || !relevantEvents.has(type)) return logger.info('event ignored', fields);
    if (await events.isDone(eventId)) return logger.info('event already processed', fields);
    const accountId = await accounts.ownerOf(customerId);
    if (accountId === undefined) return logger.info('event of an unknown customer', fields);
    const change = await sync(accountId);
    // A second open checkout would charge the customer twice.
    if (type === 'checkout.session.completed' && change?.after.subscription) await stripe.closeCheckouts(customerId);
    await events.markDone(eventId, type);
    logger.info('event processed', {
      ...fields,
      plan: change?.after.plan,
      billingStatus: change?.after.billingStatus,
      accountStatus: change?.after.status,
    });
  };

/** Reads a customer's current billing state from Stripe. */
export const billingReader =
  (stripe: Pick<StripeBilling, 'isDeleted' | 'subscriptionsOf'>, prices: PriceList) =>
  async (customerId: string): Promise<CustomerBilling> => {
    if (await stripe.isDeleted(customerId)) return { state: billingStateWithoutCustomer, isDeleted: true };
    return { state: billingStateOf(await stripe.subscriptionsOf(customerId), prices), isDeleted: false };
  };
