import type { QueryCommandInput } from '@aws-sdk/lib-dynamodb';
import { UnreadableItemError } from '../../domain/errors.ts';
import { expressionAttributes } from './actions.ts';
import type { Bounds, Key } from './keys.ts';
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

/** The same as a schema reads it. */
export const findAs = async <T>(
  table: Table,
  key: Key,
  schema: { readonly parse: (item: unknown) => T },
): Promise<T | undefined> => {
  const item = await findItem(table, key);
  return item && schema.parse(item);
};

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

/** Every item of one partition, ascending. */
export const itemsIn = (
  table: Table,
  pk: string,
  options: Pick<QueryCommandInput, 'ConsistentRead' | 'ProjectionExpression'> = {},
): AsyncGenerator<Record<string, unknown>> =>
  queryItems(table, { ...options, KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': pk } });

/** The items of one partition whose sort keys begin with `sk`, ascending. */
export const itemsUnder = (
  table: Table,
  { pk, sk }: Key,
  options: Omit<QueryCommandInput, 'TableName' | `Expression${string}`> = {},
  values: Record<string, string> = {},
): AsyncGenerator<Record<string, unknown>> =>
  queryItems(table, {
    ...options,
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
    ...expressionAttributes(`${options.FilterExpression} ${options.ProjectionExpression}`, {
      pk,
      prefix: sk,
      ...values,
    }),
  });

/**
 * The same as a list, read consistently.
 *
 * @param options what the table sends of them. It costs the same units, but parts of many items take a tenth of the time of all
 * @param values of the filter by name, without colon
 */
export const listItems = <T>(
  table: Table,
  under: Key,
  parse: (item: Record<string, unknown>) => T,
  options: Pick<QueryCommandInput, 'FilterExpression' | 'ProjectionExpression'> = {},
  values: Record<string, string> = {},
): Promise<T[]> =>
  Array.fromAsync(itemsUnder(table, under, { ...options, ConsistentRead: true }, values), (item) => parse(item));

/** The same, sorted into what this version can read and what it cannot: a later version wrote that. */
export const listReadable = async <T>(
  table: Table,
  under: Key,
  parse: (item: Record<string, unknown>) => T,
): Promise<{ readonly items: T[]; readonly unreadable: readonly Record<string, unknown>[] }> => {
  const unreadable: Record<string, unknown>[] = [];
  const found = await listItems(table, under, (item) => {
    try {
      return [parse(item)];
    } catch {
      unreadable.push(item);
      return [];
    }
  });
  return { items: found.flat(), unreadable };
};

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
  range: Bounds,
  options: Pick<QueryCommandInput, 'ConsistentRead' | 'ProjectionExpression' | 'ExpressionAttributeNames'> = {},
): AsyncGenerator<Record<string, unknown>> =>
  queryItems(table, {
    ...options,
    KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
    ExpressionAttributeValues: { ':pk': pk, ':from': range.from, ':to': range.to },
  });

/** @throws UnreadableItemError where `parse` throws */
export const readItem = <T>(parse: () => T): T => {
  try {
    return parse();
  } catch (cause) {
    throw new UnreadableItemError('A later version of the service wrote this: deploy that one to read it.', { cause });
  }
};
