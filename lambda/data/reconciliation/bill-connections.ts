import * as z from 'zod/mini';
import { dueFrom, writeJob } from '../accounts/account-jobs.ts';
import { type AuditEntry, putAudit } from '../accounts/audit-log.ts';
import { billConnectionKey } from '../table/keys.ts';
import { queryItems } from '../table/query-items.ts';
import type { Table } from '../table/table.ts';
import { transact } from '../table/transact.ts';

const connectionSchema = z.object({
  accountId: z.string(),
  provider: z.string(),
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
  /** Replaces the connection of a provider. It is due at once. */
  save: async (
    {
      accountId,
      provider,
      connectedAt,
      connectedBy,
    }: Pick<BillConnection, 'accountId' | 'provider' | 'connectedAt' | 'connectedBy'>,
    audit: AuditEntry,
  ): Promise<void> => {
    const key = billConnectionKey(accountId, provider);
    const Item = {
      ...key,
      kind: 'bill',
      accountId,
      provider,
      connectedAt,
      connectedBy,
      ...dueFrom(connectedAt, { accountId, sk: key.sk }),
    };
    await transact(table, [{ Put: { TableName: table.name, Item } }, putAudit(table.name, audit)]);
  },

  /** Succeeds where there is none. */
  remove: async (accountId: string, provider: string, audit: AuditEntry): Promise<void> => {
    const Key = { ...billConnectionKey(accountId, provider) };
    await transact(table, [{ Delete: { TableName: table.name, Key } }, putAudit(table.name, audit)]);
  },

  list: async (accountId: string): Promise<BillConnection[]> => {
    const { pk, sk } = billConnectionKey(accountId, '');
    const connections: BillConnection[] = [];
    for await (const item of queryItems(table, {
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :connections)',
      ExpressionAttributeValues: { ':pk': pk, ':connections': sk },
      ConsistentRead: true,
    }))
      connections.push(connectionSchema.parse(item));
    return connections;
  },

  /** @param dueAt ISO 8601 UTC: when the bill is read again */
  write: (
    accountId: string,
    provider: string,
    changes: Partial<Pick<BillConnection, 'readAt' | 'problem' | 'failures'>>,
    dueAt: string,
  ): Promise<boolean> => writeJob(table, billConnectionKey(accountId, provider), accountId, changes, dueAt),
});

export type BillConnections = ReturnType<typeof openBillConnections>;
