import { NotFoundError } from '../../domain/errors.ts';
import { type Decision, decisionSchema } from '../../domain/savings/decision.ts';
import { type AuditEntry, putAudit } from '../accounts/audit-log.ts';
import { EXISTS, put, remove } from '../table/actions.ts';
import { savingKey } from '../table/keys.ts';
import { listReadable } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { transact } from '../table/write.ts';
import type { openSavings } from './savings.ts';

/** Decisions of accounts about findings of savings. */
export const openSavingDecisions = (table: Table) => ({
  /** Those that can be read: a later version wrote the others, about findings that this one does not make. */
  list: async (accountId: string): Promise<Decision[]> =>
    (await listReadable(table, savingKey(accountId, ''), decisionSchema.parse)).items,

  /** Replaces an earlier one. */
  save: (decision: Decision, audit: AuditEntry): Promise<void> =>
    transact(table, [put({ ...savingKey(audit.accountId, decision.findingId), ...decision }), putAudit(audit)]),

  /** @throws NotFoundError */
  remove: (findingId: string, audit: AuditEntry): Promise<void> =>
    transact(
      table,
      [remove(savingKey(audit.accountId, findingId), EXISTS), putAudit(audit)],
      () => new NotFoundError('Nothing was decided about this finding.'),
    ),
});

/** Savings, whose code, since it prices requests, is loaded for the first question about them. */
export const loadSavings = (...of: Parameters<typeof openSavings>) => {
  let savings: Promise<ReturnType<typeof openSavings>> | undefined;
  return () => {
    savings ??= import('#savings').then((code) => code.openSavings(...of));
    return savings;
  };
};
