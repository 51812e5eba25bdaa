import { z } from 'zod';
import { invalidRequest, missing } from './api-error.ts';
import type { Lifecycle } from './lifecycle.ts';
import { localPrices } from './prices.ts';
import { checkoutJson, customerJson, invoiceJson, listOf, portalJson, priceJson, subscriptionJson } from './render.ts';
import type { Checkout, PortalSession, Store, Subscription } from './store.ts';

/** What the `stripe` package is given and what it is answered, for the calls that billing makes and those that tests make beside. */

interface Call {
  /** Of the path, in its order. */
  readonly ids: readonly string[];
  readonly parameters: unknown;
}

interface ApiRoute {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** `:id` stands for an id. */
  readonly path: string;
  readonly answer: (call: Call) => object;
}

const CHECKOUT_SECONDS = 86_400;
const CLOCK = 'clock_local';

const metadata = z.record(z.string(), z.string()).default({});
const page = {
  limit: z.coerce.number().int().min(1).max(100).default(10),
  starting_after: z.string().optional(),
};
const bool = z.enum(['true', 'false']).transform((text) => text === 'true');

const schemas = {
  customer: z.object({ email: z.string().nullish(), name: z.string().nullish(), metadata }),
  subscriptions: z.object({ ...page, customer: z.string().optional(), status: z.string().optional() }),
  subscriptionUpdate: z.object({
    cancel_at_period_end: bool.optional(),
    items: z.array(z.object({ id: z.string(), price: z.string() })).optional(),
  }),
  checkout: z.object({
    mode: z.literal('subscription'),
    customer: z.string(),
    line_items: z.tuple([z.object({ price: z.string(), quantity: z.literal('1') })]),
    success_url: z.url(),
    cancel_url: z.url().optional(),
    client_reference_id: z.string().optional(),
    metadata,
    subscription_data: z.object({ metadata }).default({ metadata: {} }),
  }),
  checkouts: z.object({ ...page, customer: z.string().optional(), status: z.string().optional() }),
  portal: z.object({
    customer: z.string(),
    return_url: z.url(),
    flow_data: z
      .object({
        type: z.literal('subscription_update_confirm'),
        subscription_update_confirm: z.object({
          subscription: z.string(),
          items: z.tuple([z.object({ id: z.string(), price: z.string() })]),
        }),
        after_completion: z.object({ redirect: z.object({ return_url: z.url() }) }),
      })
      .optional(),
  }),
  list: z.object(page),
  advance: z.object({ frozen_time: z.coerce.number().int() }),
};

const paged = <T extends { readonly id: string }>(
  items: readonly T[],
  { limit, starting_after: after }: { limit: number; starting_after?: string | undefined },
): { readonly items: T[]; readonly hasMore: boolean } => {
  // Newest first.
  const all = items.toReversed();
  const start = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1;
  return { items: all.slice(start, start + limit), hasMore: start + limit < all.length };
};

