import * as z from 'zod/mini';
import { type Subscription, subscriptionStatuses } from '../domain/billing/subscription.ts';

/** Schemas that turn Stripe's objects into domain objects. They contain only the members in use. */

/** Epoch seconds. */
const instant = z.pipe(
  z.number(),
  z.transform((seconds) => new Date(seconds * 1_000).toISOString()),
);

/** A reference by id, or the expanded object. */
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
    // The billing mode of the subscription decides which of the two shows a cancellation at the period's end.
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

/** A page of Stripe to redirect a user to. Anyone with the URL can open it. */
export const sessionSchema = z.object({ id: z.string(), url: z.url() });
