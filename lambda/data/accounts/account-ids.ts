import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { accountKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

const stored = z.object({ pk: z.string() });
const prefix = accountKey('').pk;

/** Every account there is. Reads the whole table: for operations, never for a request. */
export async function* allAccountIds({ client, name }: Table): AsyncGenerator<string> {
  let start: Record<string, unknown> | undefined;
  do {
    const page = await client.send(
      new ScanCommand({
        TableName: name,
        ExclusiveStartKey: start,
        FilterExpression: 'sk = :meta AND begins_with(pk, :account)',
        ExpressionAttributeValues: { ':meta': accountKey('').sk, ':account': prefix },
        ProjectionExpression: 'pk',
      }),
    );
    for (const item of page.Items ?? []) yield stored.parse(item).pk.slice(prefix.length);
    start = page.LastEvaluatedKey;
  } while (start);
}
