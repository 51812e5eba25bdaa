import { type Context, Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { Lifecycle } from './lifecycle.ts';
import {
  type Checkout,
  type Customer,
  localPrices,
  newCheckout,
  newCustomer,
  newPortal,
  type Subscription,
} from './objects.ts';
import { find, type Store } from './store.ts';

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
export const stripeApi = (store: Store, life: Lifecycle, apiKey: string, origin: string) => {
  const api = new Hono();
  const customersByKey = new Map<string, Customer>();

  const liveCustomers = () => store.customers.filter(({ deleted }) => !deleted);

  api.use(async ({ req }, next) => {
    if (req.header('authorization') === `Bearer ${apiKey}`) await next();
    else throw new HTTPException(401, { message: 'Invalid API Key provided.' });
  });

  api.post('/customers', async (context) => {
    const given = new URLSearchParams(await context.req.text());
    // Concurrent checkouts of one account send the same key, so they get one customer.
    const key = context.req.header('idempotency-key') ?? '';
    const made = customersByKey.get(key);
    if (made) return context.json(made);
    const customer = newCustomer(store.now(), given.get('email'), given.get('name'), given.get('metadata[userId]'));
    store.customers.push(customer);
    customersByKey.set(key, customer);
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
