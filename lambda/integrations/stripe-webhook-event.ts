import Stripe from 'stripe';
import * as z from 'zod/mini';
import { ValidationError } from '../domain/errors.ts';
import type { CachedSecret } from './stripe-client.ts';
import { reference } from './stripe-objects.ts';

/** An older signed event may be a replay. Stripe signs an event again each time it sends it. */
const TOLERANCE_SECONDS = 300;

/** An event without its data, because the current state is read from Stripe. */
export interface StripeEvent {
  readonly id: string;
  readonly type: string;
  /** The customer of the event; undefined if it has none. */
  readonly customerId: string | undefined;
}

const eventSchema = z.object({
  id: z.string(),
  type: z.string(),
  data: z.object({
    object: z.object({ id: z.optional(z.string()), object: z.string(), customer: z.nullish(reference) }),
  }),
});

const invalid = (message: string) => new ValidationError([{ path: 'Stripe-Signature', message }], message);

/** The form of Stripe's header. Its library throws errors without a type, or compares characters with bytes, where it differs. */
const SIGNATURE = /^t=\d+(,\w+=[0-9a-f]{64})+$/;

const isSignedWith = (body: Buffer, signature: string, secret: string, receivedAt: number): boolean => {
  try {
    const { signature: verifier } = Stripe.webhooks;
    return verifier?.verifyHeader(body, signature, secret, TOLERANCE_SECONDS, undefined, receivedAt) === true;
  } catch (error) {
    if (error instanceof Stripe.errors.StripeSignatureVerificationError) return false;
    throw error;
  }
};

/** One secret, or two during a rotation, separated by whitespace or a comma. */
const secretsIn = (text: string): string[] => text.split(/[\s,]+/).filter((secret) => secret.startsWith('whsec_'));

/**
 * Reads events that Stripe has signed.
 *
 * @param secrets the endpoint's signing secrets
 * @param now epoch milliseconds
 */
export const stripeEventReader = (secrets: CachedSecret, now: () => number = Date.now) => {
  const isSigned = (body: Buffer, signature: string, text: string): boolean =>
    secretsIn(text).some((secret) => isSignedWith(body, signature, secret, now()));

  /**
   * @param body the bytes as sent
   * @throws ValidationError if the signature is not Stripe's or too old, or the event has no object
   */
  return async (body: Buffer, signature: string | undefined): Promise<StripeEvent> => {
    if (signature === undefined || !SIGNATURE.test(signature) || body.length === 0)
      throw invalid('The event must be signed by Stripe.');
    const known = await secrets.read();
    if (!isSigned(body, signature, known)) {
      const read = await secrets.reread();
      if (read === known || !isSigned(body, signature, read))
        throw invalid('The signature is not valid, or older than five minutes.');
    }
    const { data: event } = eventSchema.safeParse(JSON.parse(body.toString('utf8')));
    if (!event) throw invalid('An event must have its object: let the endpoint get snapshot events, not thin ones.');
    const { id, type } = event;
    const { object } = event.data;
    return { id, type, customerId: (object.object === 'customer' ? object.id : object.customer) ?? undefined };
  };
};

export type ReadStripeEvent = ReturnType<typeof stripeEventReader>;
