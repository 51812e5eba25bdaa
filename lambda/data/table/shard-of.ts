import { createHash } from 'node:crypto';

/** The shard of an account's items: always the same, with accounts spread evenly. */
export const shardOf = (accountId: string, shards: number): number =>
  createHash('sha256').update(accountId).digest().readUInt32BE() % shards;
