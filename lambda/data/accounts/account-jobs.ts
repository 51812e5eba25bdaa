import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { accountJobsIndexKey, accountJobsIndexPartition, type Key } from '../table/keys.ts';
import { queryItems } from '../table/query-items.ts';
import type { Table } from '../table/table.ts';

const jobSchema = z.object({ pk: z.string(), sk: z.string(), accountId: z.string(), kind: z.string() });

/** Something to do for a whole account: its deletion, an archive of it, to read a bill, or to make a report. */
export type AccountJob = z.infer<typeof jobSchema>;

/** The members that put a job on the list of due ones. @param dueAt ISO 8601 UTC */
export const dueFrom = (dueAt: string, { accountId, sk }: { readonly accountId: string; readonly sk: string }) =>
  accountJobsIndexKey(dueAt, accountId, sk);

/**
 * Writes members of a job, and when it goes on.
 *
 * @param dueAt ISO 8601 UTC; null where there is nothing more to do
 * @returns false if the job is gone
 */
export const writeJob = async (
  { client, name }: Table,
  key: Key,
  accountId: string,
  changes: Readonly<Record<string, unknown>>,
  dueAt: string | null,
): Promise<boolean> => {
  const members = { ...changes, ...(dueAt !== null && dueFrom(dueAt, { accountId, sk: key.sk })) };
  const names = Object.keys(members);
  try {
    await client.send(
      new UpdateCommand({
        TableName: name,
        Key: { pk: key.pk, sk: key.sk },
        UpdateExpression: `${names.length > 0 ? `SET ${names.map((each) => `#${each} = :${each}`).join(', ')}` : ''}${dueAt === null ? ' REMOVE gsi1pk, gsi1sk' : ''}`,
        ConditionExpression: 'attribute_exists(pk)',
        ...(names.length > 0 && {
          ExpressionAttributeNames: Object.fromEntries(names.map((each) => [`#${each}`, each])),
          ExpressionAttributeValues: Object.fromEntries(
            Object.entries(members).map(([each, value]) => [`:${each}`, value]),
          ),
        }),
      }),
    );
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
};

/** Jobs that are due, the one that waits longest first. */
export async function* dueJobs(table: Table, now: Date): AsyncGenerator<AccountJob> {
  for await (const item of queryItems(table, {
    IndexName: 'gsi1',
    KeyConditionExpression: 'gsi1pk = :jobs AND gsi1sk <= :now',
    ExpressionAttributeValues: { ':jobs': accountJobsIndexPartition, ':now': `${now.toISOString()}$` },
  }))
    yield jobSchema.parse(item);
}
