import { z } from 'zod';
import { type Key, refusedEventKey } from '../../lambda/data/table/keys.ts';
import { queryItems } from '../../lambda/data/table/query-items.ts';
import type { Table } from '../../lambda/data/table/table.ts';
import type { UsageEvent } from '../../lambda/domain/usage/usage-event.ts';
import { PoisonEventError, parseUsageEvent } from '../../lambda/usage-recorder/parse-event.ts';

const stored = z.object({ pk: z.string(), sk: z.string(), event: z.string() });

/** The events that the sweep set aside on a day: those that can be read by now, and how many cannot. */
export const readRefused = async (table: Table, day: string) => {
  const readable: { readonly key: Key; readonly event: UsageEvent }[] = [];
  let unreadable = 0;
  for await (const item of queryItems(table, {
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': refusedEventKey(day, '').pk },
    ConsistentRead: true,
  })) {
    const { pk, sk, event } = stored.parse(item);
    try {
      readable.push({ key: { pk, sk }, event: parseUsageEvent(event) });
    } catch (error) {
      if (!(error instanceof PoisonEventError)) throw error;
      unreadable += 1;
    }
  }
  return { readable, unreadable };
};
