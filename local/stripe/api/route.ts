import { z } from 'zod';
import { missing } from '../api-error.ts';
import type { Lifecycle } from '../lifecycle.ts';
import { localPrices } from '../prices.ts';
import type { Customer, Store } from '../store.ts';

interface Call {
  /** Of the path, in its order. */
  readonly ids: readonly string[];
  readonly parameters: unknown;
}

/** A call that the `stripe` package makes, and its response. */
export interface ApiRoute {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** `:id` stands for an id. */
  readonly path: string;
  readonly respond: (call: Call) => object;
}

export interface ApiContext {
  readonly store: Store;
  readonly life: Lifecycle;
  /** Where the hosted pages are. */
  readonly url: string;
}

export const metadata = z.record(z.string(), z.string()).default({});
export const page = {
  limit: z.coerce.number().int().min(1).max(100).default(10),
  starting_after: z.string().optional(),
};

/** A page of a list, newest first. */
export const paged = <T extends { readonly id: string }>(
  items: readonly T[],
  { limit, starting_after: after }: { limit: number; starting_after?: string | undefined },
): { readonly items: T[]; readonly hasMore: boolean } => {
  const all = items.toReversed();
  const start = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1;
  return { items: all.slice(start, start + limit), hasMore: start + limit < all.length };
};

/** @throws ApiError as Stripe does, where there is none */
export const find = <T extends { readonly id: string }>(
  what: string,
  items: readonly T[],
  id: string | undefined,
): T => {
  const found = items.find((item) => item.id === id);
  if (found === undefined) throw missing(what, id ?? '');
  return found;
};

export const liveCustomer = (store: Store, id: string | undefined): Customer => {
  const found = find('customer', store.customers, id);
  if (found.isDeleted) throw missing('customer', found.id);
  return found;
};

export const knownPrice = (id: string): string => find('price', localPrices, id).id;
