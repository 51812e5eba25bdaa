import { plans } from '../../domain/billing/plans.ts';
import { addDays, type Day, dayOf, daysBetween, monthOf } from '../../domain/calendar/utc.ts';
import {
  ACCOUNT_SHARDS,
  auditPartition,
  blocksKey,
  monthKey,
  parseMonthSk,
  requestPartition,
  sessionPartition,
  spendPartition,
} from '../table/keys.ts';
import { itemsUnder } from '../table/read.ts';
import type { Table } from '../table/table.ts';

/** The table deletes expired items within days, and a deletion waits for seven. */
const EXPIRY_DAYS = 14;
const KEPT_DAYS =
  Math.max(...Object.values(plans).map(({ requestRetentionDays }) => requestRetentionDays)) + EXPIRY_DAYS;

/** The days of which an account may have items, ascending. Tomorrow is among them: clocks differ. */
export const keptDays = (now: Date): Day[] => {
  const today = dayOf(now.toISOString());
  return daysBetween(addDays(today, -KEPT_DAYS), addDays(today, 1));
};

/** The months of an account that are sharded. */
export const shardedMonths = async (table: Table, accountId: string): Promise<ReadonlySet<string>> => {
  const months = new Set<string>();
  const { pk, sk } = monthKey(accountId, '', 1);
  const under = { pk, sk: sk.slice(0, sk.indexOf('#') + 1) };
  for await (const item of itemsUnder(table, under, { ProjectionExpression: 'sk', ConsistentRead: true }))
    months.add(parseMonthSk(String(item['sk'])));
  return months;
};

/** The partitions of a day's requests. @param sharded `shardedMonths` */
export const requestPartitions = (accountId: string, day: Day, sharded: ReadonlySet<string>): string[] =>
  Array.from({ length: sharded.has(monthOf(day)) ? ACCOUNT_SHARDS : 1 }, (_, shard) =>
    requestPartition(accountId, day, shard),
  );

/**
 * Every partition that has items of one account and of no other, but for those that its own partition lists. In the order in which they can
 * be deleted: those of requests are empty long before the one of spend is begun, which says which months are sharded.
 */
export const accountPartitions = async (table: Table, accountId: string, now: Date): Promise<string[]> => {
  const days = keptDays(now);
  const sharded = await shardedMonths(table, accountId);
  return [
    ...days.flatMap((day) => requestPartitions(accountId, day, sharded)),
    ...days.map((day) => sessionPartition(accountId, day)),
    spendPartition(accountId),
    auditPartition(accountId),
    blocksKey(accountId).pk,
  ];
};

const PAGE = 500;

/** A page of a partition. @param after sort key of the last item of the page before */
export const readPage = async (
  { call, name }: Table,
  pk: string,
  after: string | null,
): Promise<{ readonly items: Record<string, unknown>[]; readonly after: string | null }> => {
  const { Items = [], LastEvaluatedKey } = await call('Query', {
    TableName: name,
    KeyConditionExpression: after === null ? 'pk = :pk' : 'pk = :pk AND sk > :after',
    ExpressionAttributeValues: { ':pk': pk, ...(after !== null && { ':after': after }) },
    ConsistentRead: true,
    Limit: PAGE,
  });
  return { items: Items, after: LastEvaluatedKey === undefined ? null : String(LastEvaluatedKey['sk']) };
};
