import { setTimeout as sleep } from 'node:timers/promises';
import { chunk } from './chunk.ts';
import type { Key } from './keys.ts';
import type { Table } from './table.ts';

/** @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html */
const MAX_KEYS = 100;
const MAX_ATTEMPTS = 6;

/** The table repeatedly left keys of a batch unread: it throttles their partitions. */
export class BatchReadError extends Error {
  override readonly name = 'BatchReadError';
}

/** Reads items by key, in no order; missing ones are left out. Keys must differ. @throws BatchReadError */
export const batchRead = async (
  { call, name }: Table,
  keys: readonly Key[],
  options: { readonly consistent: boolean },
): Promise<Record<string, unknown>[]> => {
  const items: Record<string, unknown>[] = [];
  for (const some of chunk(keys, MAX_KEYS)) {
    let pending: Record<string, unknown>[] = some.map(({ pk, sk }) => ({ pk, sk }));
    for (let attempt = 0; pending.length > 0; attempt++) {
      if (attempt === MAX_ATTEMPTS) throw new BatchReadError(`${pending.length} keys of a batch could not be read.`);
      if (attempt > 0) await sleep(Math.random() * 25 * 2 ** attempt);
      const { Responses, UnprocessedKeys } = await call('BatchGetItem', {
        RequestItems: { [name]: { Keys: pending, ConsistentRead: options.consistent } },
      });
      items.push(...(Responses?.[name] ?? []));
      pending = UnprocessedKeys?.[name]?.Keys ?? [];
    }
  }
  return items;
};
