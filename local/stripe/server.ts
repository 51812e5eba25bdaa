import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import Stripe from 'stripe';
import { closeServer } from '../../lambda/gateway/hosts/http-server.ts';
import { guarded } from '../emulators/guard.ts';
import { type Lifecycle, lifecycle } from './lifecycle.ts';
import {
  type Checkout,
  type Customer,
  localPrices,
  newCheckout,
  newCustomer,
  newPortal,
  type StripeEvent,
  type Subscription,
} from './objects.ts';
import { hostedPages } from './pages.ts';
import { find, openStore, type Store } from './store.ts';

/** A page of a list, newest first. */
const pageOf = (objects: readonly Pick<Checkout | Subscription, 'id' | 'customer' | 'status'>[], { req }: Context) => {
  const { customer, status = 'all', limit = '10', starting_after: after } = req.query();
  const found = objects
    .filter((object) => customer === undefined || object.customer === customer)
    .filter((object) => status === 'all' || object.status === status)
    .toReversed();
  const start = found.findIndex(({ id }) => id === after) + 1;
  const end = start + Number(limit);
  return { object: 'list', data: found.slice(start, end), has_more: end < found.length };
};

/** The calls that our functions make, with the parameters and responses of the `stripe` package. Nested parameters have brackets in their names. */
const stripeApi = (store: Store, life: Lifecycle, apiKey: string, origin: string) => {
  const api = new Hono();
  const customersByKey = new Map<string, { readonly text: string; readonly customer: Customer }>();

  const liveCustomers = () => store.customers.filter(({ deleted }) => !deleted);

  api.use(async ({ req }, next) => {
    if (req.header('authorization') === `Bearer ${apiKey}`) await next();
    else throw new HTTPException(401, { message: 'Invalid API Key provided.' });
  });

  api.post('/customers', async (context) => {
    const text = await context.req.text();
    const given = new URLSearchParams(text);
    // Concurrent checkouts of one account send the same key, so they get one customer.
    const key = context.req.header('idempotency-key') ?? '';
    const made = customersByKey.get(key);
    if (made && made.text !== text) throw new HTTPException(400, { message: 'This key was used for another request.' });
    if (made) return context.json(made.customer);
    const customer = newCustomer(store.now(), given.get('email'), given.get('name'), given.get('metadata[userId]'));
    store.customers.push(customer);
    customersByKey.set(key, { text, customer });
    return context.json(customer);
  });

  api.get('/customers/:id', (context) => context.json(find(store.customers, context.req.param('id'))));

  api.delete('/customers/:id', (context) => {
    const customer = find(liveCustomers(), context.req.param('id'));
    life.deleteCustomer(customer);
    return context.json(customer);
  });

  api.get('/prices/:id', (context) => context.json(find(localPrices, context.req.param('id'))));

  api.get('/subscriptions', (context) => {
    const live = store.subscriptions.filter(({ status }) => status !== 'canceled');
    return context.json(pageOf(context.req.query('status') ? store.subscriptions : live, context));
  });

  api.get('/checkout/sessions', (context) => context.json(pageOf(store.checkouts, context)));

  api.post('/checkout/sessions', async (context) => {
    const given = new URLSearchParams(await context.req.text());
    const checkout = newCheckout(store.now(), origin, {
      customer: find(liveCustomers(), given.get('customer')).id,
      price: find(localPrices, given.get('line_items[0][price]')),
      client_reference_id: given.get('client_reference_id'),
      success_url: given.get('success_url') ?? '',
      cancel_url: given.get('cancel_url'),
    });
    store.checkouts.push(checkout);
    return context.json(checkout);
  });

  api.post('/checkout/sessions/:id/expire', (context) => {
    const checkout = find(store.checkouts, context.req.param('id'));
    if (checkout.status !== 'open') throw new HTTPException(400, { message: 'The checkout is not open.' });
    life.expire(checkout);
    return context.json(checkout);
  });

  api.post('/billing_portal/sessions', async (context) => {
    const given = new URLSearchParams(await context.req.text());
    const priceId = given.get('flow_data[subscription_update_confirm][items][0][price]');
    const doneUrl = given.get('flow_data[after_completion][redirect][return_url]') ?? '';
    const portal = newPortal(store.now(), origin, {
      customer: find(liveCustomers(), given.get('customer')).id,
      return_url: given.get('return_url') ?? '',
      change: priceId === null ? null : { price: find(localPrices, priceId), doneUrl },
    });
    store.portals.push(portal);
    return context.json(portal);
  });

  return api;
};

/** Where events are sent to, and how. */
interface Endpoint {
  readonly url: string;
  readonly signingSecret: string;
  /** Milliseconds before attempt `attempt + 1`; undefined to give up. */
  readonly retryDelayMs: (attempt: number) => number | undefined;
}

const TIMEOUT_MS = 20_000;

/** Sends events until they are taken with 2xx, each by itself: they overtake one another, as Stripe's do. */
const deliveries = (store: Store, { url, signingSecret: secret, retryDelayMs }: Endpoint) => {
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

export interface LocalStripeOptions {
  readonly apiKey: string;
  /** The webhook; without it, events go nowhere. */
  readonly endpoint?: Endpoint | undefined;
  /** Has everything for the next run. */
  readonly file?: string | undefined;
}

/**
 * Stripe's API as far as this service uses it, with pages to click through, a clock to move, and signed webhooks that are sent
 * until they are taken. The `stripe` package talks to it as to Stripe.
 *
 * @throws SetupError if another version has written the file
 */
export const startLocalStripe = async ({ apiKey, endpoint, file }: LocalStripeOptions) => {
  const store = openStore(file);
  const app = new Hono();
  // Calls of the API have a key of their own, and the rest are pages for people.
  const access = { secretAccessKey: apiKey, isOpen: () => true };
  const server = createServer(guarded(access, getRequestListener(app.fetch)));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sender = endpoint && deliveries(store, endpoint);
  const life = lifecycle(store, (event) => sender?.send(event));

  app.use(async (_, next) => {
    await next();
    store.save();
  });
  app.route('/v1', stripeApi(store, life, apiKey, url));
  app.route('/', hostedPages(store, life));
  app.all('*', ({ req }) => {
    throw new HTTPException(404, { message: `Unrecognized request URL (${req.method}: ${req.path}).` });
  });
  app.onError((error, context) => {
    const status = error instanceof HTTPException ? error.status : 500;
    if (status === 500) console.error('Local Stripe failed:', error);
    return context.json({ error: { type: 'invalid_request_error', message: error.message } }, status);
  });

  return {
    /** `http://127.0.0.1:PORT`: the API, and a page for people. */
    url,
    /** All events so far, in the order they happened in. */
    events: () => store.events,
    async stop(): Promise<void> {
      await sender?.stop();
      await closeServer(server, 0);
    },
  };
};
