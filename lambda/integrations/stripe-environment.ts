import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import * as z from 'zod/mini';
import { paidPlanNames, priceList } from '../domain/billing/price-list.ts';
import type { StripeEnvironment } from '../environment.ts';
import { stripeBilling } from './stripe-billing.ts';
import { stripeCaller } from './stripe-client.ts';
import { type CachedSecret, cachedSecret } from './stripe-secret.ts';

const parsedJson = z.pipe(
  z.string(),
  z.transform((json) => JSON.parse(json) as unknown),
);
const prices = z.pipe(
  z.partialRecord(z.enum(paidPlanNames), z.array(z.string().check(z.minLength(1)))),
  z.transform((priceIds) => priceList(priceIds)),
);

/** Environment variables of every function that calls Stripe. Parsed once, in the entry. */
export const stripeEnvironment = z.object({
  TABLE_NAME: z.string().check(z.minLength(1)),
  STRIPE_API_ORIGIN: z.url(),
  STRIPE_API_KEY_SECRET_ID: z.string().check(z.minLength(1)),
  STRIPE_PRICES: z.pipe(parsedJson, prices),
} satisfies Record<keyof StripeEnvironment, z.ZodMiniType>);

/** Has timeouts, because the SDK has none by default. */
const secretsManager = new SecretsManagerClient({
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 3_000, throwOnRequestTimeout: true },
});

export const openSecret = (secretId: string): CachedSecret => cachedSecret(secretsManager, secretId);

export const openStripe = (environment: z.infer<typeof stripeEnvironment>) =>
  stripeBilling(stripeCaller(environment.STRIPE_API_ORIGIN, openSecret(environment.STRIPE_API_KEY_SECRET_ID)));
