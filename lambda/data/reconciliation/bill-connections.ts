import * as z from 'zod/mini';
import { MINUTE_MS } from '../../domain/calendar/units.ts';
import { billedProviders } from '../../domain/reconciliation/bill.ts';
import { jobItem, writeJob } from '../accounts/account-jobs.ts';
import { type AuditEntry, putAudit } from '../accounts/audit-log.ts';
import { put, remove } from '../table/actions.ts';
import { billConnectionKey } from '../table/keys.ts';
import { listReadable } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { transact } from '../table/write.ts';

const connectionSchema = z.object({
  accountId: z.string(),
  provider: z.enum(billedProviders),
  /** ISO 8601 UTC. */
  connectedAt: z.string(),
  connectedBy: z.string(),
  /** When the bill was last read; null before the first time. */
  readAt: z._default(z.nullable(z.string()), null),
  /** Why it could not be read the last time. */
  problem: z._default(z.nullable(z.string()), null),
  failures: z._default(z.int(), 0),
});
export type BillConnection = z.infer<typeof connectionSchema>;

/** Providers whose bill is read for an account. Each is a job that is due again and again: see account-jobs.ts. */
export const openBillConnections = (table: Table) => ({
  /** Replaces the connection of a provider. It is due in a minute: by then its credential is saved. */
  save: (
    connection: Pick<BillConnection, 'accountId' | 'provider' | 'connectedAt' | 'connectedBy'>,
    audit: AuditEntry,
  ): Promise<void> => {
    const key = billConnectionKey(connection.accountId, connection.provider);
    const dueAt = new Date(Date.parse(connection.connectedAt) + MINUTE_MS).toISOString();
    return transact(table, [put(jobItem('bill', key, connection, dueAt)), putAudit(audit)]);
  },

  /** Succeeds where there is none. */
  remove: (accountId: string, provider: string, audit: AuditEntry): Promise<void> =>
    transact(table, [remove(billConnectionKey(accountId, provider)), putAudit(audit)]),

  list: (accountId: string) => listReadable(table, billConnectionKey(accountId, ''), connectionSchema.parse),

  /** Writes nothing if it was connected again since it was read. @param dueAt ISO 8601 UTC: when the bill is read again */
  write: (
    { accountId, provider, connectedAt }: BillConnection,
    changes: Partial<Pick<BillConnection, 'readAt' | 'problem' | 'failures'>>,
    dueAt: string,
  ): Promise<boolean> =>
    writeJob(table, billConnectionKey(accountId, provider), accountId, changes, dueAt, { connectedAt }),
});

export type BillConnections = ReturnType<typeof openBillConnections>;
