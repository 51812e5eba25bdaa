import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type * as z from 'zod/mini';
import type { PlanPrice } from '../domain/billing/price-list.ts';
import type { stripeEnvironment } from '../environment.ts';
import { type CachedSecret, cachedSecret, type StripeCall, StripeCallError, stripeCaller } from './stripe-client.ts';
import {
  type CustomerSubscription,
  customerSchema,
  priceSchema,
  sessionSchema,
  subscriptionSchema,
} from './stripe-objects.ts';

/** Maximum page size of Stripe. */
const PAGE = 100;

export interface NewCustomer {
  readonly email: string;
  readonly name: string;
  /** The account's owner. It identifies the account; Stripe must not receive the account key, which is a credential. */
  readonly userId: string;
  /** Calls with the same key create one customer. */
  readonly idempotencyKey: string;
}

export interface NewCheckout {
  readonly customerId: string;
  readonly priceId: string;
  readonly userId: string;
  readonly successUrl: string;
  readonly cancelUrl: string;
}

/** A change of a subscription that the portal asks the customer to confirm. */
export interface SubscriptionChange {
  readonly subscriptionId: string;
  readonly itemId: string;
  readonly priceId: string;
  /** Where the customer gets after confirming it. */
  readonly doneUrl: string;
}

/** Stripe operations for billing. They throw the errors of StripeCall. */
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

  /** Deletes a customer for good, and cancels its subscriptions at once. Succeeds if there is no such customer. */
  deleteCustomer: async (customerId: string): Promise<void> => {
    try {
      await call((stripe) => stripe.customers.del(customerId));
    } catch (error) {
      if (!(error instanceof StripeCallError && error.status === 404)) throw error;
    }
  },

  /** The newest hundred subscriptions of a customer, including ended ones. */
  subscriptionsOf: async (customer: string): Promise<CustomerSubscription[]> => {
    const { data } = await call((stripe) => stripe.subscriptions.list({ customer, status: 'all', limit: PAGE }));
    return data.map((subscription) => subscriptionSchema.parse(subscription));
  },

  /** All subscriptions that have not ended. */
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

  /** @returns null where a new subscription cannot have the price, or what it costs is not one amount */
  findPrice: async (priceId: string): Promise<PlanPrice | null> =>
    priceSchema.parse(await call((stripe) => stripe.prices.retrieve(priceId))),

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

  /** Closes all open checkouts of the customer, so that none of them can buy a second subscription. */
  closeCheckouts: async (customer: string): Promise<void> => {
    const { data } = await call((stripe) => stripe.checkout.sessions.list({ customer, status: 'open', limit: PAGE }));
    for (const { id } of data) {
      try {
        await call((stripe) => stripe.checkout.sessions.expire(id));
      } catch (error) {
        // It was completed or expired in the meantime.
        if (!(error instanceof StripeCallError && error.status === 400)) throw error;
      }
    }
  },

  /** Opens the customer's portal; with a change, the portal page that asks the customer to confirm it. */
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
            after_completion: { type: 'redirect', redirect: { return_url: change.doneUrl } },
          },
        }),
      }),
    );
    return sessionSchema.parse(session);
  },
});

export type StripeBilling = ReturnType<typeof stripeBilling>;

/** Has timeouts, because the SDK has none by default. */
const secretsManager = new SecretsManagerClient({
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 3_000, throwOnRequestTimeout: true },
});

export const openSecret = (secretId: string): CachedSecret => cachedSecret(secretsManager, secretId);

export const openStripe = (environment: z.infer<typeof stripeEnvironment>) =>
  stripeBilling(stripeCaller(environment.STRIPE_API_ORIGIN, openSecret(environment.STRIPE_API_KEY_SECRET_ID)));
