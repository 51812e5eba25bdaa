import { createHash } from 'node:crypto';

/** The shard an account's items stand in: always the same, and as many accounts in each. */
export const shardOf = (accountId: string, shards: number): number =>
  createHash('sha256').update(accountId).digest().readUInt32BE() % shards;
