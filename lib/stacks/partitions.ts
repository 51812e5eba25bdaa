import {
  accountKey,
  PARKED_EVENT_SHARDS,
  parkedEventPartition,
  serviceKeyKey,
  userKey,
} from '../../lambda/data/keys.ts';

/**
 * The partitions of the one table as patterns for IAM conditions, made by the functions that make the keys.
 * An account's patterns also cover what hangs under it: its request log and its spend.
 */
export const partitions = {
  accounts: [accountKey('*').pk],
  serviceKeys: [serviceKeyKey('*').pk],
  users: [userKey('*').pk],
  parkedEvents: Array.from({ length: PARKED_EVENT_SHARDS }, (_, shard) => parkedEventPartition(shard)),
} as const;
