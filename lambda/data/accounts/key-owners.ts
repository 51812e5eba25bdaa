import * as z from 'zod/mini';
import { batchRead } from '../table/batch.ts';
import { serviceKeyKey } from '../table/keys.ts';
import { readItem } from '../table/read.ts';
import type { Table } from '../table/table.ts';

export interface KeyOwner {
  readonly accountId: string;
  readonly keyId: string;
}

const stored = z.object({ pk: z.string(), accountId: z.string(), keyId: z.string() });

export const openKeyOwners = (table: Table) => ({
  /**
   * Accounts of service keys by key hash. Includes revoked keys, because a request made before the revocation belongs to the
   * account too. Leaves out keys that do not exist.
   *
   * @throws UnreadableItemError
   */
  find: async (keyHashes: readonly string[]): Promise<ReadonlyMap<string, KeyOwner>> => {
    const byPartition = new Map(keyHashes.map((keyHash) => [serviceKeyKey(keyHash).pk, keyHash]));
    const keys = [...byPartition.values()].map(serviceKeyKey);
    const items = (await batchRead(table, keys, { consistent: false })).map((item) =>
      readItem(() => stored.parse(item)),
    );
    return new Map(
      items.map(({ pk, accountId, keyId }) => [byPartition.get(pk) as string, { accountId, keyId }] as const),
    );
  },
});
