import { uuidv7 } from 'uuidv7';
import { openKeyOwners } from '../../lambda/data/accounts/key-owners.ts';
import { IS_NEW, put, remove } from '../../lambda/data/table/actions.ts';
import { batchDelete } from '../../lambda/data/table/batch-delete.ts';
import {
  ACTIVE_RULE_SHARDS,
  accountKey,
  accountServiceKeyKey,
  activeRulesIndexPartition,
  type Key,
  ROLLUP_MARK_SHARDS,
  rollupMarkIndexPartition,
  serviceKeyKey,
  UNDELIVERED_SHARDS,
  undeliveredIndexPartition,
} from '../../lambda/data/table/keys.ts';
import { cancellationCodes } from '../../lambda/data/table/refusal.ts';
import { shardOf } from '../../lambda/data/table/shard-of.ts';
import type { Table } from '../../lambda/data/table/table.ts';
import { withTable } from '../../lambda/data/table/transact.ts';
import { tryWrite, write } from '../../lambda/data/table/write.ts';
import { maskedServiceKey, serviceKeyHash } from '../../lambda/domain/accounts/account-key.ts';
import { type Item, pagesOf } from '../table-pages.ts';

/*
 * Version 0.1 used an account's first service key as the account's id: it stood in partition keys, attributes and events, and
 * service keys stood in the table in the clear. This moves such items to internal ids and hashed keys.
 */

/** Internal ids by account key. */
type Ids = ReadonlyMap<string, string>;

const KEY_PREFIX = serviceKeyKey('').pk;
const ACCOUNT_PREFIX = accountKey('').pk;

/** The shape alone: what stands under an account key must move, whatever the key's checksum. */
const isAccountKey = (text: string): boolean => /^svc_[0-9A-Za-z]{30}$/.test(text);

/** The service key that a key item of version 0.1 is stored under. */
const plainKeyOf = ({ pk }: Key): string | undefined => {
  const key = pk.slice(KEY_PREFIX.length);
  return pk.startsWith(KEY_PREFIX) && isAccountKey(key) ? key : undefined;
};

/** What an account's own partition is named by. */
const accountOf = (pk: string): string => (pk.startsWith(ACCOUNT_PREFIX) ? pk.slice(ACCOUNT_PREFIX.length) : '');

/** Indexes whose partition is an account's shard. */
const sharded = [
  { partition: activeRulesIndexPartition, shards: ACTIVE_RULE_SHARDS },
  { partition: undeliveredIndexPartition, shards: UNDELIVERED_SHARDS },
  { partition: rollupMarkIndexPartition, shards: ROLLUP_MARK_SHARDS },
];

const indexPartition = (gsi1pk: string, accountId: string): string => {
  const index = sharded.find(({ partition }) => gsi1pk.startsWith(partition(0).replace(/0$/, '')));
  return index ? index.partition(shardOf(accountId, index.shards)) : gsi1pk;
};

const withIds = (text: string, ids: Ids): string => text.replace(/svc_[0-9A-Za-z]{30}/g, (key) => ids.get(key) ?? key);

/** The JSON text of a usage event that waits in the outbox, or that was set aside. */
const migratedEvent = (event: string, ids: Ids): string => {
  try {
    const { unverifiedKey, ...members } = JSON.parse(event) as Record<string, unknown>;
    const { accountId } = members;
    return JSON.stringify({
      ...members,
      ...(typeof accountId === 'string' && { accountId: ids.get(accountId) ?? accountId }),
      ...(typeof unverifiedKey === 'string' && { unverifiedKeyHash: serviceKeyHash(unverifiedKey) }),
    });
  } catch {
    return event;
  }
};

/**
 * An item as version 0.2 stores it; the item itself where nothing changes.
 *
 * @param ids of all accounts of version 0.1
 */
const migratedItem = (item: Item, ids: Ids): Item => {
  const plainKey = plainKeyOf(item);
  const [, account = ''] = /^ACCOUNT#(svc_[0-9A-Za-z]{30})/.exec(item.pk) ?? [];
  const accountId = ids.get(account) ?? ids.get(String(item['accountId']));
  const next: { pk: string; sk: string } & Record<string, unknown> = { ...item };
  if (plainKey !== undefined) next.pk = serviceKeyKey(serviceKeyHash(plainKey)).pk;
  if (ids.has(account)) next.pk = withIds(item.pk, ids);
  if (accountId !== undefined && item['accountId'] !== undefined) next['accountId'] = accountId;
  if (typeof item['gsi1sk'] === 'string') next['gsi1sk'] = withIds(item['gsi1sk'], ids);
  if (typeof item['gsi1pk'] === 'string' && accountId !== undefined)
    next['gsi1pk'] = indexPartition(item['gsi1pk'], accountId);
  if (typeof item['event'] === 'string') next['event'] = migratedEvent(item['event'], ids);
  if (ids.has(account) && item.sk === accountKey('').sk) next['accountKey'] = account;
  if (typeof item['serviceKey'] === 'string' && item.sk.startsWith(accountServiceKeyKey('', '').sk)) {
    const { serviceKey, ...rest } = next;
    return {
      ...rest,
      keyHash: serviceKeyHash(String(serviceKey)),
      maskedKey: maskedServiceKey(String(serviceKey)),
    } as Item;
  }
  return next;
};

