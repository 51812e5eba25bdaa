import { z } from 'zod';
import type { Key } from '../lambda/data/table/keys.ts';
import type { Table } from '../lambda/data/table/table.ts';

export type Item = Record<string, unknown> & Key;

const PAGE = 100;

const keySchema = z.object({ pk: z.string(), sk: z.string() });

/** All items of a table, a page at a time, so that a large table is never held whole. */
export async function* pagesOf(
  { call, name }: Table,
  { consistent }: { readonly consistent: boolean },
): AsyncGenerator<Item[]> {
  let start: Record<string, unknown> | undefined;
  do {
    const page = await call('Scan', {
      TableName: name,
      Limit: PAGE,
      ConsistentRead: consistent,
      ExclusiveStartKey: start,
    });
    yield (page.Items ?? []).map((item) => ({ ...item, ...keySchema.parse(item) }));
    start = page.LastEvaluatedKey;
  } while (start);
}
