/**
 * Every partition and sort key of the one table is built here and nowhere else.
 * No AWS imports: the gateway uses this module on its hot path.
 */

/** Primary key of an item. */
export interface Key {
  readonly pk: string;
  readonly sk: string;
}

/** ISO 8601 UTC day, `2026-11-20`. */
type Day = string;

/** Shards of a partition that many writers share; a partition takes 1,000 writes a second. @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html */
export const PARKED_EVENT_SHARDS = 8;
export const ACTIVE_RULE_SHARDS = 8;

export const accountKey = (accountId: string): Key => ({ pk: `ACCOUNT#${accountId}`, sk: 'META' });
/** Looked up by the gateway on admission: one read gives the account, its state and the key's. */
export const serviceKeyKey = (serviceKey: string): Key => ({ pk: `KEY#${serviceKey}`, sk: 'META' });
/** The account's own list of its service keys. */
export const accountServiceKeyKey = (accountId: string, keyId: string): Key => ({
  pk: `ACCOUNT#${accountId}`,
  sk: `KEY#${keyId}`,
});
export const userKey = (userId: string): Key => ({ pk: `USER#${userId}`, sk: 'META' });
/** The account's own list of its users. */
export const accountUserKey = (accountId: string, userId: string): Key => ({
  pk: `ACCOUNT#${accountId}`,
  sk: `USER#${userId}`,
});
export const ruleKey = (accountId: string, ruleId: string): Key => ({
  pk: `ACCOUNT#${accountId}`,
  sk: `RULE#${ruleId}`,
});
export const alertKey = (accountId: string, alertId: string): Key => ({
  pk: `ACCOUNT#${accountId}`,
  sk: `ALERT#${alertId}`,
});
/** Guard: one alert per rule and period. */
export const firedKey = (accountId: string, ruleId: string, periodStart: string): Key => ({
  pk: `ACCOUNT#${accountId}`,
  sk: `FIRED#${ruleId}#${periodStart}`,
});
/** Tracked requests of one calendar month (UTC), `2026-11`. */
export const monthKey = (accountId: string, month: string): Key => ({
  pk: `ACCOUNT#${accountId}`,
  sk: `MONTH#${month}`,
});
export const requestPartition = (accountId: string, day: Day): string => `ACCOUNT#${accountId}#REQ#${day}`;
export const requestKey = (accountId: string, day: Day, requestId: string): Key => ({
  pk: requestPartition(accountId, day),
  sk: requestId,
});
export const spendPartition = (accountId: string): string => `ACCOUNT#${accountId}#SPEND`;

/** What a spend cell is the cross of. Null stands for "not sent" and "not known". */
export interface SpendDimensions {
  readonly provider: string;
  readonly model: string | null;
  readonly tag: string | null;
  readonly keyId: string | null;
  readonly providerKey: string | null;
}

/** Escapes what separates the parts of a sort key: `%`, `#`. */
const part = (value: string | null): string =>
  value === null ? '' : `=${value.replaceAll('%', '%25').replaceAll('#', '%23')}`;

/**
 * One spend cell. A sort key may take 1,024 bytes: model and tag are limited in characters by the event schema (128 + 64
 * characters, at most 4 bytes each), which keeps the sum below that.
 *
 * @param time `2026-11-20` for a day cell, `2026-11-20T16` for an hour cell
 */
export const spendCellKey = (
  accountId: string,
  granularity: 'DAY' | 'HOUR',
  time: string,
  dimensions: SpendDimensions,
): Key => ({
  pk: spendPartition(accountId),
  sk: `${granularity}#${time}#${[dimensions.provider, dimensions.model, dimensions.tag, dimensions.keyId, dimensions.providerKey].map(part).join('#')}`,
});

/** A usage event written to the table because the queue would not take it; swept into the recorder every minute. */
export const parkedEventPartition = (shard: number): string => `PARKED#${shard}`;
export const parkedEventKey = (shard: number, requestId: string, kind: 'open' | 'close'): Key => ({
  pk: parkedEventPartition(shard),
  sk: `${requestId}#${kind}`,
});

export const stripeEventKey = (eventId: string): Key => ({ pk: `STRIPE#${eventId}`, sk: 'META' });
