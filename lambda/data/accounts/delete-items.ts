import pMap from 'p-map';
import { DAY_SECONDS } from '../../domain/calendar/units.ts';
import { addDays, dayOf } from '../../domain/calendar/utc.ts';
import { MAX_EVENT_AGE_DAYS, REFUSED_DAYS } from '../../domain/usage/limits.ts';
import { openModelUse } from '../prices/model-use.ts';
import { put } from '../table/actions.ts';
import { batchDelete, chunk } from '../table/batch.ts';
import {
  accountKey,
  apiTokenKey,
  deletedAccountKey,
  deletionKey,
  type Key,
  OUTBOX_SHARDS,
  outboxPartition,
  pricedAccountKey,
  refusedEventKey,
  serviceKeyKey,
  signOnKey,
  stripeCustomerKey,
  stripeCustomersIndexPartition,
  userKey,
} from '../table/keys.ts';
import { findItem, queryItems } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { write } from '../table/write.ts';
import { accountPartitions, readPage } from './account-items.ts';

const PARTITIONS_AT_ONCE = 8;
/** A late run repeats its last step. Fewer than there are days: no step has both requests and the spend that says how they are sharded. */
const PARTITIONS_IN_STEP = 64;

/** An account's things outside of the table. Deletes succeed where nothing is there. */
export interface OutsideAccount {
  /** A login of the user pool: a member's, or an API token's. */
  deleteUser(userId: string): Promise<void>;
  /** A customer of the payment processor with its subscriptions. */
  deleteCustomer(customerId: string): Promise<void>;
  /** The credential that reads a provider's bill. */
  deleteBillCredential(accountId: string, provider: string): Promise<void>;
  /** An archive that is not complete. */
  abortArchive(item: Record<string, unknown>): Promise<void>;
}

const text = (item: Record<string, unknown>, name: string): string | undefined =>
  typeof item[name] === 'string' ? item[name] : undefined;

/** Keeps late usage events of a deleted account from being recorded, for as long as one may come. */
export const markDeleted = (table: Table, accountId: string, now: Date): Promise<void> => {
  const expiresAt = Math.floor(now.getTime() / 1_000) + (MAX_EVENT_AGE_DAYS + 1) * DAY_SECONDS;
  return write(table, put({ ...deletedAccountKey(accountId), expiresAt }));
};

/**
 * Deletes everything of an account but its deletion, which `finish` deletes. What the account's own partition lists is deleted before its
 * entry there, so a run that ends anywhere leaves nothing behind that the next one does not find.
 */
