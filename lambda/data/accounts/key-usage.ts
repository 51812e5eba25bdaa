import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import QuickLRU from 'quick-lru';
import { MINUTE_MS } from '../../domain/calendar/units.ts';
import { accountServiceKeyKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

/** Each process writes at most once per key in this period. The API documents `lastUsedAt` as updated every few minutes. */
const INTERVAL_MS = 5 * MINUTE_MS;
const MAX_ENTRIES = 10_000;

/** Records when service keys were last used. */
export const openKeyUsage = (table: Table) => {
  const notedMs = new QuickLRU<string, number>({ maxSize: MAX_ENTRIES });
  return {
    /** @param usedAt ISO 8601 UTC. Earlier than the stored time: no effect. */
    note: async (accountId: string, keyId: string, usedAt: string): Promise<void> => {
      const usedMs = Date.parse(usedAt);
      if (usedMs - (notedMs.get(keyId) ?? Number.NEGATIVE_INFINITY) < INTERVAL_MS) return;
      try {
        await table.client.send(
          new UpdateCommand({
            TableName: table.name,
            Key: accountServiceKeyKey(accountId, keyId),
            UpdateExpression: 'SET lastUsedAt = :at',
            ConditionExpression: 'attribute_exists(pk) AND (attribute_not_exists(lastUsedAt) OR lastUsedAt < :at)',
            ExpressionAttributeValues: { ':at': usedAt },
          }),
        );
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
      }
      notedMs.set(keyId, usedMs);
    },
  };
};
