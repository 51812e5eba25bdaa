import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { type Alert, alertSchema, type Delivery } from '../../domain/alert-rules/alert.ts';
import { alertKey, UNDELIVERED_SHARDS, undeliveredIndexKey, undeliveredIndexPartition } from '../table/keys.ts';
import { queryItems } from '../table/query-items.ts';
import { shardOf } from '../table/shard-of.ts';
import type { Table } from '../table/table.ts';

/** Index key of an alert that is to be delivered, due at an instant (ISO 8601). */
export const undeliveredKey = (alert: Alert, nextAttemptAt: string) =>
  undeliveredIndexKey(shardOf(alert.accountId, UNDELIVERED_SHARDS), nextAttemptAt, alert.alertId);

/** Above every alert id. */
const HIGHEST = '~';

/** Alerts with pending deliveries, and the claims on them. */
export const openAlertDeliveries = (table: Table) => {
  const { client, name } = table;
  return {
    /** Alerts of a shard whose next attempt is due, with the number of rounds so far. */
    async *undelivered(shard: number, now: Date): AsyncGenerator<{ alert: Alert; round: number }> {
      for await (const item of queryItems(table, {
        IndexName: 'gsi1',
        KeyConditionExpression: 'gsi1pk = :shard AND gsi1sk <= :now',
        ExpressionAttributeValues: {
          ':shard': undeliveredIndexPartition(shard),
          ':now': `${now.toISOString()}#${HIGHEST}`,
        },
      })) {
        yield { alert: alertSchema.parse(item), round: Number(item['deliveryRound']) };
      }
    },

    /** Claims a round of delivery; false where another has it. If the claimant dies, the next round comes at `nextAttemptAt`. */
    claimRound: async (alert: Alert, round: number, nextAttemptAt: string): Promise<boolean> => {
      try {
        await client.send(
          new UpdateCommand({
            TableName: name,
            Key: alertKey(alert.accountId, alert.alertId),
            UpdateExpression: 'SET deliveryRound = :next, gsi1sk = :gsi1sk',
            ConditionExpression: 'deliveryRound = :round',
            ExpressionAttributeValues: {
              ':round': round,
              ':next': round + 1,
              ':gsi1sk': undeliveredKey(alert, nextAttemptAt).gsi1sk,
            },
          }),
        );
        return true;
      } catch (error) {
        if (error instanceof ConditionalCheckFailedException) return false;
        throw error;
      }
    },

    /**
     * Records the results of deliveries. The alert leaves the index once none is pending.
     *
     * @param nextAttemptAt where it is later than the claim of the round has it
     */
    recordDeliveries: async (
      alert: Alert,
      deliveries: readonly Delivery[],
      nextAttemptAt?: string | undefined,
    ): Promise<void> => {
      const isDone = deliveries.every(({ status }) => status !== 'pending');
      const isLater = !isDone && nextAttemptAt !== undefined;
      await client.send(
        new UpdateCommand({
          TableName: name,
          Key: alertKey(alert.accountId, alert.alertId),
          UpdateExpression: `SET deliveries = :deliveries${isDone ? ' REMOVE gsi1pk, gsi1sk' : isLater ? ', gsi1sk = :gsi1sk' : ''}`,
          ExpressionAttributeValues: {
            ':deliveries': deliveries,
            ...(isLater && { ':gsi1sk': undeliveredKey(alert, nextAttemptAt).gsi1sk }),
          },
        }),
      );
    },
  };
};

export type AlertDeliveries = ReturnType<typeof openAlertDeliveries>;
