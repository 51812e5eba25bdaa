import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { LRUCache } from 'lru-cache';
import { MINUTE_MS } from '../../domain/calendar/units.ts';
import { accountServiceKeyKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

/** One write a key in this time, from each process that records: the list of keys says "some minutes coarse". */
const COARSE_MS = 5 * MINUTE_MS;
const MAX_REMEMBERED = 10_000;

/** Notes when service keys were last used. */
export const openKeyUsage = (table: Table) => {
  const notedMs = new LRUCache<string, number>({ max: MAX_REMEMBERED });
  return {
    /** @param usedAt ISO 8601 UTC; an older one than is noted changes nothing */
    note: async (accountId: string, keyId: string, usedAt: string): Promise<void> => {
      const usedMs = Date.parse(usedAt);
      if (usedMs - (notedMs.get(keyId) ?? Number.NEGATIVE_INFINITY) < COARSE_MS) return;
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
