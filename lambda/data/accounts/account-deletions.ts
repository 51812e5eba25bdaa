import * as z from 'zod/mini';
import { ConflictError, NotFoundError } from '../../domain/errors.ts';
import { check, IS_NEW, put, remove } from '../table/actions.ts';
import { accountKey, deletionKey } from '../table/keys.ts';
import { findAs } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { transact } from '../table/write.ts';
import { jobItem, writeJob } from './account-jobs.ts';
import { type AuditEntry, putAudit } from './audit-log.ts';

const deletionSchema = z.object({
  accountId: z.string(),
  /** ISO 8601 UTC. */
  requestedAt: z.string(),
  /** Mail address of the owner. */
  requestedBy: z.string(),
  /** ISO 8601 UTC. From then on it cannot be cancelled. */
  deletesAt: z.string(),
  /**
   * `waiting` until `deletesAt`; `closing` until keys are refused; `deleting`, once events in flight have arrived, until a whole pass finds
   * nothing.
   */
  phase: z.enum(['waiting', 'closing', 'deleting']),
  failures: z.optional(z.int()),
  /** Where a pass goes on, which one run could not end. */
  next: z.optional(z.nullable(z.string())),
  /** Whether this pass has found anything. */
  found: z.optional(z.boolean()),
});

export type AccountDeletion = z.infer<typeof deletionSchema>;

export const openAccountDeletions = (table: Table) => {
  const find = (accountId: string) => findAs(table, deletionKey(accountId), deletionSchema);

  return {
    /** Undefined unless the account is going to be deleted. */
    find,

    /** @throws ConflictError if somebody did so before, or the caller is not the owner any more */
    request: (
      deletion: Pick<AccountDeletion, 'accountId' | 'requestedAt' | 'requestedBy' | 'deletesAt'>,
      ownerUserId: string,
      audit: AuditEntry,
    ): Promise<void> => {
      const { accountId, deletesAt } = deletion;
      const waiting = { ...deletion, phase: 'waiting' };
      return transact(
        table,
        [
          put(jobItem('deletion', deletionKey(accountId), waiting, deletesAt), IS_NEW),
          check(accountKey(accountId), 'ownerUserId = :ownerUserId', { ownerUserId }),
          putAudit(audit),
        ],
        ([isRequested]) =>
          new ConflictError(
            isRequested
              ? 'The account is going to be deleted already.'
              : 'You are not the owner of this account any more.',
          ),
      );
    },

    /**
     * @throws NotFoundError if nobody asked for a deletion
     * @throws ConflictError once it has begun
     */
    cancel: (accountId: string, now: string, audit: AuditEntry): Promise<void> =>
      transact(
        table,
        [
          remove(deletionKey(accountId), 'phase = :waiting AND deletesAt > :now', { waiting: 'waiting', now }),
          putAudit(audit),
        ],
        async () =>
          (await find(accountId)) === undefined
            ? new NotFoundError('The account is not going to be deleted.')
            : new ConflictError('The deletion has begun and cannot be cancelled any more.'),
      ),

    /** @param dueAt ISO 8601 UTC: when it goes on */
    write: (accountId: string, changes: Partial<AccountDeletion>, dueAt: string): Promise<boolean> =>
      writeJob(table, deletionKey(accountId), accountId, changes, dueAt),
  };
};

export type AccountDeletions = ReturnType<typeof openAccountDeletions>;
