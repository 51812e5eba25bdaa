import type { QueryCommandInput } from '@aws-sdk/lib-dynamodb';
import type { Key } from './keys.ts';
import type { Table } from './table.ts';

/** Every item of a query. It requests the next page while the caller works on the items of a page. */
export async function* queryItems(
  { call, name }: Table,
  query: Omit<QueryCommandInput, 'TableName' | 'ExclusiveStartKey'>,
): AsyncGenerator<Record<string, unknown>> {
  const read = (start?: Record<string, unknown>) =>
    call('Query', { ...query, TableName: name, ExclusiveStartKey: start });
  let reading: ReturnType<typeof read> | undefined = read();
  while (reading) {
    const { Items, LastEvaluatedKey }: Awaited<typeof reading> = await reading;
    reading = LastEvaluatedKey && read(LastEvaluatedKey);
    // A caller that stops early does not read it: its error must not be unhandled.
    reading?.catch(() => {});
    yield* Items ?? [];
  }
}

/** The items of one partition whose sort keys begin with `sk`, ascending. */
export const itemsUnder = (
  table: Table,
  { pk, sk }: Key,
  options: Pick<QueryCommandInput, 'ConsistentRead' | 'ProjectionExpression' | 'ScanIndexForward'> = {},
): AsyncGenerator<Record<string, unknown>> =>
  queryItems(table, {
    ...options,
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
    ExpressionAttributeValues: { ':pk': pk, ':prefix': sk },
  });

/** The same as a list, read consistently. */
export const listItems = <T>(table: Table, under: Key, parse: (item: Record<string, unknown>) => T): Promise<T[]> =>
  Array.fromAsync(itemsUnder(table, under, { ConsistentRead: true }), (item) => parse(item));

/** The items of a partition of the index, ascending. @param upTo a sort key, which is included */
export const itemsOfIndex = (table: Table, pk: string, upTo?: string): AsyncGenerator<Record<string, unknown>> =>
  queryItems(table, {
    IndexName: 'gsi1',
    KeyConditionExpression: `gsi1pk = :pk${upTo === undefined ? '' : ' AND gsi1sk <= :upTo'}`,
    ExpressionAttributeValues: { ':pk': pk, ...(upTo !== undefined && { ':upTo': upTo }) },
  });

/** The items of one partition between two sort keys, both included. */
export const itemsBetween = (
  table: Table,
  pk: string,
  range: { readonly from: string; readonly to: string },
  options: Pick<QueryCommandInput, 'ConsistentRead' | 'ProjectionExpression' | 'ExpressionAttributeNames'> = {},
): AsyncGenerator<Record<string, unknown>> =>
  queryItems(table, {
    ...options,
    KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
    ExpressionAttributeValues: { ':pk': pk, ':from': range.from, ':to': range.to },
  });