const keyOf = ({ pk, sk }: Key): Key => ({ pk, sk });

/** Old item away and new item there, or neither. False where the new one is there already: both must be looked at. */
const replace = async ({ call, name }: Table, before: Item, after: Item): Promise<boolean> => {
  const isSameKey = before.pk === after.pk;
  const actions = isSameKey ? [put(after)] : [put(after, IS_NEW), remove(before)];
  try {
    await call('TransactWriteItems', { TransactItems: actions.map((action) => withTable(name, action)) });
    return true;
  } catch (error) {
    if (cancellationCodes(error)) return false;
    throw error;
  }
};

/** Internal ids of all accounts of version 0.1: those an earlier run chose, new ones for the others. */
const chooseIds = async (table: Table, keyItems: readonly Item[]): Promise<Ids> => {
  const accountKeys = [...new Set(keyItems.map((item) => String(item['accountId'])).filter(isAccountKey))];
  const chosen = await openKeyOwners(table).find(accountKeys.map(serviceKeyHash));
  return new Map(
    accountKeys.map((key) => {
      const known = chosen.get(serviceKeyHash(key))?.accountId;
      return [key, known !== undefined && !isAccountKey(known) ? known : uuidv7()] as const;
    }),
  );
};

export interface MigrationReport {
  readonly accounts: number;
  /** Items moved or rewritten; with `dryRun`, items that would be. */
  readonly items: number;
  /** Keys of items whose new place is taken: nothing was changed there. */
  readonly conflicts: readonly Key[];
}

interface OldKeys {
  /** Key items of version 0.1, the account's first key before its others: its new form holds the id that was chosen. */
  readonly items: readonly Item[];
  /** Accounts that are still stored under their account keys. */
  readonly unmoved: ReadonlySet<string>;
  readonly ids: Ids;
}

const readOldKeys = async (table: Table): Promise<OldKeys> => {
  const items: Item[] = [];
  const unmoved = new Set<string>();
  for await (const page of pagesOf(table, { consistent: true })) {
    items.push(...page.filter((item) => plainKeyOf(item) !== undefined));
    for (const { pk, sk } of page)
      if (sk === accountKey('').sk && isAccountKey(accountOf(pk))) unmoved.add(accountOf(pk));
  }
  const isFirst = (item: Item): number => Number(plainKeyOf(item) === item['accountId']);
  return { items: items.sort((a, b) => isFirst(b) - isFirst(a)), unmoved, ids: await chooseIds(table, items) };
};

/**
 * Adds the hashed form of every service key next to the plain one, so that gateways of version 0.2 admit the same traffic as those
 * of version 0.1. Changes nothing else, and may run while both do.
 *
 * @returns how many accounts have keys of version 0.1
 */
export const prepareKeys = async (table: Table, { dryRun }: { readonly dryRun: boolean }): Promise<number> => {
  const { items, ids } = await readOldKeys(table);
  for (const item of dryRun ? [] : items) await tryWrite(table, put(migratedItem(item, ids), IS_NEW));
  return ids.size;
};

/**
 * Moves everything of version 0.1 to internal account ids and hashed keys, an item at a time, each in a transaction: a run that is
 * interrupted is taken up by the next, and a second run finds nothing to do. The recorder and the scheduled functions must be paused
 * meanwhile. Plain keys stay, for gateways of version 0.1: `removePlainKeys` removes them.
 */
export const moveToAccountIds = async (
  table: Table,
  { dryRun }: { readonly dryRun: boolean },
): Promise<MigrationReport> => {
  await prepareKeys(table, { dryRun });
  const { items: keyItems, unmoved, ids } = await readOldKeys(table);
  // Until its account moves, a key's plain item is the true one: a key may have been revoked since the preparation.
  for (const item of dryRun ? [] : keyItems.filter(({ accountId }) => unmoved.has(String(accountId))))
    await write(table, put(migratedItem(item, ids)));
  const conflicts: Key[] = [];
  let items = 0;
  for await (const page of pagesOf(table, { consistent: true })) {
    const changes = page
      .filter((item) => plainKeyOf(item) === undefined)
      .map((before) => ({ before, after: migratedItem(before, ids) }))
      .filter(({ before, after }) => JSON.stringify(before) !== JSON.stringify(after));
    items += changes.length;
    if (dryRun) continue;
    await Promise.all(
      changes.map(async ({ before, after }) => {
        if (!(await replace(table, before, after))) conflicts.push(keyOf(before));
      }),
    );
  }
  return { accounts: unmoved.size, items, conflicts };
};

/**
 * Removes the service keys that version 0.1 stored in the clear. No gateway of version 0.1 may run any more: it would find none of
 * them. Keys of accounts that were not moved, and keys without a hashed form, stay.
 *
 * @returns how many were removed; with `dryRun`, how many would be
 */
export const removePlainKeys = async (table: Table, { dryRun }: { readonly dryRun: boolean }): Promise<number> => {
  const { items, unmoved } = await readOldKeys(table);
  const hashOf = (item: Item): string => serviceKeyHash(plainKeyOf(item) ?? '');
  const hashed = await openKeyOwners(table).find(items.map(hashOf));
  const removable = items.filter((item) => !unmoved.has(String(item['accountId'])) && hashed.has(hashOf(item)));
  if (!dryRun) await batchDelete(table, removable.map(keyOf));
  return removable.length;
};
