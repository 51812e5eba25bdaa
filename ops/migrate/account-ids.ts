import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { ScanCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { uuidv7 } from 'uuidv7';
import { openKeyOwners } from '../../lambda/data/accounts/key-owners.ts';
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
import { shardOf } from '../../lambda/data/table/shard-of.ts';
import type { Table } from '../../lambda/data/table/table.ts';
import { maskedServiceKey, serviceKeyHash } from '../../lambda/domain/accounts/account-key.ts';

/*
 * Version 0.1 used an account's first service key as the account's id: it stood in partition keys, attributes and events, and
 * service keys stood in the table in the clear. This moves such items to internal ids and hashed keys.
 */

type Item = Record<string, unknown> & { pk: string; sk: string };

/** Internal ids by account key. */
type Ids = ReadonlyMap<string, string>;

const PAGE = 100;
const KEY_PREFIX = serviceKeyKey('').pk;

/** The shape alone: what stands under an account key must move, whatever the key's checksum. */
const isAccountKey = (text: string): boolean => /^svc_[0-9A-Za-z]{30}$/.test(text);

/** The service key that a key item of version 0.1 is stored under. */
const plainKeyOf = ({ pk }: Key): string | undefined => {
  const key = pk.slice(KEY_PREFIX.length);
  return pk.startsWith(KEY_PREFIX) && isAccountKey(key) ? key : undefined;
};

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
  const next: Item = { ...item };
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

async function* pagesOf({ client, name }: Table): AsyncGenerator<Item[]> {
  let start: Record<string, unknown> | undefined;
  do {
    const page = await client.send(
      new ScanCommand({ TableName: name, Limit: PAGE, ConsistentRead: true, ExclusiveStartKey: start }),
    );
    yield (page.Items ?? []) as Item[];
    start = page.LastEvaluatedKey;
  } while (start);
}

const keyOf = ({ pk, sk }: Key): Key => ({ pk, sk });

/** Old item away and new item there, or neither. False where the new one is there already: both must be looked at. */
const replace = async ({ client, name }: Table, before: Item, after: Item): Promise<boolean> => {
  const isSameKey = before.pk === after.pk;
  const put = {
    Put: {
      TableName: name,
      Item: after,
      ...(!isSameKey && { ConditionExpression: 'attribute_not_exists(pk)' }),
    },
  };
  const remove = { Delete: { TableName: name, Key: keyOf(before) } };
  try {
    await client.send(new TransactWriteCommand({ TransactItems: isSameKey ? [put] : [put, remove] }));
    return true;
  } catch (error) {
    if (error instanceof TransactionCanceledException) return false;
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

/**
 * Adds the hashed form of every service key next to the plain one, so that gateways of version 0.2 admit the same traffic as those
 * of version 0.1. Changes nothing else, and may run while both do.
 *
 * @returns internal ids by account key
 */
export const prepareKeys = async (table: Table, dryRun = false): Promise<Ids> => {
  const keyItems: Item[] = [];
  for await (const page of pagesOf(table)) keyItems.push(...page.filter((item) => plainKeyOf(item) !== undefined));
  const ids = await chooseIds(table, keyItems);
  if (dryRun) return ids;
  // The account key first: it is where the next run finds the id that was chosen.
  const accountKeysFirst = keyItems.toSorted(
    (a, b) => Number(plainKeyOf(b) === b['accountId']) - Number(plainKeyOf(a) === a['accountId']),
  );
  for (const item of accountKeysFirst) {
    await table.client.send(
      new TransactWriteCommand({
        TransactItems: [{ Put: { TableName: table.name, Item: migratedItem(item, ids) } }],
      }),
    );
  }
  return ids;
};

/**
 * Moves everything of version 0.1 to internal account ids and hashed keys, an item at a time, each in a transaction: a run that is
 * interrupted is taken up by the next, and a second run finds nothing to do. Nothing may write under account keys meanwhile.
 */
export const moveToAccountIds = async (
  table: Table,
  { dryRun }: { readonly dryRun: boolean },
): Promise<MigrationReport> => {
  const ids = await prepareKeys(table, dryRun);
  const conflicts: Key[] = [];
  let items = 0;
  for await (const page of pagesOf(table)) {
    const changes = page
      .map((before) => ({ before, after: migratedItem(before, ids) }))
      .filter(({ before, after }) => JSON.stringify(before) !== JSON.stringify(after));
    items += changes.length;
    if (dryRun) continue;
    await Promise.all(
      changes.map(async ({ before, after }) => {
        if (plainKeyOf(before) !== undefined) {
          // Its hashed form is there since the preparation.
          await table.client.send(
            new TransactWriteCommand({ TransactItems: [{ Delete: { TableName: table.name, Key: keyOf(before) } }] }),
          );
        } else if (!(await replace(table, before, after))) conflicts.push(keyOf(before));
      }),
    );
  }
  return { accounts: ids.size, items, conflicts };
};
