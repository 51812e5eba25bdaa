import { setTimeout as sleep } from 'node:timers/promises';
import { chunk } from './chunk.ts';
import type { Key } from './keys.ts';
import type { Table } from './table.ts';

/** @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchWriteItem.html */
const MAX_KEYS = 25;
const MAX_ATTEMPTS = 6;

/** The table repeatedly left items of a batch undeleted. */
class BatchDeleteError extends Error {
  override readonly name = 'BatchDeleteError';
}

/** Deletes items by key; missing ones are no error. Keys must differ. @throws BatchDeleteError */
export const batchDelete = async ({ call, name }: Table, keys: readonly Key[]): Promise<void> => {
  for (const some of chunk(keys, MAX_KEYS)) {
    let pending = some.map(({ pk, sk }) => ({ DeleteRequest: { Key: { pk, sk } } }));
    for (let attempt = 0; pending.length > 0; attempt++) {
      if (attempt === MAX_ATTEMPTS) throw new BatchDeleteError(`${pending.length} items could not be deleted.`);
      if (attempt > 0) await sleep(Math.random() * 25 * 2 ** attempt);
      const { UnprocessedItems } = await call('BatchWriteItem', { RequestItems: { [name]: pending } });
      pending = (UnprocessedItems?.[name] ?? []) as typeof pending;
    }
  }
};
