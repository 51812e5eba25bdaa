import { expressionAttributes } from './actions.ts';
import type { Key } from './keys.ts';
import type { Table } from './table.ts';

/**
 * An item by its key; undefined if there is none.
 *
 * @param options `consistent`: what was just written shows, which is so by default. `attributes`: the only ones to read, `a, #b`
 */
export const findItem = async (
  { call, name }: Table,
  { pk, sk }: Key,
  { consistent = true, attributes }: { readonly consistent?: boolean; readonly attributes?: string } = {},
): Promise<Record<string, unknown> | undefined> => {
  const { Item } = await call('GetItem', {
    TableName: name,
    Key: { pk, sk },
    ConsistentRead: consistent,
    ...(attributes !== undefined && { ProjectionExpression: attributes, ...expressionAttributes(attributes) }),
  });
  return Item;
};
