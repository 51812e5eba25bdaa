import { rangeOf } from '../../domain/calendar/range.ts';
import type { SpendDimensionName } from '../../domain/spend/dimensions.ts';
import { spendCsv } from '../../domain/spend/spend-csv.ts';
import { type ReadCounters, separateFor } from '../../domain/spend/spend-report.ts';
import type { Implementation } from '../../http/operation.ts';
import { dimensionOf, filterOf } from '../spend/spend-query.ts';
import type { exportSpend as operation } from './operations.ts';

interface ExportDependencies {
  readonly readCounters: ReadCounters;
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
  ({ readCounters, now }: ExportDependencies): Implementation<typeof operation> =>
  async ({ caller: { accountId }, query }) => {
    const range = rangeOf(query, now());
    const filter = filterOf(query);
    const groupBy = [...new Set(query.groupBy)].map(dimensionOf);
    const dimensions = [...new Set([...groupBy, ...(Object.keys(filter) as SpendDimensionName[])])];
    const counters = readCounters(accountId, range, dimensions, separateFor(filter));
    return spendCsv(counters, { range, groupBy, filter }, (name) => columnOf[name]);
  };
