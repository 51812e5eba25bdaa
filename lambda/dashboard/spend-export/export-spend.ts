import type { FindDisplayCurrency } from '../../data/accounts/display-currency.ts';
import { rangeOf } from '../../domain/calendar/range.ts';
import type { SpendDimensionName } from '../../domain/spend/dimensions.ts';
import { withDisplayRates } from '../../domain/spend/display-currency.ts';
import { spendCsv } from '../../domain/spend/spend-csv.ts';
import { onCostBasis, type ReadCounters, separateFor } from '../../domain/spend/spend-report.ts';
import type { Implementation } from '../../http/operation.ts';
import { dimensionsOf, type FindDeclared } from '../spend/spend-query.ts';
import type { exportSpend as operation } from './operations.ts';

interface ExportDependencies {
  readonly readCounters: ReadCounters;
  readonly findDeclared: FindDeclared;
  /** Without it, amounts are in US dollars alone. */
  readonly findCurrency?: FindDisplayCurrency;
  readonly now: () => Date;
}

const columns: Partial<Record<SpendDimensionName, string>> = { keyId: 'key', providerKey: 'provider_key' };

/** Column name of a dimension: `model`, `client`, `dim:team`. */
const columnOf = (name: SpendDimensionName): string => columns[name] ?? name;

export const exportSpend =
  ({ readCounters, findDeclared, findCurrency, now }: ExportDependencies): Implementation<typeof operation> =>
  async ({ caller: { accountId }, query }) => {
    const range = rangeOf(query, now());
    const [{ filter, groupBy, dimensions }, currency] = await Promise.all([
      dimensionsOf(query, () => findDeclared(accountId)),
      findCurrency?.(accountId) ?? null,
    ]);
    const readSums = withDisplayRates(onCostBasis(readCounters, query.cost), currency);
    const latency = query.latency === 'true';
    const counters = readSums(accountId, range, dimensions, separateFor(filter), latency);
    return spendCsv(counters, { range, groupBy, filter, currency, latency }, columnOf);
  };
