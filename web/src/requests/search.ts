import { viewParameters } from '../../../lambda/domain/accounts/saved-view.ts';
import type { RequestsQuery } from '../api/responses.ts';
import { oneOf } from '../search.ts';
import { textIn } from '../spend/filters.ts';

const KEYS = viewParameters.requests.filter((name) => name !== 'status' && name !== 'orderBy');

export type RequestsSearch = {
  readonly [Name in (typeof KEYS)[number] | 'status' | 'orderBy']?: RequestsQuery[Name] | undefined;
};

/** Orders of the list. All but the first are of the newest requests of the range only. */
export const orderNames = {
  time: 'Newest first',
  cost: 'Costliest',
  tokens: 'Most tokens',
  duration: 'Longest',
} as const;

/** Filters from the URL. The API checks their values; here they only have to be strings. */
export const requestsSearch = (search: Record<string, unknown>): RequestsSearch => {
  const texts = Object.fromEntries(KEYS.flatMap((key) => textIn(search[key]).map((text) => [key, text])));
  const status = Number(search['status']);
  const orderBy = oneOf(['cost', 'tokens', 'duration'])(search['orderBy']);
  return { ...texts, orderBy, status: status >= 100 && status <= 599 ? status : undefined };
};
