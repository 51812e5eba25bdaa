import { hash } from 'node:crypto';

/** The shard of an account's items: always the same, with accounts spread evenly. */
export const shardOf = (accountId: string, shards: number): number =>
  hash('sha256', accountId, 'buffer').readUInt32BE() % shards;
