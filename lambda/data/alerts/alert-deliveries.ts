import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { type Alert, alertSchema, type Delivery } from '../../domain/alert-rules/alert.ts';
import { type ReportRun, reportRunSchema } from '../../domain/reports/report-run.ts';
import {
  alertKey,
  type Key,
  reportRunKey,
  UNDELIVERED_SHARDS,
  undeliveredIndexKey,
  undeliveredIndexPartition,
} from '../table/keys.ts';
import { queryItems } from '../table/query-items.ts';
import { shardOf } from '../table/shard-of.ts';
import type { Table } from '../table/table.ts';

/** What is delivered on channels. */
export type Outgoing = Alert | ReportRun;

export const isReport = (outgoing: Outgoing): outgoing is ReportRun => 'reportId' in outgoing;

export const outgoingKey = (outgoing: Outgoing): Key => {
  if (!isReport(outgoing)) return alertKey(outgoing.accountId, outgoing.alertId);
  const { accountId, reportId, content } = outgoing;
  return reportRunKey(accountId, reportId, `${content.period.firstDay}#${content.every}`);
};

/** Index key of what is to be delivered, due at an instant (ISO 8601). */
export const undeliveredKey = (outgoing: Outgoing, nextAttemptAt: string) =>
  undeliveredIndexKey(
    shardOf(outgoing.accountId, UNDELIVERED_SHARDS),
    nextAttemptAt,
    isReport(outgoing) ? outgoingKey(outgoing).sk : outgoing.alertId,
  );

/** Above every alert id. */
const HIGHEST = '~';

/** Alerts and reports with pending deliveries, and the claims on them. */
export const openAlertDeliveries = (table: Table) => {
  const { client, name } = table;
  return {
    /** What of a shard is due for its next attempt, with the number of rounds so far. */
    async *undelivered(shard: number, now: Date): AsyncGenerator<{ outgoing: Outgoing; round: number }> {
      for await (const item of queryItems(table, {
        IndexName: 'gsi1',
        KeyConditionExpression: 'gsi1pk = :shard AND gsi1sk <= :now',
        ExpressionAttributeValues: {
          ':shard': undeliveredIndexPartition(shard),
          ':now': `${now.toISOString()}#${HIGHEST}`,
        },
      })) {
        const outgoing = 'reportId' in item ? reportRunSchema.parse(item) : alertSchema.parse(item);
        yield { outgoing, round: Number(item['deliveryRound']) };
      }
    },

    /** Claims a round of delivery; false where another has it. If the claimant dies, the next round comes at `nextAttemptAt`. */
    claimRound: async (outgoing: Outgoing, round: number, nextAttemptAt: string): Promise<boolean> => {
      try {
        await client.send(
          new UpdateCommand({
            TableName: name,
            Key: { ...outgoingKey(outgoing) },
            UpdateExpression: 'SET deliveryRound = :next, gsi1sk = :gsi1sk',
            ConditionExpression: 'deliveryRound = :round',
            ExpressionAttributeValues: {
              ':round': round,
              ':next': round + 1,
              ':gsi1sk': undeliveredKey(outgoing, nextAttemptAt).gsi1sk,
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
     * Records the results of deliveries. It leaves the index once none is pending.
     *
     * @param nextAttemptAt where it is later than the claim of the round has it
     */
    recordDeliveries: async (
      outgoing: Outgoing,
      deliveries: readonly Delivery[],
      nextAttemptAt?: string | undefined,
    ): Promise<void> => {
      const isDone = deliveries.every(({ status }) => status !== 'pending');
      const isLater = !isDone && nextAttemptAt !== undefined;
      await client.send(
        new UpdateCommand({
          TableName: name,
          Key: { ...outgoingKey(outgoing) },
          UpdateExpression: `SET deliveries = :deliveries${isDone ? ' REMOVE gsi1pk, gsi1sk' : isLater ? ', gsi1sk = :gsi1sk' : ''}`,
          ExpressionAttributeValues: {
            ':deliveries': deliveries,
            ...(isLater && { ':gsi1sk': undeliveredKey(outgoing, nextAttemptAt).gsi1sk }),
          },
        }),
      );
    },
  };
};

export type AlertDeliveries = ReturnType<typeof openAlertDeliveries>;
