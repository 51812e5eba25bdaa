import { z } from 'zod';
import { missing } from '../api-error.ts';
import { invoiceJson, listOf, subscriptionJson } from '../render.ts';
import type { Subscription } from '../store.ts';
import { type ApiContext, type ApiRoute, find, knownPrice, page, paged } from './route.ts';

const listParameters = z.object({ ...page, customer: z.string().optional(), status: z.string().optional() });
const updateParameters = z.object({
  cancel_at_period_end: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional(),
  items: z.array(z.object({ id: z.string(), price: z.string() })).optional(),
});
const invoicesParameters = z.object(page);

export const subscriptionRoutes = ({ store, life }: ApiContext): readonly ApiRoute[] => {
  const subscription = (id: string | undefined): Subscription => find('subscription', store.subscriptions, id);
  return [
    {
      method: 'GET',
      path: '/v1/subscriptions',
      respond: ({ parameters }) => {
        const { customer: of, status, ...range } = listParameters.parse(parameters);
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
      respond: ({ ids: [id] }) => subscriptionJson(store, subscription(id)),
    },
    {
      method: 'POST',
      path: '/v1/subscriptions/:id',
      respond: ({ ids: [id], parameters }) => {
        const found = subscription(id);
        const { cancel_at_period_end: isEnding, items } = updateParameters.parse(parameters);
        if (isEnding !== undefined) life.cancelAtPeriodEnd(found, isEnding);
        if (items?.[0]) life.changePrice(found, knownPrice(items[0].price));
        return subscriptionJson(store, found);
      },
    },
    {
      method: 'DELETE',
      path: '/v1/subscriptions/:id',
      respond: ({ ids: [id] }) => {
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
        respond: ({ ids: [id] }) => {
          const found = subscription(id);
          life[action](found);
          return subscriptionJson(store, found);
        },
      }),
    ),
    {
      method: 'GET',
      path: '/v1/invoices',
      respond: ({ parameters }) => {
        const { items, hasMore } = paged(store.invoices, invoicesParameters.parse(parameters));
        return listOf('/v1/invoices', items.map(invoiceJson), hasMore);
      },
    },
  ];
};
