import { z } from 'zod';
import { DAY_SECONDS } from '../../../lambda/domain/calendar/units.ts';
import { invalidRequest } from '../api-error.ts';
import { checkoutJson, listOf, portalJson } from '../render.ts';
import type { Checkout, PortalSession } from '../store.ts';
import { type ApiContext, type ApiRoute, find, knownPrice, liveCustomer, metadata, page, paged } from './route.ts';

const CHECKOUT_SECONDS = DAY_SECONDS;

const checkoutParameters = z.object({
  mode: z.literal('subscription'),
  customer: z.string(),
  line_items: z.tuple([z.object({ price: z.string(), quantity: z.literal('1') })]),
  success_url: z.url(),
  cancel_url: z.url().optional(),
  client_reference_id: z.string().optional(),
  metadata,
  subscription_data: z.object({ metadata }).default({ metadata: {} }),
});
const listParameters = z.object({ ...page, customer: z.string().optional(), status: z.string().optional() });
const portalParameters = z.object({
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
});

/** Sessions of the hosted pages. */
export const sessionRoutes = ({ store, life, url }: ApiContext): readonly ApiRoute[] => {
  const openCheckout = (id: string | undefined): Checkout => {
    const found = find('checkout.session', store.checkouts, id);
    if (found.status !== 'open') throw invalidRequest('Only Checkout Sessions with a status of `open` can be expired.');
    return found;
  };
  return [
    {
      method: 'POST',
      path: '/v1/checkout/sessions',
      respond: ({ parameters }) => {
        const given = checkoutParameters.parse(parameters);
        const made: Checkout = {
          id: store.newId('cs_test'),
          created: store.now(),
          expiresAt: store.now() + CHECKOUT_SECONDS,
          customer: liveCustomer(store, given.customer).id,
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
      respond: ({ parameters }) => {
        const { customer: of, status, ...range } = listParameters.parse(parameters);
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
      respond: ({ ids: [id] }) => checkoutJson(url, find('checkout.session', store.checkouts, id)),
    },
    {
      method: 'POST',
      path: '/v1/checkout/sessions/:id/expire',
      respond: ({ ids: [id] }) => {
        const found = openCheckout(id);
        life.expire(found);
        return checkoutJson(url, found);
      },
    },
    {
      method: 'POST',
      path: '/v1/billing_portal/sessions',
      respond: ({ parameters }) => {
        const { customer: of, return_url: returnUrl, flow_data: flow } = portalParameters.parse(parameters);
        const confirm = flow?.subscription_update_confirm;
        const made: PortalSession = {
          id: store.newId('bps'),
          created: store.now(),
          customer: liveCustomer(store, of).id,
          returnUrl,
          change: confirm
            ? {
                subscription: find('subscription', store.subscriptions, confirm.subscription).id,
                price: knownPrice(confirm.items[0].price),
                doneUrl: flow.after_completion.redirect.return_url,
              }
            : null,
        };
        store.portals.push(made);
        return portalJson(url, made);
      },
    },
  ];
};
