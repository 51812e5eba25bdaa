import { QueryCommand, type QueryCommandInput } from '@aws-sdk/lib-dynamodb';
import type { Table } from './table.ts';

/** Every item of a query, page after page. */
export async function* queryItems(
  { client, name }: Table,
  query: Omit<QueryCommandInput, 'TableName' | 'ExclusiveStartKey'>,
): AsyncGenerator<Record<string, unknown>> {
  let start: Record<string, unknown> | undefined;
  do {
    const page = await client.send(new QueryCommand({ ...query, TableName: name, ExclusiveStartKey: start }));
    yield* page.Items ?? [];
    start = page.LastEvaluatedKey;
  } while (start);
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
