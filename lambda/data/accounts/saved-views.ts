import * as z from 'zod/mini';
import { viewPages } from '../../domain/accounts/saved-view.ts';
import { ConflictError, NotFoundError } from '../../domain/errors.ts';
import { type Action, EXISTS, IS_NEW, put, remove } from '../table/actions.ts';
import { savedViewKey } from '../table/keys.ts';
import { listReadable } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { transact } from '../table/write.ts';
import { type AuditEntry, putAudit } from './audit-log.ts';

const viewSchema = z.object({
  viewId: z.string(),
  name: z.string(),
  page: z.enum(viewPages),
  /** The page's URL after `?`. A range such as "this month" is a name there: it moves with the time. */
  search: z.string(),
  /** ISO 8601 UTC. */
  createdAt: z.string(),
  updatedAt: z.string(),
});
/** A page of the dashboard with its settings, under a name, for all members of the account. */
export type SavedView = z.infer<typeof viewSchema>;

export const openSavedViews = (table: Table) => {
  const write = (action: Action, audit: AuditEntry, refusal = new NotFoundError('There is no such view.')) =>
    transact(table, [action, putAudit(audit)], () => refusal);
  const itemOf = (view: SavedView, { accountId }: AuditEntry) => ({ ...savedViewKey(accountId, view.viewId), ...view });

  return {
    /** Oldest first. */
    list: async (accountId: string): Promise<SavedView[]> =>
      (await listReadable(table, savedViewKey(accountId, ''), viewSchema.parse)).items,

    create: (view: SavedView, audit: AuditEntry): Promise<void> => write(put(itemOf(view, audit), IS_NEW), audit),

    /** @param before as it was read. @throws ConflictError where it is not this one any more */
    replace: (view: SavedView, { name, search }: SavedView, audit: AuditEntry): Promise<void> =>
      write(
        put(itemOf(view, audit), '#name = :name AND #search = :search', { name, search }),
        audit,
        new ConflictError('The view was changed or deleted in the meantime. Read it again.'),
      ),

    /** @throws NotFoundError */
    remove: (viewId: string, audit: AuditEntry): Promise<void> =>
      write(remove(savedViewKey(audit.accountId, viewId), EXISTS), audit),
  };
};
