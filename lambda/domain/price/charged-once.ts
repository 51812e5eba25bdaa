import { BILLABLE } from '../usage/billable-items.ts';
import { count } from '../usage/raw.ts';
import type { PriceableRequest } from './request-rates.ts';

/** Paths whose answers come page by page, by a query string that is not kept. */
const PAGED = /\/batches\/[^/]+\/results$/;

/**
 * What an answer that can be fetched again is to be counted once by: its id, or the path that batch results and answers made
 * elsewhere are fetched from. Null for all other requests, which are counted as they come. Unique by account and provider.
 */
export const countedOnceBy = ({ method, path, reading }: PriceableRequest): string | null => {
  const { dialect, usage, billableItems } = reading;
  if (method === 'GET' && (dialect.endsWith('-batch-output') || dialect === 'async-result')) {
    if (!PAGED.test(path) || dialect === 'anthropic-batch-output') return path;
    // Pages differ in what they sum up to.
    return `${path} ${count(usage?.['prompt_tokens'])}+${count(usage?.['completion_tokens'])}`;
  }
  const id = billableItems[BILLABLE.responseId];
  return typeof id === 'string' ? id : null;
};
