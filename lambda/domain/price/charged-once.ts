import { EXTRA } from '../usage/extras.ts';
import type { PriceableRequest } from './request-rates.ts';

/**
 * What an answer that can be fetched again is to be counted once by: the background answer's id, the batch's file. Null for all
 * other requests, which are counted as they come. The first fetch that reports usage is charged; later ones are free.
 */
export const chargedOnceKey = ({ provider, method, path, reading }: PriceableRequest): string | null => {
  if (method !== 'GET' || reading.usage === null) return null;
  if (reading.dialect.endsWith('-batch-output')) return `${provider}${path}`;
  const id = reading.extras[EXTRA.responseId];
  return typeof id === 'string' ? `${provider}/${id}` : null;
};
