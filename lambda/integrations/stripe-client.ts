import { GetSecretValueCommand, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import Stripe from 'stripe';
import { MINUTE_MS } from '../domain/calendar/units.ts';
import { UnavailableError } from '../domain/errors.ts';

/** The text of a secret, cached for five minutes. */
export interface CachedSecret {
  read(): Promise<string>;
  /** Reads the secret again because the cached text failed: it may have been rotated. At most once in 30 s. */
  reread(): Promise<string>;
}

/** A revoked secret may be accepted for this long. */
const REMEMBERED_MS = 5 * MINUTE_MS;
/** Anyone can send a wrong signature, and not each one may cause a call to Secrets Manager. */
const REREAD_EVERY_MS = 30_000;

/** @param now milliseconds. By default the clock of the day, since others stand still while Lambda freezes the process */
export const cachedSecret = (
  client: Pick<SecretsManagerClient, 'send'>,
  secretId: string,
  now: () => number = () => Date.now(),
): CachedSecret => {
  let cached: { readonly text: string; readonly readAt: number } | undefined;
  let triedAt = Number.NEGATIVE_INFINITY;

  const fetch = async (): Promise<string> => {
    triedAt = now();
    const { SecretString: text } = await client.send(new GetSecretValueCommand({ SecretId: secretId }));
    if (text === undefined) throw new Error('The secret has no text.');
    cached = { text, readAt: now() };
    return text;
  };
  /** Keeps the cached text while the secret cannot be read. */
  const fetchOrCached = async (): Promise<string> => {
    const stale = cached;
    return stale === undefined ? fetch() : fetch().catch(() => stale.text);
  };
  const isAllowed = () => Math.abs(now() - triedAt) >= REREAD_EVERY_MS;

  return {
    read: async () => {
      if (cached === undefined) return fetch();
      return Math.abs(now() - cached.readAt) >= REMEMBERED_MS && isAllowed() ? fetchOrCached() : cached.text;
    },
    reread: async () => (cached === undefined || isAllowed() ? fetchOrCached() : cached.text),
  };
};

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
