import { type StripeCall, StripeCallError } from './stripe-client.ts';
import { type CustomerSubscription, customerSchema, sessionSchema, subscriptionSchema } from './stripe-objects.ts';

/** Stripe's largest page. */
const PAGE = 100;

export interface NewCustomer {
  readonly email: string;
  readonly name: string;
  /** Of the account's owner. It leads to the account; the account's own id is a credential and goes nowhere. */
  readonly userId: string;
  /** Calls that say the same here make one customer. */
  readonly idempotencyKey: string;
}

export interface NewCheckout {
  readonly customerId: string;
  readonly priceId: string;
  readonly userId: string;
  readonly successUrl: string;
  readonly cancelUrl: string;
}

/** The change of a subscription that the portal is to ask the customer's consent to. */
export interface SubscriptionChange {
  readonly subscriptionId: string;
  readonly itemId: string;
  readonly priceId: string;
}

/** What billing needs of Stripe. All of it may throw what StripeCall throws. */
export const stripeBilling = (call: StripeCall) => ({
  /** @returns its id */
  createCustomer: async ({ idempotencyKey, userId, ...details }: NewCustomer): Promise<string> => {
    const customer = await call((stripe) =>
      stripe.customers.create({ ...details, metadata: { userId } }, { idempotencyKey }),
    );
    return customerSchema.parse(customer).id;
  },

  isDeleted: async (customerId: string): Promise<boolean> =>
    customerSchema.parse(await call((stripe) => stripe.customers.retrieve(customerId))).deleted,

  /** All of a customer's subscriptions, also those that are over; the newest hundred of them. */
  subscriptionsOf: async (customer: string): Promise<CustomerSubscription[]> => {
    const { data } = await call((stripe) => stripe.subscriptions.list({ customer, status: 'all', limit: PAGE }));
    return data.map((subscription) => subscriptionSchema.parse(subscription));
  },

  /** Every subscription that is not over. */
  async *liveSubscriptions(): AsyncGenerator<CustomerSubscription> {
    let after: string | undefined;
    do {
      const page = await call((stripe) =>
        stripe.subscriptions.list({ limit: PAGE, ...(after !== undefined && { starting_after: after }) }),
      );
      for (const subscription of page.data) yield subscriptionSchema.parse(subscription);
      after = page.has_more ? page.data.at(-1)?.id : undefined;
    } while (after !== undefined);
  },

  openCheckout: async ({ customerId, priceId, userId, successUrl, cancelUrl }: NewCheckout) => {
    const session = await call((stripe) =>
      stripe.checkout.sessions.create({
        mode: 'subscription',
        customer: customerId,
        client_reference_id: userId,
        line_items: [{ price: priceId, quantity: 1 }],
        metadata: { userId },
        subscription_data: { metadata: { userId } },
        success_url: successUrl,
        cancel_url: cancelUrl,
      }),
    );
    return sessionSchema.parse(session);
  },

  /** Closes every checkout of the customer that is still open: none of them can buy a second subscription any more. */
  closeCheckouts: async (customer: string): Promise<void> => {
    const { data } = await call((stripe) => stripe.checkout.sessions.list({ customer, status: 'open', limit: PAGE }));
    for (const { id } of data) {
      try {
        await call((stripe) => stripe.checkout.sessions.expire(id));
      } catch (error) {
        // It was completed, or ran out, a moment ago.
        if (!(error instanceof StripeCallError && error.status === 400)) throw error;
      }
    }
  },

  /** The customer's portal; with a change, the page of it that asks for consent to the change. */
  openPortal: async (customer: string, returnUrl: string, change?: SubscriptionChange) => {
    const session = await call((stripe) =>
      stripe.billingPortal.sessions.create({
        customer,
        return_url: returnUrl,
        ...(change && {
          flow_data: {
            type: 'subscription_update_confirm',
            subscription_update_confirm: {
              subscription: change.subscriptionId,
              items: [{ id: change.itemId, price: change.priceId, quantity: 1 }],
            },
            after_completion: { type: 'redirect', redirect: { return_url: returnUrl } },
          },
        }),
      }),
    );
    return sessionSchema.parse(session);
  },
});

export type StripeBilling = ReturnType<typeof stripeBilling>;
