import * as z from 'zod/mini';
import { type PlanPrice, priceIntervals } from '../domain/billing/price-list.ts';
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
    schedule: z.nullish(reference),
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
    ({ id, customer, status, created, cancel_at, cancel_at_period_end, schedule, items }): CustomerSubscription => ({
      id,
      customerId: customer,
      status,
      createdAt: created,
      isEnding: cancel_at !== null || cancel_at_period_end,
      isScheduled: Boolean(schedule),
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

/** Digits after the point in Stripe's minor units, where they are not two. @see https://docs.stripe.com/currencies#minor-units */
const minorDigits: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    'BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' ').map((code) => [code, 0]),
  ),
  ...Object.fromEntries('BHD JOD KWD OMR TND'.split(' ').map((code) => [code, 3])),
};
/** Stripe's list has it without digits, its special cases with two. */
const AMBIGUOUS = 'UGX';

const decimal = (amountMinor: number, currency: string): string => {
  const digits = minorDigits[currency] ?? 2;
  const text = String(amountMinor).padStart(digits + 1, '0');
  return digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`;
};

/** A price that a new subscription can have, as one amount for each interval; null for any other. */
export const priceSchema = z.pipe(
  z.object({
    active: z.boolean(),
    currency: z.string(),
    /** Null for tiers, and for amounts below the minor unit. */
    unit_amount: z.nullable(z.int()),
    recurring: z.nullable(
      z.object({ interval: z.enum(priceIntervals), interval_count: z.int(), usage_type: z.string() }),
    ),
  }),
  z.transform(({ active, currency: code, unit_amount: amountMinor, recurring }): PlanPrice | null => {
    const currency = code.toUpperCase();
    if (!active || amountMinor === null || recurring?.usage_type !== 'licensed' || currency === AMBIGUOUS) return null;
    const { interval, interval_count: intervalCount } = recurring;
    return { amountMinor, amount: decimal(amountMinor, currency), currency, interval, intervalCount };
  }),
);

export const customerSchema = z.object({ id: z.string(), deleted: z._default(z.boolean(), false) });

/** A page of Stripe to redirect a user to. Anyone with the URL can open it. */
export const sessionSchema = z.object({ id: z.string(), url: z.url() });
