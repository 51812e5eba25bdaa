import { z } from 'zod';
import { localPrices } from '../prices.ts';
import { customerJson, listOf, priceJson } from '../render.ts';
import { type ApiContext, type ApiRoute, find, liveCustomer, metadata } from './route.ts';

const customerParameters = z.object({ email: z.string().nullish(), name: z.string().nullish(), metadata });

export const customerRoutes = ({ store, life }: ApiContext): readonly ApiRoute[] => [
  {
    method: 'POST',
    path: '/v1/customers',
    respond: ({ parameters }) => {
      const { email = null, name = null, metadata: data } = customerParameters.parse(parameters);
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
  {
    method: 'GET',
    path: '/v1/customers/:id',
    respond: ({ ids: [id] }) => customerJson(find('customer', store.customers, id)),
  },
  {
    method: 'DELETE',
    path: '/v1/customers/:id',
    respond: ({ ids: [id] }) => {
      const found = liveCustomer(store, id);
      life.deleteCustomer(found);
      return customerJson(found);
    },
  },
  { method: 'GET', path: '/v1/prices', respond: () => listOf('/v1/prices', localPrices.map(priceJson)) },
  {
    method: 'GET',
    path: '/v1/prices/:id',
    respond: ({ ids: [id] }) => priceJson(find('price', localPrices, id)),
  },
];
