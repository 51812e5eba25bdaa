import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { expressionAttributes } from './actions.ts';
import type { Key } from './keys.ts';
import type { Table } from './table.ts';

/**
 * An item by its key; undefined if there is none.
 *
 * @param options `consistent`: what was just written shows, which is so by default. `attributes`: the only ones to read, `a, #b`
 */
export const findItem = async (
  { client, name }: Table,
  { pk, sk }: Key,
  { consistent = true, attributes }: { readonly consistent?: boolean; readonly attributes?: string } = {},
): Promise<Record<string, unknown> | undefined> => {
  const { Item } = await client.send(
    new GetCommand({
      TableName: name,
      Key: { pk, sk },
      ConsistentRead: consistent,
      ...(attributes !== undefined && { ProjectionExpression: attributes, ...expressionAttributes(attributes) }),
    }),
  );
  return Item;
};
