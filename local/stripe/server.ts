import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { guarded } from '../emulators/guard.ts';
import { apiRoutes } from './api.ts';
import { ApiError, invalidRequest } from './api-error.ts';
import { deliveries, type Endpoint } from './deliveries.ts';
import { parseForm } from './form.ts';
import { hostedPages } from './hosted-pages.ts';
import { idempotency } from './idempotency.ts';
import { lifecycle } from './lifecycle.ts';
import { openStore, type StripeEvent } from './store.ts';

export interface LocalStripeOptions {
  /** The key its callers send. */
  readonly apiKey: string;
  /** Where events go; without it they are kept, and go nowhere. */
  readonly endpoint?: Endpoint | undefined;
  /** Keeps everything from one run to the next. */
  readonly file?: string | undefined;
  /** 0, or none, for a free one. */
  readonly port?: number | undefined;
}

export interface LocalStripe {
  /** `http://127.0.0.1:PORT`: the API, and a page for people. */
  readonly url: string;
  /** All events so far, in the order they happened in. */
  events(): readonly Pick<StripeEvent, 'id' | 'type' | 'payload' | 'delivery'>[];
  stop(): Promise<void>;
}

const API_VERSION = '2026-10-28.endive';

/**
 * Stripe's API as far as this service uses it, with pages to click through, a clock to move, and signed webhooks that are sent
 * until they are taken. The `stripe` package talks to it as to Stripe.
 */
export const startLocalStripe = async (options: LocalStripeOptions): Promise<LocalStripe> => {
  const store = openStore(options.file);
  // Calls of the API have a key of their own, and the rest are pages for people.
  const access = { secretAccessKey: options.apiKey, isOpen: () => true };
  const server = createServer(guarded(access, (request, response) => void serve(request, response)));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sender = options.endpoint && deliveries(store, options.endpoint);

  const publish = (type: string, object: object): void => {
    const id = store.newId('evt');
    const created = store.now();
    const payload = JSON.stringify({
      id,
      object: 'event',
      api_version: API_VERSION,
      created,
      livemode: false,
      type,
      data: { object },
    });
    const event: StripeEvent = { id, type, payload, attempts: 0, delivery: 'pending' };
    store.events.push(event);
    // Usually after the response to the call that caused it; the order is no promise.
    if (sender) setImmediate(() => sender.send(event));
  };
  const life = lifecycle(store, url, publish);
  const routes = apiRoutes({ store, life, url }).map((route) => ({
    ...route,
    pattern: new RegExp(`^${route.path.replaceAll(':id', '([^/]+)')}$`),
  }));
  const once = idempotency();
  const pages = hostedPages(store, life);

  const callApi = (request: IncomingMessage, path: string, parameters: URLSearchParams) => {
    if (request.headers.authorization !== `Bearer ${options.apiKey}`)
      throw new ApiError(401, 'invalid_request_error', 'Invalid API Key provided.');
    for (const { method, pattern, respond } of routes) {
      const match = method === request.method && pattern.exec(path);
      if (!match) continue;
      const run = () => respond({ ids: match.slice(1), parameters: parseForm(parameters) });
      const key = request.headers['idempotency-key'];
      return method === 'POST'
        ? once(typeof key === 'string' ? key : undefined, `${path}?${parameters}`, run)
        : { body: run(), isReplay: false };
    }
    throw new ApiError(404, 'invalid_request_error', `Unrecognized request URL (${request.method}: ${path}).`);
  };

  const serveApi = (request: IncomingMessage, response: ServerResponse, path: string, parameters: URLSearchParams) => {
    const headers = { 'content-type': 'application/json', 'request-id': store.newId('req') };
    try {
      const { body, isReplay } = callApi(request, path, parameters);
      store.save();
      response
        .writeHead(200, { ...headers, ...(isReplay && { 'idempotent-replayed': 'true' }) })
        .end(JSON.stringify(body));
    } catch (error) {
      const known = error instanceof z.ZodError ? invalidRequest(z.prettifyError(error)) : error;
      if (!(known instanceof ApiError)) throw error;
      response.writeHead(known.status, headers).end(JSON.stringify(known.body));
    }
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      const { pathname, searchParams } = new URL(request.url ?? '/', url);
      const form = request.method === 'POST' ? new URLSearchParams(await text(request)) : undefined;
      if (pathname.startsWith('/v1/')) return serveApi(request, response, pathname, form ?? searchParams);
      const page = pages(pathname, form);
      store.save();
      if (page === undefined) response.writeHead(404).end('There is no such page.\n');
      else if ('redirect' in page) response.writeHead(303, { location: page.redirect }).end();
      else response.writeHead(page.status, { 'content-type': 'text/html; charset=utf-8' }).end(page.html);
    } catch (error) {
      console.error('Local Stripe failed:', error);
      if (!response.headersSent) response.writeHead(500);
      response.end();
    }
  };

  return {
    url,
    events: () => store.events,
    async stop() {
      await sender?.stop();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
};
