import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { ACTIVE_RULE_SHARDS, evaluatorShardKey, evaluatorTurnKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

const storedTurn = z.object({ turn: z.int() });

const storedProgress = z.object({
  /** All rules of the shard were judged at this time or later, ISO 8601 UTC. Null before the first time. */
  judgedUntil: z._default(z.nullable(z.string()), null),
  /** The account after which a run stopped, and when the round began that is not done yet; null where none is under way. */
  stopped: z._default(z.nullable(z.object({ after: z.string(), since: z.string() })), null),
});

/** How far the rules of a shard have been judged. */
export type ShardProgress = z.infer<typeof storedProgress>;

/**
 * Where the evaluator stopped. Runs take turns at the shards, so that runs at the same time share the work, and neither a run that is
 * stopped nor one that dies keeps any shard from being judged.
 */
export const openEvaluationProgress = ({ client, name }: Table) => ({
  /** The shard whose turn it is, and how far it is. */
  claimShard: async (): Promise<ShardProgress & { readonly shard: number }> => {
    const { Attributes } = await client.send(
      new UpdateCommand({
        TableName: name,
        Key: evaluatorTurnKey(),
        UpdateExpression: 'ADD turn :one',
        ExpressionAttributeValues: { ':one': 1 },
        ReturnValues: 'UPDATED_NEW',
      }),
    );
    const shard = storedTurn.parse(Attributes).turn % ACTIVE_RULE_SHARDS;
    const { Item } = await client.send(
      new GetCommand({ TableName: name, Key: evaluatorShardKey(shard), ConsistentRead: true }),
    );
    return { shard, ...storedProgress.parse(Item ?? {}) };
  },

  /** Saves how far a shard is, for the next run that claims it. */
  save: async (shard: number, { judgedUntil, stopped }: ShardProgress): Promise<void> => {
    await client.send(
      new UpdateCommand({
        TableName: name,
        Key: evaluatorShardKey(shard),
        UpdateExpression: 'SET judgedUntil = :judgedUntil, stopped = :stopped',
        ExpressionAttributeValues: { ':judgedUntil': judgedUntil, ':stopped': stopped },
      }),
    );
  },
});

export type EvaluationProgress = ReturnType<typeof openEvaluationProgress>;
