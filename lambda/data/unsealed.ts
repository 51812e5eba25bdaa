import { createHash, randomUUID } from 'node:crypto';
import { type Day, endOf, type Month } from '../domain/spend/periods.ts';
import { UNSEALED_SHARDS, unsealedIndexKey, unsealedKey } from './keys.ts';

/**
 * A day is sealed an hour after its end, not sooner: a writer that began before midnight does not know yet that its day is over,
 * and no writer lives that long (a Lambda function ends after 15 minutes).
 */
const GRACE_MS = 3_600_000;

const shardOf = (accountId: string): number =>
  createHash('sha256').update(accountId).digest().readUInt32BE() % UNSEALED_SHARDS;

/**
 * The write that says: this period's summary is not, or no longer, what its cells say. Every mark has a nonce of its own; who
 * seals takes the mark away only if it still is the one that stood there before the cells were read.
 */
export const markUnsealed = (table: string, accountId: string, period: Day | Month, now: number) => {
  const dueAt = new Date(Math.max(endOf(period).getTime() + GRACE_MS, now)).toISOString();
  return {
    Put: {
      TableName: table,
      Item: {
        ...unsealedKey(accountId, period),
        ...unsealedIndexKey(shardOf(accountId), dueAt, accountId, period),
        accountId,
        period,
        nonce: randomUUID(),
      },
    },
  };
};