/** @param url where the hosted pages are */
export const apiRoutes = (store: Store, life: Lifecycle, url: string): readonly ApiRoute[] => {
  const find = <T extends { readonly id: string }>(what: string, items: readonly T[], id: string | undefined): T => {
    const found = items.find((item) => item.id === id);
    if (found === undefined) throw missing(what, id ?? '');
    return found;
  };
  const customer = (id: string | undefined) => find('customer', store.customers, id);
  const liveCustomer = (id: string) => {
    const found = customer(id);
    if (found.isDeleted) throw missing('customer', id);
    return found;
  };
  const knownPrice = (id: string) => find('price', localPrices, id).id;
  const subscription = (id: string | undefined): Subscription => find('subscription', store.subscriptions, id);
  const openCheckout = (id: string | undefined): Checkout => {
    const found = find('checkout.session', store.checkouts, id);
    if (found.status !== 'open') throw invalidRequest('Only Checkout Sessions with a status of `open` can be expired.');
    return found;
  };
  const clock = () => ({
    id: CLOCK,
    object: 'test_helpers.test_clock',
    frozen_time: store.now(),
    status: 'ready',
    livemode: false,
  });

  return [
    {
      method: 'POST',
      path: '/v1/customers',
      answer: ({ parameters }) => {
        const { email = null, name = null, metadata: data } = schemas.customer.parse(parameters);
        const made = {
          id: store.newId('cus'),
          created: store.now(),
          email,
          name,
          metadata: data,
          isDeleted: false,
          card: null,
        };
        store.customers.push(made);
        return customerJson(made);
      },
    },
    { method: 'GET', path: '/v1/customers/:id', answer: ({ ids: [id] }) => customerJson(customer(id)) },
    {
      method: 'DELETE',
      path: '/v1/customers/:id',
      answer: ({ ids: [id = ''] }) => {
        const found = liveCustomer(id);
        life.deleteCustomer(found);
        return customerJson(found);
      },
    },
    { method: 'GET', path: '/v1/prices', answer: () => listOf('/v1/prices', localPrices.map(priceJson)) },
    {
      method: 'GET',
      path: '/v1/prices/:id',
      answer: ({ ids: [id] }) => priceJson(find('price', localPrices, id)),
    },
    {
      method: 'GET',
      path: '/v1/subscriptions',
      answer: ({ parameters }) => {
        const { customer: of, status, ...range } = schemas.subscriptions.parse(parameters);
        const isWanted = (found: Subscription) =>
          (of === undefined || found.customer === of) &&
          (status === 'all' || (status === undefined ? found.status !== 'canceled' : found.status === status));
        const { items, hasMore } = paged(store.subscriptions.filter(isWanted), range);
        return listOf(
          '/v1/subscriptions',
          items.map((item) => subscriptionJson(store, item)),
          hasMore,
        );
      },
    },
    {
      method: 'GET',
      path: '/v1/subscriptions/:id',
      answer: ({ ids: [id] }) => subscriptionJson(store, subscription(id)),
    },
    {
      method: 'POST',
      path: '/v1/subscriptions/:id',
      answer: ({ ids: [id], parameters }) => {
        const found = subscription(id);
        const { cancel_at_period_end: isEnding, items } = schemas.subscriptionUpdate.parse(parameters);
        if (isEnding !== undefined) life.cancelAtPeriodEnd(found, isEnding);
        if (items?.[0]) life.changePrice(found, knownPrice(items[0].price));
        return subscriptionJson(store, found);
      },
    },
    {
      method: 'DELETE',
      path: '/v1/subscriptions/:id',
      answer: ({ ids: [id] }) => {
        const found = subscription(id);
        if (found.status === 'canceled') throw missing('subscription', found.id);
        life.cancel(found);
        return subscriptionJson(store, found);
      },
    },
    ...(['pause', 'resume'] as const).map(
      (action): ApiRoute => ({
        method: 'POST',
        path: `/v1/subscriptions/:id/${action}`,
        answer: ({ ids: [id] }) => {
          const found = subscription(id);
          life[action](found);
          return subscriptionJson(store, found);
        },
      }),
    ),
    {
      method: 'GET',
      path: '/v1/invoices',
      answer: ({ parameters }) => {
        const { items, hasMore } = paged(store.invoices, schemas.list.parse(parameters));
        return listOf('/v1/invoices', items.map(invoiceJson), hasMore);
      },
    },
    {
      method: 'POST',
      path: '/v1/checkout/sessions',
      answer: ({ parameters }) => {
        const given = schemas.checkout.parse(parameters);
        const made: Checkout = {
          id: store.newId('cs_test'),
          created: store.now(),
          expiresAt: store.now() + CHECKOUT_SECONDS,
          customer: liveCustomer(given.customer).id,
          price: knownPrice(given.line_items[0].price),
          successUrl: given.success_url,
          cancelUrl: given.cancel_url ?? null,
          clientReferenceId: given.client_reference_id ?? null,
          metadata: given.metadata,
          subscriptionMetadata: given.subscription_data.metadata,
          status: 'open',
          subscription: null,
        };
        store.checkouts.push(made);
        return checkoutJson(url, made);
      },
    },
    {
      method: 'GET',
      path: '/v1/checkout/sessions',
      answer: ({ parameters }) => {
        const { customer: of, status, ...range } = schemas.checkouts.parse(parameters);
        const { items, hasMore } = paged(
          store.checkouts.filter(
            (found) => (of === undefined || found.customer === of) && (status === undefined || found.status === status),
          ),
          range,
        );
        return listOf(
          '/v1/checkout/sessions',
          items.map((item) => checkoutJson(url, item)),
          hasMore,
        );
      },
    },
    {
      method: 'GET',
      path: '/v1/checkout/sessions/:id',
      answer: ({ ids: [id] }) => checkoutJson(url, find('checkout.session', store.checkouts, id)),
    },
    {
      method: 'POST',
      path: '/v1/checkout/sessions/:id/expire',
      answer: ({ ids: [id] }) => {
        const found = openCheckout(id);
        life.expire(found);
        return checkoutJson(url, found);
      },
    },
    {
      method: 'POST',
      path: '/v1/billing_portal/sessions',
      answer: ({ parameters }) => {
        const { customer: of, return_url: returnUrl, flow_data: flow } = schemas.portal.parse(parameters);
        const confirm = flow?.subscription_update_confirm;
        const made: PortalSession = {
          id: store.newId('bps'),
          created: store.now(),
          customer: liveCustomer(of).id,
          returnUrl,
          change: confirm
            ? {
                subscription: subscription(confirm.subscription).id,
                price: knownPrice(confirm.items[0].price),
                doneUrl: flow.after_completion.redirect.return_url,
              }
            : null,
        };
        store.portals.push(made);
        return portalJson(url, made);
      },
    },
    {
      method: 'GET',
      path: '/v1/events',
      answer: ({ parameters }) => {
        const { items, hasMore } = paged(store.events, schemas.list.parse(parameters));
        return listOf(
          '/v1/events',
          items.map(({ payload }) => JSON.parse(payload) as object),
          hasMore,
        );
      },
    },
    // One clock for everything: Stripe has one for each test customer.
    { method: 'GET', path: `/v1/test_helpers/test_clocks/${CLOCK}`, answer: clock },
    {
      method: 'POST',
      path: `/v1/test_helpers/test_clocks/${CLOCK}/advance`,
      answer: ({ parameters }) => {
        life.advanceTo(schemas.advance.parse(parameters).frozen_time);
        return clock();
      },
    },
  ];
};
