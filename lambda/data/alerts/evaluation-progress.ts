import * as z from 'zod/mini';
import { update } from '../table/actions.ts';
import { ACTIVE_RULE_SHARDS, evaluationProgressKey, judgedAccountKey } from '../table/keys.ts';
import { findItem } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { tryWrite, write } from '../table/write.ts';

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
export const openEvaluationProgress = (table: Table) => ({
  /** Every shard, in their order. */
  read: async (): Promise<ShardProgress[]> => {
    const item = (await findItem(table, evaluationProgressKey())) ?? {};
    return Array.from({ length: ACTIVE_RULE_SHARDS }, (_, shard) => ({
      ...storedShard.parse(item[attributeOf(shard)] ?? {}),
      shard,
    }));
  },

  /**
   * Claims an account whose rules are about to be judged. False where others began to judge them after `since`.
   *
   * @param since ISO 8601 UTC
   */
  claimAccount: (accountId: string, since: string, now: Date): Promise<boolean> =>
    tryWrite(
      table,
      update(
        judgedAccountKey(accountId),
        'SET judgedAt = :now',
        'attribute_not_exists(judgedAt) OR judgedAt <= :since',
        { now: now.toISOString(), since },
      ),
    ),

  /** Saves some shards, and leaves the others as they are. */
  save: async (shards: readonly ShardProgress[]): Promise<void> => {
    if (shards.length === 0) return;
    const set = shards.map(({ shard }) => `${attributeOf(shard)} = :${attributeOf(shard)}`);
    const values = shards.map(({ shard, judgedUntil, due, rules }) => [
      attributeOf(shard),
      { judgedUntil, due, rules },
    ]);
    await write(table, update(evaluationProgressKey(), `SET ${set.join(', ')}`, null, Object.fromEntries(values)));
  },
});

export type EvaluationProgress = ReturnType<typeof openEvaluationProgress>;
