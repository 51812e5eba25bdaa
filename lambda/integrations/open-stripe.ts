import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type * as z from 'zod/mini';
import type { stripeEnvironment } from '../environment.ts';
import { stripeBilling } from './stripe-billing.ts';
import { type CachedSecret, cachedSecret, stripeCaller } from './stripe-client.ts';

/** Has timeouts, because the SDK has none by default. */
const secretsManager = new SecretsManagerClient({
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 3_000, throwOnRequestTimeout: true },
});

export const openSecret = (secretId: string): CachedSecret => cachedSecret(secretsManager, secretId);

export const openStripe = (environment: z.infer<typeof stripeEnvironment>) =>
  stripeBilling(stripeCaller(environment.STRIPE_API_ORIGIN, openSecret(environment.STRIPE_API_KEY_SECRET_ID)));
