import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { guarded } from '../emulators/guard.ts';
import { stripeApi } from './api.ts';
import { deliveries, type Endpoint } from './deliveries.ts';
import { lifecycle } from './lifecycle.ts';
import { hostedPages } from './pages.ts';
import { openStore } from './store.ts';

export interface LocalStripeOptions {
  /** The key that callers send. */
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
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
    },
  };
};
