import Stripe from 'stripe';
import { UnavailableError } from '../domain/errors.ts';
import type { CachedSecret } from './stripe-secret.ts';

/** What our schemas were written against. The package's types are those of this version, so an upgrade of it shows here. */
export const STRIPE_API_VERSION = '2026-10-28.endive';

/** The webhook's sender waits some 20 s, API Gateway 29 s. */
const TIMEOUT_MS = 8_000;

/** Stripe refused a call. Holds what Stripe's log is searched by, and nothing of the request or the answer. */
export class StripeCallError extends Error {
  override readonly name = 'StripeCallError';
  readonly status: number | undefined;
  readonly code: string | undefined;

  constructor({ type, code, statusCode, requestId }: InstanceType<typeof Stripe.errors.StripeError>) {
    super(
      `Stripe answered ${statusCode ?? 'nothing'}: ${type}${code ? ` ${code}` : ''}, request ${requestId ?? 'unknown'}`,
    );
    this.status = statusCode;
    this.code = code;
  }
}

const { StripeError, StripeAPIError, StripeAuthenticationError, StripeConnectionError, StripeRateLimitError } =
  Stripe.errors;

const named = (error: unknown): unknown => {
  if (!(error instanceof StripeError)) return error;
  const cause = new StripeCallError(error);
  const passes = [StripeAPIError, StripeConnectionError, StripeRateLimitError].some((type) => error instanceof type);
  return passes
    ? new UnavailableError('The payment processor does not answer. Try again in a minute.', { cause })
    : cause;
};

/**
 * Makes calls with Stripe's own package.
 *
 * @throws UnavailableError where Stripe does not answer or is at its limit
 * @throws StripeCallError where it refuses
 */
export type StripeCall = <T>(use: (stripe: Stripe) => Promise<T>) => Promise<T>;

const clientOf = (origin: string, apiKey: string): Stripe => {
  const { protocol, hostname, port } = new URL(origin);
  return new Stripe(apiKey, {
    apiVersion: STRIPE_API_VERSION,
    host: hostname,
    port: port || (protocol === 'http:' ? 80 : 443),
    protocol: protocol === 'http:' ? 'http' : 'https',
    timeout: TIMEOUT_MS,
    // Repeated with the same idempotency key.
    maxNetworkRetries: 1,
    telemetry: false,
  });
};

/** @param origin of the API, `https://api.stripe.com` */
export const stripeCaller = (origin: string, apiKey: CachedSecret): StripeCall => {
  let client: { readonly key: string; readonly stripe: Stripe } | undefined;
  const withKey = (text: string): Stripe => {
    const key = text.trim();
    if (client?.key !== key) client = { key, stripe: clientOf(origin, key) };
    return client.stripe;
  };

  return async (use) => {
    const stripe = withKey(await apiKey.read());
    try {
      return await use(stripe);
    } catch (error) {
      if (!(error instanceof StripeAuthenticationError)) throw named(error);
      const renewed = withKey(await apiKey.reread());
      if (renewed === stripe) throw named(error);
      return use(renewed).catch((again: unknown) => {
        throw named(again);
      });
    }
  };
};
