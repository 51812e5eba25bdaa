import * as z from 'zod/mini';
import { EXISTS, update } from '../table/actions.ts';
import { accountJobsIndexKey, accountJobsIndexPartition, type Key } from '../table/keys.ts';
import { itemsOfIndex } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { tryWrite } from '../table/write.ts';

const jobSchema = z.object({ pk: z.string(), sk: z.string(), accountId: z.string(), kind: z.string() });

/** A job for a whole account: its deletion, an archive, reading a bill, making a report, or sending new data to a destination. */
type AccountJob = z.infer<typeof jobSchema>;

/** The item of a job. @param dueAt ISO 8601 UTC; null where there is nothing to do */
export const jobItem = <J extends { readonly accountId: string }>(
  kind: string,
  key: Key,
  job: J,
  dueAt: string | null,
) => ({
  ...key,
  kind,
  ...job,
  ...(dueAt !== null && accountJobsIndexKey(dueAt, job.accountId, key.sk)),
});

/**
 * The write of members of a job, and of when it goes on.
 *
 * @param dueAt ISO 8601 UTC; null where there is nothing more to do
 * @param asRead members of the job as they were read. Where a person has changed one since then, nothing is written
 */
export const jobChange = (
  key: Key,
  accountId: string,
  changes: Readonly<Record<string, unknown>>,
  dueAt: string | null,
  asRead: Readonly<Record<string, unknown>> = {},
) => {
  const members = { ...changes, ...(dueAt !== null && accountJobsIndexKey(dueAt, accountId, key.sk)) };
  const changed = Object.keys(members).map((each) => `#${each} = :${each}`);
  const set = changed.length > 0 ? `SET ${changed.join(', ')}` : '';
  const condition = [EXISTS, ...Object.keys(asRead).map((each) => `#${each} = :${each}`)].join(' AND ');
  return update(key, `${set}${dueAt === null ? ' REMOVE gsi1pk, gsi1sk' : ''}`, condition, { ...members, ...asRead });
};

/** Writes it. @returns false if the job is gone, or is not as it was read */
export const writeJob = (table: Table, ...change: Parameters<typeof jobChange>): Promise<boolean> =>
  tryWrite(table, jobChange(...change));

/** Jobs that are due, the longest waiting first. */
export async function* dueJobs(table: Table, now: Date): AsyncGenerator<AccountJob> {
  for await (const item of itemsOfIndex(table, accountJobsIndexPartition, `${now.toISOString()}$`))
    yield jobSchema.parse(item);
}
