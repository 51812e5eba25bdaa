import { BILLABLE } from '../usage/billable-items.ts';
import { count } from '../usage/raw.ts';
import type { PriceableRequest } from './request-rates.ts';

/** The status of a batch of Anthropic with charged results, which are elsewhere: SDKs fetch them from an absolute address. */
const isEndedBatch = ({ billableItems }: PriceableRequest['reading']): boolean =>
  Number(billableItems[BILLABLE.batchSucceeded]) > 0;

/** True where a batch is charged, and another response has its results: of its status, and of results that did not arrive whole. */
export const lacksResults = (reading: PriceableRequest['reading']): boolean =>
  isEndedBatch(reading) || (reading.dialect.endsWith('-batch-output') && reading.usage !== null && !reading.complete);

/** Paths whose responses have pages, by a query string that is not recorded. */
const PAGED = /\/batches\/[^/]+\/results$/;

/**
 * The name by which a response that can be fetched again is counted once: its id, or the path of batch results and asynchronous
 * responses. Null for all other requests: each of them counts. Unique within an account and provider.
 */
export const countedOnceBy = ({ method, path: sent, reading }: PriceableRequest): string | null => {
  const path = sent.replace(/\/$/, '');
  const { dialect, usage, billableItems } = reading;
  const file = billableItems[BILLABLE.batchFile];
  if (typeof file === 'string') return path.replace(/batch\/jobs\/[^/]+$/, `files/${file}/content`);
  if (method === 'GET' && (dialect.endsWith('-batch-output') || dialect === 'async-result')) {
    if (!PAGED.test(path) || dialect === 'anthropic-batch-output') return path;
    // Pages of one path differ in their sums.
    return `${path} ${count(usage?.['prompt_tokens'])}+${count(usage?.['completion_tokens'])}`;
  }
  // Free once the results were counted.
  if (method === 'GET' && isEndedBatch(reading)) return `${path}/results`;
  const { [BILLABLE.responseId]: id, [BILLABLE.deferredId]: deferredId } = billableItems;
  // The path that fetches it.
  if (typeof deferredId === 'string') return path.replace(/completions$/, `deferred-completion/${deferredId}`);
  return typeof id === 'string' ? id : null;
};
