import * as z from 'zod/mini';
import { type SavedView, viewPages } from '../../domain/accounts/saved-view.ts';
import { NotFoundError } from '../../domain/errors.ts';
import { savedViewKey } from '../table/keys.ts';
import { queryItems } from '../table/query-items.ts';
import type { Table } from '../table/table.ts';
import { ConditionsFailedError, type TransactionItems, transact } from '../table/transact.ts';
import { type AuditEntry, putAudit } from './audit-log.ts';

const viewSchema = z.object({
  viewId: z.string(),
  name: z.string(),
  page: z.enum(viewPages),
  search: z.string(),
  createdAt: z.string(),
  updatedAt: z.string(),
});

/** The views that the members of accounts saved. */
export const openSavedViews = (table: Table) => {
  const { name: TableName } = table;

  const write = async (action: TransactionItems[number], audit: AuditEntry): Promise<void> => {
    try {
      await transact(table, [action, putAudit(TableName, audit)]);
    } catch (error) {
      throw error instanceof ConditionsFailedError ? new NotFoundError('There is no such view.') : error;
    }
  };
  const putting =
    (condition: 'attribute_exists(pk)' | 'attribute_not_exists(pk)') =>
    (view: SavedView, audit: AuditEntry): Promise<void> => {
      const Item = { ...savedViewKey(audit.accountId, view.viewId), ...view };
      return write({ Put: { TableName, Item, ConditionExpression: condition } }, audit);
    };

  return {
    /** Oldest first. */
    list: async (accountId: string): Promise<SavedView[]> => {
      const { pk, sk } = savedViewKey(accountId, '');
      const views: SavedView[] = [];
      for await (const item of queryItems(table, {
        KeyConditionExpression: 'pk = :pk AND begins_with(sk, :views)',
        ExpressionAttributeValues: { ':pk': pk, ':views': sk },
        ConsistentRead: true,
      }))
        views.push(viewSchema.parse(item));
      return views;
    },

    create: putting('attribute_not_exists(pk)'),

    /** @throws NotFoundError */
    replace: putting('attribute_exists(pk)'),

    /** @throws NotFoundError */
    remove: (viewId: string, audit: AuditEntry): Promise<void> => {
      const Key = savedViewKey(audit.accountId, viewId);
      return write({ Delete: { TableName, Key, ConditionExpression: 'attribute_exists(pk)' } }, audit);
    },
  };
};

export type SavedViews = ReturnType<typeof openSavedViews>;
