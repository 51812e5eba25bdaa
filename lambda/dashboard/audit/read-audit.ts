import type { AuditEntry } from '../../data/accounts/audit-log.ts';
import type { Implementation } from '../../http/operation.ts';
import { type AuditDependencies, keptRange } from './audit-query.ts';
import type * as operations from './operations.ts';

const view = ({ auditId, accountId: _, ...entry }: AuditEntry) => ({ id: auditId, ...entry });

export const listAudit =
  (dependencies: AuditDependencies): Implementation<typeof operations.listAudit> =>
  async ({ caller: { accountId }, query: { limit, cursor, from, to } }) => {
    const range = await keptRange(dependencies, accountId, { from, to });
    const { items, nextCursor } = await dependencies.audit.page(accountId, { ...range, limit, cursor });
    return { items: items.map(view), nextCursor };
  };
