import type { Bills } from '../../data/reconciliation/bills.ts';
import { ValidationError } from '../../domain/errors.ts';
import { parseBillCsv } from '../../domain/reconciliation/bill-csv.ts';
import type { Implementation } from '../../http/operation.ts';
import type * as operations from './operations.ts';

/** A day's item must stay below DynamoDB's 400 kB. */
const MAX_LINES_PER_DAY = 500;

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
    for (const [day, ofDay] of Map.groupBy(lines, (line) => line.day)) {
      if (ofDay.length > MAX_LINES_PER_DAY)
        throw new ValidationError([
          {
            path: 'csv',
            message: `has ${ofDay.length} lines for ${day}; the limit is ${MAX_LINES_PER_DAY}. Add up lines of the same model.`,
          },
        ]);
    }
    const days = await bills.replace(accountId, provider, { lines, usage: [] }, now().toISOString());
    return { days: [...days], lines: lines.length };
  };
