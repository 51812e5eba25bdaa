import { PutCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { DAY_SECONDS } from '../../domain/calendar/units.ts';
import { dayOf } from '../../domain/calendar/utc.ts';
import { batchDelete } from '../table/batch-delete.ts';
import { type Key, outboxPartition, refusedEventKey } from '../table/keys.ts';
import { queryItems } from '../table/query-items.ts';
import type { Table } from '../table/table.ts';

/** A usage event that the queue would not take. `event` is its JSON text, unread. */
export interface OutboxEntry {
  readonly key: Key;
  readonly event: string;
  /** ISO 8601 UTC. */
  readonly parkedAt: string;
}

/** How long refused events wait for somebody to look at them. */
const REFUSED_DAYS = 90;

const stored = z.object({
  pk: z.string(),
  sk: z.string(),
  event: z.catch(z.string(), ''),
  parkedAt: z.catch(z.iso.datetime(), new Date(0).toISOString()),
});

const parse = (item: Record<string, unknown>): OutboxEntry => {
  const { pk, sk, event, parkedAt } = stored.parse(item);
  return { key: { pk, sk }, event, parkedAt };
};

export const openOutbox = (table: Table, now: () => number = Date.now) => ({
  /** The events of a shard, oldest request first, in pages. */
  async *pages(shard: number, pageSize: number): AsyncGenerator<OutboxEntry[]> {
    let page: OutboxEntry[] = [];
    const query = {
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': outboxPartition(shard) },
      ConsistentRead: true,
    };
    for await (const item of queryItems(table, query)) {
      page.push(parse(item));
      if (page.length < pageSize) continue;
      yield page;
      page = [];
    }
    if (page.length > 0) yield page;
  },

  /** Takes events away that are recorded. */
  remove: (events: readonly OutboxEntry[]): Promise<void> =>
    batchDelete(
      table,
      events.map(({ key }) => key),
    ),

  /** Puts an event that can never be recorded where the sweep does not meet it again, and keeps it for a while. */
  setAside: async ({ key, event, parkedAt }: OutboxEntry, reason: string): Promise<void> => {
    const refusedAt = new Date(now()).toISOString();
    const expiresAt = Math.floor(now() / 1_000) + REFUSED_DAYS * DAY_SECONDS;
    await table.client.send(
      new PutCommand({
        TableName: table.name,
        Item: { ...refusedEventKey(dayOf(refusedAt), key.sk), event, parkedAt, refusedAt, reason, expiresAt },
      }),
    );
    await batchDelete(table, [key]);
  },
});
