import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { type Alert, alertSchema, type Delivery } from '../../domain/alert-rules/alert.ts';
import { alertKey, UNDELIVERED_SHARDS, undeliveredIndexKey, undeliveredIndexPartition } from '../table/keys.ts';
import { queryItems } from '../table/query-items.ts';
import { shardOf } from '../table/shard-of.ts';
import type { Table } from '../table/table.ts';

/** Puts an alert among those to be delivered, due at an instant. */
export const undeliveredKey = (alert: Alert, nextAttemptAt: string) =>
  undeliveredIndexKey(shardOf(alert.accountId, UNDELIVERED_SHARDS), nextAttemptAt, alert.alertId);

/** Above every alert id. */
const HIGHEST = '~';

/** What is still to be sent of alerts, and who sends it. */
export const openAlertDeliveries = (table: Table) => {
  const { client, name } = table;
  return {
    /** Alerts of a shard whose next attempt to deliver is due, with how often that was tried. */
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

    /**
     * Takes a round of delivery for oneself. False where another has it. Should its taker die, the next comes at `nextAttemptAt`.
     */
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

    /** Notes what became of the deliveries; the alert leaves the index once none is pending. */
    noteDeliveries: async (alert: Alert, deliveries: readonly Delivery[]): Promise<void> => {
      const isDone = deliveries.every(({ status }) => status !== 'pending');
      await client.send(
        new UpdateCommand({
          TableName: name,
          Key: alertKey(alert.accountId, alert.alertId),
          UpdateExpression: `SET deliveries = :deliveries${isDone ? ' REMOVE gsi1pk, gsi1sk' : ''}`,
          ExpressionAttributeValues: { ':deliveries': deliveries },
        }),
      );
    },
  };
};

export type AlertDeliveries = ReturnType<typeof openAlertDeliveries>;
