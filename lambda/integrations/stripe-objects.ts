import * as z from 'zod/mini';
import { type Subscription, subscriptionStatuses } from '../domain/billing/subscription.ts';

/** Stripe's objects, as far as they are used, turned into ours. */

/** Epoch seconds. */
const instant = z.pipe(
  z.number(),
  z.transform((seconds) => new Date(seconds * 1_000).toISOString()),
);

/** A reference, or what it refers to where that was asked for. */
export const reference = z.union([
  z.string(),
  z.pipe(
    z.object({ id: z.string() }),
    z.transform(({ id }) => id),
  ),
]);

export const subscriptionSchema = z.pipe(
  z.object({
    id: z.string(),
    customer: reference,
    status: z.enum(subscriptionStatuses),
    created: instant,
    // A cancellation at the period's end shows as the one or the other, by the subscription's billing mode.
    cancel_at: z.nullable(z.number()),
    cancel_at_period_end: z.boolean(),
    items: z.object({
      data: z.array(
        z.object({
          id: z.string(),
          price: z.object({ id: z.string() }),
          current_period_start: instant,
          current_period_end: instant,
        }),
      ),
    }),
  }),
  z.transform(
    ({ id, customer, status, created, cancel_at, cancel_at_period_end, items }): CustomerSubscription => ({
      id,
      customerId: customer,
      status,
      createdAt: created,
      isEnding: cancel_at !== null || cancel_at_period_end,
      items: items.data.map((item) => ({
        id: item.id,
        priceId: item.price.id,
        periodStart: item.current_period_start,
        periodEnd: item.current_period_end,
      })),
    }),
  ),
);

export type CustomerSubscription = Subscription & { readonly customerId: string };

export const customerSchema = z.object({ id: z.string(), deleted: z._default(z.boolean(), false) });

/** A page of Stripe's to send somebody to. The URL is a key to it. */
export const sessionSchema = z.object({ id: z.string(), url: z.url() });
