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

export const concernsBilling = (eventType: string): boolean => relevantEvents.has(eventType);

export const isPurchase = (eventType: string): boolean => eventType === 'checkout.session.completed';
