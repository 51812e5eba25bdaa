import * as z from 'zod/mini';
import { DAY_SECONDS } from '../../domain/calendar/units.ts';
import { NotFoundError } from '../../domain/errors.ts';
import { IS_NEW, put } from '../table/actions.ts';
import { archiveKey } from '../table/keys.ts';
import { findItem, listReadable, readItem } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { transact } from '../table/write.ts';
import { jobItem, writeJob } from './account-jobs.ts';
import { type AuditEntry, putAudit } from './audit-log.ts';

/** The bucket deletes archives a day later: see lib/constructs/object-bucket.ts. */
export const ARCHIVE_DAYS = 7;

/** How far an archive is written. What was written after it is written again after a crash. */
const checkpointSchema = z.object({
  uploadId: z.string(),
  /** Tags of the parts that S3 has. */
  tags: z.array(z.string()),
  /** Key of the object with what is too short for a part. */
  rest: z.nullable(z.string()),
  bytes: z.int(),
  /** Index of the archive's section. */
  section: z.int(),
  /** Where the section goes on: a sort key. Null at its beginning. */
  after: z.nullable(z.string()),
  /** File of the section, from 0. */
  file: z.int(),
});
export type ArchiveCheckpoint = z.infer<typeof checkpointSchema>;

const archiveSchema = z.object({
  archiveId: z.string(),
  accountId: z.string(),
  status: z.enum(['pending', 'ready', 'failed']),
  /** Percent. */
  progress: z.int(),
  /** ISO 8601 UTC. */
  requestedAt: z.string(),
  /** Mail address, or name of the API token. */
  requestedBy: z.string(),
  bytes: z._default(z.nullable(z.int()), null),
  /** ISO 8601 UTC. */
  availableUntil: z._default(z.nullable(z.string()), null),
  checkpoint: z._default(z.nullable(checkpointSchema), null),
  failures: z.optional(z.int()),
});
export type Archive = z.infer<typeof archiveSchema>;

export const openArchives = (table: Table) => ({
  create: (archive: Archive, audit: AuditEntry): Promise<void> => {
    const { accountId, archiveId, requestedAt } = archive;
    const expiresAt = Math.floor(Date.parse(requestedAt) / 1_000) + 2 * ARCHIVE_DAYS * DAY_SECONDS;
    const item = jobItem('archive', archiveKey(accountId, archiveId), { ...archive, expiresAt }, requestedAt);
    return transact(table, [put(item, IS_NEW), putAudit(audit)]);
  },

  /** Newest first. */
  list: async (accountId: string) => {
    const { items, unreadable } = await listReadable(table, archiveKey(accountId, ''), archiveSchema.parse);
    return { items: items.reverse(), unreadable };
  },

  /** @throws NotFoundError */
  find: async (accountId: string, archiveId: string): Promise<Archive> => {
    const item = await findItem(table, archiveKey(accountId, archiveId));
    if (item === undefined) throw new NotFoundError('There is no such archive.');
    return readItem(() => archiveSchema.parse(item));
  },

  /** @param dueAt ISO 8601 UTC: when it goes on; null when it is finished */
  write: (
    { accountId, archiveId }: Pick<Archive, 'accountId' | 'archiveId'>,
    changes: Partial<Archive>,
    dueAt: string | null,
  ): Promise<boolean> => writeJob(table, archiveKey(accountId, archiveId), accountId, changes, dueAt),
});

export type Archives = ReturnType<typeof openArchives>;
