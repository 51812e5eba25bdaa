import type { RequestsQuery } from '../api/responses.ts';

const KEYS = [
  ...(['from', 'to', 'provider', 'model', 'tag', 'key', 'providerKey', 'outcome', 'provenance'] as const),
  ...(['client', 'session', 'agent'] as const),
] as const;

export type RequestsSearch = Pick<RequestsQuery, (typeof KEYS)[number] | 'status'>;

/** Filters from the URL. The API checks their values; here they only have to be strings. */
export const requestsSearch = (search: Record<string, unknown>): RequestsSearch => {
  const texts = Object.fromEntries(
    KEYS.flatMap((key) => (typeof search[key] === 'string' ? [[key, search[key]]] : [])),
  );
  const status = Number(search['status']);
  return { ...texts, ...(status >= 100 && status <= 599 ? { status } : {}) };
};
