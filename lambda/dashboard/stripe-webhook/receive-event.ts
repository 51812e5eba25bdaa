import type { Logger } from '@aws-lambda-powertools/logger';
import type { BillingAccounts } from '../../data/billing/billing-accounts.ts';
import type { BillingEvents } from '../../data/billing/billing-events.ts';
import type { SyncBilling } from '../../data/billing/billing-sync.ts';
import { concernsBilling, isPurchase } from '../../domain/billing/event-types.ts';
import type { StripeBilling } from '../../integrations/stripe-billing.ts';
import type { ReadStripeEvent } from '../../integrations/stripe-webhook-event.ts';

export interface EventDependencies {
  readonly readEvent: ReadStripeEvent;
  readonly events: BillingEvents;
  readonly accounts: Pick<BillingAccounts, 'ownerOf'>;
  readonly sync: SyncBilling;
  readonly stripe: Pick<StripeBilling, 'closeCheckouts'>;
  readonly logger: Pick<Logger, 'info'>;
}

/**
 * Takes an event of Stripe's. It returns once all effects are written, and throws otherwise: Stripe then sends the event again,
 * for three days.
 *
 * @throws ValidationError where Stripe has not signed it
 */
export const receiveEvent =
  ({ readEvent, events, accounts, sync, stripe, logger }: EventDependencies) =>
  async (body: Buffer, signature: string | undefined): Promise<void> => {
    const { id: eventId, type, customerId } = await readEvent(body, signature);
    const told = { eventId, type, customerId };
    if (customerId === undefined || !concernsBilling(type)) return logger.info('event of no concern', told);
    if (await events.isDone(eventId)) return logger.info('event known', told);
    const accountId = await accounts.ownerOf(customerId);
    if (accountId === undefined) return logger.info('event of a customer that is none of ours', told);
    const change = await sync(accountId);
    // Somebody with two checkouts open would pay twice.
    if (isPurchase(type) && change?.after.subscription) await stripe.closeCheckouts(customerId);
    await events.markDone(eventId, type);
    logger.info('event worked off', {
      ...told,
      plan: change?.after.plan,
      billingStatus: change?.after.billingStatus,
      accountStatus: change?.after.status,
    });
  };
