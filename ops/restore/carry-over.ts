import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { parseRequestItem } from '../../lambda/data/requests/request-item.ts';
import { IS_NEW, put } from '../../lambda/data/table/actions.ts';
import { batchRead } from '../../lambda/data/table/batch.ts';
import { accountKey, type Key } from '../../lambda/data/table/keys.ts';
import type { Table } from '../../lambda/data/table/table.ts';
import { tryWrite } from '../../lambda/data/table/write.ts';
import type { RequestRecord } from '../../lambda/domain/spend/request-record.ts';
import { type UsageEvent, usageEventSchema } from '../../lambda/domain/usage/usage-event.ts';
import { type ItemKind, kindOf } from './item-kinds.ts';

type Item = Record<string, unknown> & Key;

const PAGE = 100;

const keySchema = z.object({ pk: z.string(), sk: z.string() });

/** All items of a table, a page at a time, so that a large table is never held whole. */
export async function* pagesOf(
  { call, name }: Table,
  { consistent }: { readonly consistent: boolean },
): AsyncGenerator<Item[]> {
  let start: Record<string, unknown> | undefined;
  do {
    const page = await call('Scan', {
      TableName: name,
      Limit: PAGE,
      ConsistentRead: consistent,
      ExclusiveStartKey: start,
    });
    yield (page.Items ?? []).map((item) => ({ ...item, ...keySchema.parse(item) }));
    start = page.LastEvaluatedKey;
  } while (start);
}

/** The event a record was made of, so that another table's recorder can make the same of it. */
const eventOfRecord = (record: RequestRecord): UsageEvent =>
  usageEventSchema.parse({
    ...record,
    // An event leaves out what a record says is null.
    client: record.client ?? undefined,
    session: record.session ?? undefined,
    version: 1,
    kind: record.outcome === 'unknown' || record.reading === null ? 'open' : 'close',
  });

export interface CarryOptions {
  /** ISO 8601 UTC: requests that were recorded from then on are sent as events. */
  readonly since: string;
  /** Kinds of items of which the old table's version is taken, where the two differ. */
  readonly take: readonly ItemKind[];
  readonly dryRun: boolean;
  readonly send: (events: readonly UsageEvent[]) => Promise<void>;
}

const count = (counts: Map<string, number>, kind: string) => counts.set(kind, (counts.get(kind) ?? 0) + 1);

/** `lastUsedAt` follows from requests. */
const isSame = (a: Item, b: Item): boolean =>
  isDeepStrictEqual({ ...a, lastUsedAt: undefined }, { ...b, lastUsedAt: undefined });

/**
 * Brings what happened since a point in time from one table to another that was restored to that point: what only the old one has is
 * copied, requests are sent to the recorder as events. What the recorder derives from events (spend, counters) is left to it.
 */
export const carryOver = async (from: Table, to: Table, options: CarryOptions) => {
  const { since, take, dryRun, send } = options;
  const report = {
    requests: 0,
    /** Items that only the old table has, by kind: copied. */
    copied: new Map<string, number>(),
    /** Items that differ, by kind: taken from the old table where its kind was asked for. */
    differing: new Map<string, number>(),
    /** Items whose key is unknown to this checkout: not touched. */
    unknown: 0,
    /** Accounts whose keys, rules or prices changed here: what they know of them must be set again. */
    touchedAccounts: new Set<string>(),
  };

  const copy = async (item: Item, kind: ItemKind, onlyIfAbsent: boolean): Promise<void> => {
    // Made in the new table since it was read? That one is newer, and stays.
    if (!dryRun) await tryWrite(to, put(item, onlyIfAbsent ? IS_NEW : undefined));
    const account = accountKey('').pk;
    if (['key', 'rule', 'price'].includes(kind) && item.pk.startsWith(account))
      report.touchedAccounts.add(item.pk.slice(account.length));
  };

  const carryItems = async (items: readonly (readonly [ItemKind, Item])[]): Promise<void> => {
    const keys = items.map(([, { pk, sk }]) => ({ pk, sk }));
    const found = await batchRead(to, keys, { consistent: true });
    const there = new Map(found.map((item) => [JSON.stringify([item['pk'], item['sk']]), item as Item]));
    for (const [kind, item] of items) {
      const other = there.get(JSON.stringify([item.pk, item.sk]));
      if (other === undefined) {
        count(report.copied, kind);
        await copy(item, kind, true);
      } else if (!isSame(item, other)) {
        count(report.differing, kind);
        if (take.includes(kind)) await copy(item, kind, false);
      }
    }
  };

  for await (const page of pagesOf(from, { consistent: false })) {
    const items: [ItemKind, Item][] = [];
    const events: UsageEvent[] = [];
    for (const item of page) {
      const kind = kindOf(item);
      if (kind === undefined) report.unknown += 1;
      else if (kind === 'request') {
        const record = parseRequestItem(item);
        if (record.recordedAt >= since) events.push(eventOfRecord(record));
      } else if (kind !== 'derived') items.push([kind, item]);
    }
    report.requests += events.length;
    if (!dryRun && events.length > 0) await send(events);
    if (items.length > 0) await carryItems(items);
  }
  return report;
};

export type CarryReport = Awaited<ReturnType<typeof carryOver>>;
