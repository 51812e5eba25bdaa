import type { FindDisplayCurrency } from '../../data/accounts/own-prices.ts';
import { rangeOf } from '../../domain/calendar/range.ts';
import type { SpendDimensionName } from '../../domain/spend/dimensions.ts';
import { spendCsv } from '../../domain/spend/spend-csv.ts';
import type { ReadCounters } from '../../domain/spend/spend-question.ts';
import type { Implementation } from '../../http/operation.ts';
import type { exportSpend as operation } from './operations.ts';
import { dimensionsOf, type FindDeclared } from './spend-query.ts';

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
    const [dimensions, currency] = await Promise.all([
      dimensionsOf(query, () => findDeclared(accountId)),
      findCurrency?.(accountId) ?? null,
    ]);
    const question = { ...dimensions, accountId, range, cost: query.cost, currency, latency: query.latency === 'true' };
    return spendCsv(readCounters(question), question, columnOf);
  };
