import { QueryCommand, type QueryCommandInput } from '@aws-sdk/lib-dynamodb';
import type { Table } from './table.ts';

/** Every item of a query, page after page. The next page is on its way while the items of one are looked at. */
export async function* queryItems(
  { client, name }: Table,
  query: Omit<QueryCommandInput, 'TableName' | 'ExclusiveStartKey'>,
): AsyncGenerator<Record<string, unknown>> {
  const read = (start?: Record<string, unknown>) =>
    client.send(new QueryCommand({ ...query, TableName: name, ExclusiveStartKey: start }));
  let reading: ReturnType<typeof read> | undefined = read();
  while (reading) {
    const { Items, LastEvaluatedKey }: Awaited<typeof reading> = await reading;
    reading = LastEvaluatedKey && read(LastEvaluatedKey);
    // Whoever stops early leaves it unread: its error is nobody's.
    reading?.catch(() => {});
    yield* Items ?? [];
  }
}

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
