import { NotFoundError } from '../../domain/errors.ts';
import { type Destination, type DestinationChanges, destinationSchema } from '../../domain/exports/destination.ts';
import { jobChange, jobItem } from '../accounts/account-jobs.ts';
import { type AuditEntry, putAudit } from '../accounts/audit-log.ts';
import { EXISTS, IS_NEW, put, remove } from '../table/actions.ts';
import { destinationKey } from '../table/keys.ts';
import { findAs, listReadable } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { transact, tryWrite } from '../table/write.ts';

const gone = () => new NotFoundError('There is no such destination.');

/** Destinations of accounts. An active one is a job that is due again and again: see account-jobs.ts. */
export const openDestinations = (table: Table) => {
  const change = (
    { accountId, destinationId }: Pick<Destination, 'accountId' | 'destinationId'>,
    changes: DestinationChanges,
    dueAt: string | null,
  ) => jobChange(destinationKey(accountId, destinationId), accountId, changes, dueAt);

  return {
    find: (accountId: string, destinationId: string): Promise<Destination | undefined> =>
      findAs(table, destinationKey(accountId, destinationId), destinationSchema),

    list: (accountId: string) => listReadable(table, destinationKey(accountId, ''), destinationSchema.parse),

    create: (destination: Destination, audit: AuditEntry): Promise<void> => {
      const key = destinationKey(destination.accountId, destination.destinationId);
      const item = jobItem('destination', key, destination, destination.createdAt);
      return transact(table, [put(item, IS_NEW), putAudit(audit)]);
    },

    /** @param dueAt ISO 8601 UTC; null for a destination that is off @throws NotFoundError */
    change: (destination: Destination, changes: DestinationChanges, dueAt: string | null, audit: AuditEntry) =>
      transact(table, [change(destination, changes, dueAt), putAudit(audit)], gone),

    /** Notes what came of sending. @returns false where it is gone */
    note: (destination: Destination, changes: DestinationChanges, dueAt: string | null): Promise<boolean> =>
      tryWrite(table, change(destination, changes, dueAt)),

    /** @throws NotFoundError */
    remove: (accountId: string, destinationId: string, audit: AuditEntry): Promise<void> =>
      transact(table, [remove(destinationKey(accountId, destinationId), EXISTS), putAudit(audit)], gone),
  };
};

export type Destinations = ReturnType<typeof openDestinations>;
