import { spanOf } from '../../domain/calendar/range.ts';
import type { SpendDimensionName } from '../../domain/spend/dimensions.ts';
import { spendCsv } from '../../domain/spend/spend-csv.ts';
import type { ReadCells } from '../../domain/spend/spend-report.ts';
import type { Implementation } from '../../http/operation.ts';
import { dimensionOf, filterOf } from '../spend/spend-query.ts';
import type { exportSpend as operation } from './operations.ts';

interface ExportDependencies {
  readonly readCells: ReadCells;
  readonly now: () => Date;
}

const columnOf: Record<SpendDimensionName, string> = {
  provider: 'provider',
  model: 'model',
  tag: 'tag',
  keyId: 'key',
  providerKey: 'provider_key',
};

export const exportSpend =
  ({ readCells, now }: ExportDependencies): Implementation<typeof operation> =>
  async ({ caller: { accountId }, query }) => {
    const span = spanOf(query, now());
    const filter = filterOf(query);
    const groupBy = [...new Set(query.groupBy)].map(dimensionOf);
    const dimensions = [...new Set([...groupBy, ...(Object.keys(filter) as SpendDimensionName[])])];
    return spendCsv(readCells(accountId, span, dimensions), { span, groupBy, filter }, (name) => columnOf[name]);
  };
