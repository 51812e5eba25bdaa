import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { ACTIVE_RULE_SHARDS, evaluationProgressKey, judgedAccountKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

const storedShard = z.object({
  /** All rules of the shard were judged at this time or later, ISO 8601 UTC. Null before the first time. */
  judgedUntil: z._default(z.nullable(z.string()), null),
  /** When the round was due that judges the shard now, ISO 8601 UTC; null where none does. */
  due: z._default(z.nullable(z.string()), null),
  /** How many active rules the shard had when it was judged last; null where nobody has counted them. */
  rules: z._default(z.nullable(z.int()), null),
});

/** How far the rules of a shard have been judged. */
export type ShardProgress = z.infer<typeof storedShard> & { readonly shard: number };

/** An attribute for each shard, so that those who judge different shards never overwrite each other. */
const attributeOf = (shard: number): string => `shard${shard}`;

/** How far the rules have been judged: one item, which a round reads and writes as a whole or in part. */
export const openEvaluationProgress = ({ client, name }: Table) => ({
  /** Every shard, in their order. */
  read: async (): Promise<ShardProgress[]> => {
    const { Item = {} } = await client.send(
      new GetCommand({ TableName: name, Key: evaluationProgressKey(), ConsistentRead: true }),
    );
    return Array.from({ length: ACTIVE_RULE_SHARDS }, (_, shard) => ({
      ...storedShard.parse(Item[attributeOf(shard)] ?? {}),
      shard,
    }));
  },

  /**
   * Claims an account whose rules are about to be judged. False where others began to judge them after `since`.
   *
   * @param since ISO 8601 UTC
   */
  claimAccount: async (accountId: string, since: string, now: Date): Promise<boolean> => {
    try {
      await client.send(
        new UpdateCommand({
          TableName: name,
          Key: judgedAccountKey(accountId),
          UpdateExpression: 'SET judgedAt = :now',
          ConditionExpression: 'attribute_not_exists(judgedAt) OR judgedAt <= :since',
          ExpressionAttributeValues: { ':now': now.toISOString(), ':since': since },
        }),
      );
      return true;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return false;
      throw error;
    }
  },

  /** Saves some shards, and leaves the others as they are. */
  save: async (shards: readonly ShardProgress[]): Promise<void> => {
    if (shards.length === 0) return;
    await client.send(
      new UpdateCommand({
        TableName: name,
        Key: evaluationProgressKey(),
        UpdateExpression: `SET ${shards.map(({ shard }) => `${attributeOf(shard)} = :${shard}`).join(', ')}`,
        ExpressionAttributeValues: Object.fromEntries(
          shards.map(({ shard, judgedUntil, due, rules }) => [`:${shard}`, { judgedUntil, due, rules }]),
        ),
      }),
    );
  },
});

export type EvaluationProgress = ReturnType<typeof openEvaluationProgress>;
