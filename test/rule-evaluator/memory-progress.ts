import type { EvaluationProgress, ShardProgress } from '../../lambda/data/alerts/evaluation-progress.ts';
import { ACTIVE_RULE_SHARDS } from '../../lambda/data/table/keys.ts';

export const allShards = Array.from({ length: ACTIVE_RULE_SHARDS }, (_, shard) => shard);

/** Progress in memory, as the table has it. `saved` is what was saved, in order. */
export const memoryProgress = (state: Partial<ShardProgress> = {}) => {
  const shards = new Map(
    allShards.map((shard): [number, ShardProgress] => [
      shard,
      { judgedUntil: null, due: null, rules: null, ...state, shard },
    ]),
  );
  const saved: ShardProgress[][] = [];
  const progress: EvaluationProgress = {
    read: async () => [...shards.values()],
    claimAccount: async () => true,
    save: async (some) => {
      if (some.length > 0) saved.push([...some]);
      for (const each of some) shards.set(each.shard, each);
    },
  };
  return { ...progress, shards, saved };
};
