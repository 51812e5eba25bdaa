import { type AuditLog, auditOf } from '../../data/accounts/audit-log.ts';
import type { Bills } from '../../data/reconciliation/bills.ts';
import { parseBillCsv } from '../../domain/reconciliation/bill-csv.ts';
import type { Implementation } from '../../http/operation.ts';
import type * as operations from './operations.ts';

export const importBill =
  ({
    bills,
    audit,
    now,
  }: {
    readonly bills: Pick<Bills, 'replace'>;
    readonly audit: Pick<AuditLog, 'record'>;
    readonly now: () => Date;
  }): Implementation<typeof operations.importBill> =>
  async ({ caller, clientAddress, params: { provider }, body: { csv } }) => {
    const lines = parseBillCsv(csv);
    const at = now();
    const days = await bills.replace(caller.accountId, provider, { lines, usage: [] }, at.toISOString());
    const details = { provider, days: String(days.length), lines: String(lines.length) };
    await audit.record(auditOf({ caller, clientAddress }, { action: 'bill.imported', details }, at));
    return { days: [...days], lines: lines.length };
  };
