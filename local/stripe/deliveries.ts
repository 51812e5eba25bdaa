import { createHmac } from 'node:crypto';
import type { Store, StripeEvent } from './store.ts';

/** Where events are sent to, and how. */
export interface Endpoint {
  readonly url: string;
  /** Signing secrets: two while one replaces the other, as at Stripe. */
  readonly secrets: readonly string[];
  /** Milliseconds before attempt `attempt + 1`; undefined to give up. Stripe's own stretch over three days. */
  readonly retryDelayMs: (attempt: number) => number | undefined;
}

const TIMEOUT_MS = 20_000;

/** `t={epoch seconds},v1={HMAC-SHA-256 of "t.payload"}`, one v1 for each secret. @see https://docs.stripe.com/webhooks#verify-manually */
const signature = (payload: string, secrets: readonly string[]): string => {
  const t = Math.floor(Date.now() / 1_000);
  const signed = secrets.map((secret) => `v1=${createHmac('sha256', secret).update(`${t}.${payload}`).digest('hex')}`);
  return [`t=${t}`, ...signed].join(',');
};

const isTaken = async (event: StripeEvent, { url, secrets }: Endpoint, ending: AbortSignal): Promise<boolean> => {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'user-agent': 'Stripe/1.0 (local)',
        'stripe-signature': signature(event.payload, secrets),
      },
      body: event.payload,
      signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ending]),
    });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
};

/** Sends events until they are taken with 2xx, each by itself: they overtake one another, as Stripe's do. */
export const deliveries = (store: Store, endpoint: Endpoint) => {
  const timers = new Set<NodeJS.Timeout>();
  const underWay = new Set<Promise<void>>();
  const ending = new AbortController();

  const attempt = async (event: StripeEvent): Promise<void> => {
    event.attempts += 1;
    const taken = await isTaken(event, endpoint, ending.signal);
    if (ending.signal.aborted) return;
    const delay = endpoint.retryDelayMs(event.attempts);
    if (taken) event.delivery = 'delivered';
    else if (delay === undefined) event.delivery = 'undelivered';
    else {
      const timer = setTimeout(() => {
        timers.delete(timer);
        send(event);
      }, delay);
      timers.add(timer);
    }
    store.save();
  };

  const send = (event: StripeEvent): void => {
    const sending = attempt(event).finally(() => underWay.delete(sending));
    underWay.add(sending);
  };

  // Of an earlier run.
  for (const event of store.events) if (event.delivery === 'pending') send(event);

  return {
    send,
    async stop() {
      ending.abort();
      for (const timer of timers) clearTimeout(timer);
      await Promise.all(underWay);
    },
  };
};
