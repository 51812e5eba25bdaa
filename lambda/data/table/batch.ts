import { UnavailableError } from '../../domain/errors.ts';
import type { Key } from './keys.ts';
import type { Table } from './table.ts';
import { backOff } from './write.ts';

/** Consecutive slices of at most `size`. */
export const chunk = <T>(values: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(values.length / size) }, (_, i) => values.slice(i * size, (i + 1) * size));

/**
 * Values as they come, in lists of `size`; the last list may be shorter.
 *
 * @param mayPart false for two values that must stay in one list, which is longer then
 */
export async function* inBatches<T>(
  values: AsyncIterable<T>,
  size: number,
  mayPart: (last: T, next: T) => boolean = () => true,
): AsyncGenerator<[T, ...T[]]> {
  let batch: T[] = [];
  for await (const value of values) {
    if (batch.length >= size && mayPart(batch.at(-1) as T, value)) {
      yield batch as [T, ...T[]];
      batch = [];
    }
    batch.push(value);
  }
  if (batch.length > 0) yield batch as [T, ...T[]];
}

/** @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html */
const MAX_READ = 100;
/** @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchWriteItem.html */
const MAX_DELETED = 25;
const MAX_ATTEMPTS = 6;
const BUSY = 'The service is busy. Try again.';

/** The table repeatedly left keys of a batch unread: it throttles their partitions. */
export class BatchReadError extends UnavailableError {}

/**
 * Reads items by key, in no order; missing ones are left out. Keys must differ.
 *
 * @param options.keysOnly for whether items are there: they cost the same, and neither the network nor a reader has the rest of them
 * @throws BatchReadError
 */
export const batchRead = async (
  { call, name }: Table,
  keys: readonly Key[],
  { consistent, keysOnly = false }: { readonly consistent: boolean; readonly keysOnly?: boolean },
): Promise<Record<string, unknown>[]> => {
  const options = { ConsistentRead: consistent, ...(keysOnly && { ProjectionExpression: 'pk, sk' }) };
  const items: Record<string, unknown>[] = [];
  for (const some of chunk(keys, MAX_READ)) {
    let pending: Record<string, unknown>[] = some.map(({ pk, sk }) => ({ pk, sk }));
    for (let attempt = 0; pending.length > 0; attempt++) {
      if (attempt === MAX_ATTEMPTS) throw new BatchReadError(BUSY);
      if (attempt > 0) await backOff(attempt);
      const { Responses, UnprocessedKeys } = await call('BatchGetItem', {
        RequestItems: { [name]: { Keys: pending, ...options } },
      });
      items.push(...(Responses?.[name] ?? []));
      pending = UnprocessedKeys?.[name]?.Keys ?? [];
    }
  }
  return items;
};

/** Deletes items by key; missing ones are no error. Keys must differ. @throws UnavailableError where the table throttles their partitions */
export const batchDelete = async ({ call, name }: Table, keys: readonly Key[]): Promise<void> => {
  for (const some of chunk(keys, MAX_DELETED)) {
    let pending = some.map(({ pk, sk }) => ({ DeleteRequest: { Key: { pk, sk } } }));
    for (let attempt = 0; pending.length > 0; attempt++) {
      if (attempt === MAX_ATTEMPTS) throw new UnavailableError(BUSY);
      if (attempt > 0) await backOff(attempt);
      const { UnprocessedItems } = await call('BatchWriteItem', { RequestItems: { [name]: pending } });
      pending = (UnprocessedItems?.[name] ?? []) as typeof pending;
    }
  }
};
