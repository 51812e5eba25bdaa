import { setTimeout as delay } from 'node:timers/promises';
import Stripe from 'stripe';
import type { StripeEvent } from './objects.ts';
import type { Store } from './store.ts';

/** Where events are sent to, and how. */
export interface Endpoint {
  readonly url: string;
  readonly signingSecret: string;
  /** Milliseconds before attempt `attempt + 1`; undefined to give up. */
  readonly retryDelayMs: (attempt: number) => number | undefined;
}

const TIMEOUT_MS = 20_000;

/** Sends events until they are taken with 2xx, each by itself: they overtake one another, as Stripe's do. */
export const deliveries = (store: Store, { url, signingSecret: secret, retryDelayMs }: Endpoint) => {
  const underWay = new Set<Promise<void>>();
  const ending = new AbortController();

  const isTaken = async (payload: string): Promise<boolean> => {
    const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret });
    const headers = { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': signature };
    const signal = AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ending.signal]);
    try {
      const response = await fetch(url, { method: 'POST', headers, body: payload, signal });
      await response.arrayBuffer();
      return response.ok;
    } catch {
      return false;
    }
  };

  const deliver = async (event: StripeEvent): Promise<void> => {
    for (let attempt = 1; event.delivery === 'pending'; attempt += 1) {
      const taken = await isTaken(event.payload);
      const retryMs = retryDelayMs(attempt);
      if (taken) event.delivery = 'delivered';
      else if (ending.signal.aborted) return;
      else if (retryMs === undefined) event.delivery = 'given up';
      // The end rejects it.
      else await delay(retryMs, undefined, { signal: ending.signal }).catch(() => {});
    }
    store.save();
  };

  const send = (event: StripeEvent): void => {
    const sending = deliver(event).finally(() => underWay.delete(sending));
    underWay.add(sending);
  };

  // An earlier run may have left some.
  for (const event of store.events.filter(({ delivery }) => delivery === 'pending')) send(event);

  return {
    send,
    async stop() {
      ending.abort();
      await Promise.all(underWay);
    },
  };
};