export const openAccountItems = (table: Table, outside: OutsideAccount) => {
  const remove = async (keys: readonly Key[]): Promise<number> => {
    await batchDelete(table, keys);
    return keys.length;
  };
  const keyOf = (item: Record<string, unknown>): Key => ({ pk: String(item['pk']), sk: String(item['sk']) });

  const removePartition = async (pk: string, isLate: () => boolean): Promise<number> => {
    let removed = 0;
    while (!isLate()) {
      const { items } = await readPage(table, pk, null);
      if (items.length === 0) break;
      removed += await remove(items.map(keyOf));
    }
    return removed;
  };

  /** A login with its items, unless it has joined another account since. */
  const removeUser = async (accountId: string, userId: string): Promise<void> => {
    const user = await findItem(table, userKey(userId));
    if (user !== undefined && user['accountId'] !== accountId) return;
    await outside.deleteUser(userId);
    await removePartition(userKey(userId).pk, () => false);
  };

  /** Removes the things to which an item of the account's own partition leads. */
  const removeWhatItLists = async (accountId: string, item: Record<string, unknown>): Promise<void> => {
    const [kind] = String(item['sk']).split('#');
    const userId = text(item, 'userId');
    if ((kind === 'USER' || kind === 'TOKEN') && userId !== undefined) await removeUser(accountId, userId);
    const tokenHash = text(item, 'tokenHash');
    if (kind === 'TOKEN' && tokenHash !== undefined) await remove([apiTokenKey(tokenHash)]);
    if (kind === 'KEY') {
      const former = (item['former'] ?? []) as readonly { readonly keyHash: string }[];
      const hashes = [text(item, 'keyHash'), ...former.map(({ keyHash }) => keyHash)];
      await remove([...new Set(hashes)].flatMap((hash) => (hash === undefined ? [] : [serviceKeyKey(hash)])));
    }
    if (kind === 'PRICES') await remove([pricedAccountKey(accountId)]);
    if (kind === 'BILL_CONNECTION') await outside.deleteBillCredential(accountId, String(item['provider']));
    if (kind === 'ARCHIVE') await outside.abortArchive(item);
    const { provider } = (item['signOn'] ?? {}) as { readonly provider?: string };
    if (kind === 'META' && provider !== undefined) await removeSignOn(accountId, provider);
  };

  const removeSignOn = async (accountId: string, provider: string): Promise<void> => {
    const link = await findItem(table, signOnKey(provider));
    if (link?.['accountId'] === accountId) await remove([signOnKey(provider)]);
  };

  const removeOwnPartition = async (accountId: string, pk: string, isLate: () => boolean): Promise<number> => {
    let removed = 0;
    let after: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof readPage>> = await readPage(table, pk, after);
      const items = page.items.filter(({ sk }) => sk !== deletionKey(accountId).sk);
      const done: Key[] = [];
      for (const item of items) {
        if (isLate()) break;
        await removeWhatItLists(accountId, item);
        done.push(keyOf(item));
      }
      removed += await remove(done);
      after = page.after;
    } while (after !== null && !isLate());
    return removed;
  };

  /** Each customer that the account has had. */
  const removeCustomers = async (accountId: string): Promise<number> => {
    let removed = 0;
    for await (const { gsi1sk } of queryItems(table, {
      IndexName: 'gsi1',
      KeyConditionExpression: 'gsi1pk = :customers',
      FilterExpression: 'accountId = :account',
      ExpressionAttributeValues: { ':customers': stripeCustomersIndexPartition, ':account': accountId },
    })) {
      await outside.deleteCustomer(String(gsi1sk));
      removed += await remove([stripeCustomerKey(String(gsi1sk))]);
    }
    return removed;
  };

  /** Usage events that wait in the table, or that nobody could record. */
  const removeEvents = async (accountId: string, now: Date): Promise<number> => {
    const today = dayOf(now.toISOString());
    const refused = Array.from(
      { length: REFUSED_DAYS + 2 },
      (_, days) => refusedEventKey(addDays(today, -days), '').pk,
    );
    const waiting = Array.from({ length: OUTBOX_SHARDS }, (_, shard) => outboxPartition(shard));
    const removed = await pMap(
      [...refused, ...waiting],
      async (pk) => {
        const keys: Key[] = [];
        for await (const item of queryItems(table, {
          KeyConditionExpression: 'pk = :pk',
          FilterExpression: 'contains(event, :account)',
          ExpressionAttributeValues: { ':pk': pk, ':account': accountId },
          ProjectionExpression: 'pk, sk',
          ConsistentRead: true,
        }))
          keys.push(keyOf(item));
        return remove(keys);
      },
      { concurrency: PARTITIONS_AT_ONCE },
    );
    return removed.reduce((sum, each) => sum + each, 0);
  };

  return {
    /**
     * One pass over everything. It can be repeated, and finds less each time.
     *
     * @param isLate true where the rest must wait for another run
     * @param from `next` of the run before: to find some thousand partitions empty may take more than one run
     * @returns how many items there were, and the partition with which the next run goes on: null at the end of the pass
     */
    removeAll: async (accountId: string, now: Date, isLate: () => boolean, from: string | null) => {
      let removed = await removeCustomers(accountId);
      removed += await removeEvents(accountId, now);
      removed += await openModelUse(table).remove(accountId, now);
      // It names secrets, users and customers in other partitions, so it is the last.
      const own = accountKey(accountId).pk;
      const all = [...(await accountPartitions(table, accountId, now)), own];
      const rest = all.slice(Math.max(all.indexOf(from ?? ''), 0), -1);
      for (const some of chunk(rest, PARTITIONS_IN_STEP)) {
        const counts = await pMap(some, (pk) => removePartition(pk, isLate), { concurrency: PARTITIONS_AT_ONCE });
        removed += counts.reduce((sum, each) => sum + each, 0);
        if (isLate()) return { removed, next: some[0] ?? own };
      }
      removed += await removeOwnPartition(accountId, own, isLate);
      return { removed, next: isLate() ? own : null };
    },

    /** The account is gone. */
    finish: (accountId: string): Promise<unknown> => remove([deletionKey(accountId)]),
  };
};

export type AccountItems = ReturnType<typeof openAccountItems>;
