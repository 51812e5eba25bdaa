import type { Bills } from '../../data/reconciliation/bills.ts';
import { parseBillCsv } from '../../domain/reconciliation/bill-csv.ts';
import type { Implementation } from '../../http/operation.ts';
import type * as operations from './operations.ts';

export const importBill =
  ({
    bills,
    now,
  }: {
    readonly bills: Pick<Bills, 'replace'>;
    readonly now: () => Date;
  }): Implementation<typeof operations.importBill> =>
  async ({ caller: { accountId }, params: { provider }, body: { csv } }) => {
    const lines = parseBillCsv(csv);
    const days = await bills.replace(accountId, provider, { lines, usage: [] }, now().toISOString());
    return { days: [...days], lines: lines.length };
  };
