import Stripe from 'stripe';
import { UnavailableError } from '../domain/errors.ts';
import type { CachedSecret } from './stripe-secret.ts';

/** The API version that the schemas were written for. The types of the stripe package have the same version, so its upgrade fails to compile here. */
export const STRIPE_API_VERSION = '2026-10-28.endive';

/** Shorter than the timeouts of Stripe's webhook sender (about 20 s) and API Gateway (29 s). */
const TIMEOUT_MS = 8_000;

/** Stripe rejected a call. Contains the fields to search Stripe's log by, and nothing of the request or the response. */
export class StripeCallError extends Error {
  override readonly name = 'StripeCallError';
  readonly status: number | undefined;
  readonly code: string | undefined;

  constructor({ type, code, statusCode, requestId }: InstanceType<typeof Stripe.errors.StripeError>) {
    super(
      `Stripe responded with ${statusCode ?? 'nothing'}: ${type}${code ? ` ${code}` : ''}, request ${requestId ?? 'unknown'}`,
    );
    this.status = statusCode;
    this.code = code;
  }
}

const { StripeError, StripeAPIError, StripeAuthenticationError, StripeConnectionError, StripeRateLimitError } =
  Stripe.errors;

const mapError = (error: unknown): unknown => {
  if (!(error instanceof StripeError)) return error;
  const cause = new StripeCallError(error);
  const isTransient = [StripeAPIError, StripeConnectionError, StripeRateLimitError].some(
    (type) => error instanceof type,
  );
  return isTransient
    ? new UnavailableError('The payment processor does not respond. Try again in a minute.', { cause })
    : cause;
};

/**
 * Makes a call with Stripe's package.
 *
 * @throws UnavailableError if Stripe does not respond or limits the rate
 * @throws StripeCallError if it rejects the call
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
    // The package repeats a call with the same idempotency key.
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
      if (!(error instanceof StripeAuthenticationError)) throw mapError(error);
      const renewed = withKey(await apiKey.reread());
      if (renewed === stripe) throw mapError(error);
      return use(renewed).catch((again: unknown) => {
        throw mapError(again);
      });
    }
  };
};
