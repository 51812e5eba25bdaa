import * as z from 'zod/mini';
import { DAY_SECONDS } from '../../domain/calendar/units.ts';
import { dayOf } from '../../domain/calendar/utc.ts';
import { REFUSED_DAYS } from '../../domain/usage/limits.ts';
import { put } from '../table/actions.ts';
import { batchDelete, inBatches } from '../table/batch.ts';
import { type Key, outboxPartition, refusedEventKey } from '../table/keys.ts';
import { itemsIn } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { write } from '../table/write.ts';

/** A usage event that the gateway wrote to the table because the queue did not accept it. `event` is JSON text, not parsed yet. */
export interface OutboxEntry {
  readonly key: Key;
  readonly event: string;
  /** ISO 8601 UTC. */
  readonly writtenAt: string;
}

const stored = z.object({
  pk: z.string(),
  sk: z.string(),
  event: z.catch(z.string(), ''),
  parkedAt: z.catch(z.iso.datetime(), new Date(0).toISOString()),
});

const parse = (item: Record<string, unknown>): OutboxEntry => {
  const { pk, sk, event, parkedAt } = stored.parse(item);
  return { key: { pk, sk }, event, writtenAt: parkedAt };
};

/** Usage events that wait in the table until the sweep records them. */
export const openOutbox = (table: Table, now: () => number = Date.now) => ({
  /** The entries of a shard, oldest request first, in pages. */
  async *pages(shard: number, pageSize: number): AsyncGenerator<OutboxEntry[]> {
    const items = itemsIn(table, outboxPartition(shard), { ConsistentRead: true });
    for await (const page of inBatches(items, pageSize)) yield page.map(parse);
  },

  /** Deletes entries that are recorded. */
  remove: (entries: readonly OutboxEntry[]): Promise<void> =>
    batchDelete(
      table,
      entries.map(({ key }) => key),
    ),

  /** Moves an entry that can never be recorded to a place that the sweep does not read, and keeps it there for REFUSED_DAYS. */
  setAside: async ({ key, event, writtenAt }: OutboxEntry, reason: string): Promise<void> => {
    const refusedAt = new Date(now()).toISOString();
    const expiresAt = Math.floor(now() / 1_000) + REFUSED_DAYS * DAY_SECONDS;
    const facts = { event, parkedAt: writtenAt, refusedAt, reason, expiresAt };
    await write(table, put({ ...refusedEventKey(dayOf(refusedAt), key.sk), ...facts }));
    await batchDelete(table, [key]);
  },
});

export type Outbox = ReturnType<typeof openOutbox>;
