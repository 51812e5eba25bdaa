import { rangeOf } from '../../domain/calendar/range.ts';
import type { SpendDimensionName } from '../../domain/spend/dimensions.ts';
import { spendCsv } from '../../domain/spend/spend-csv.ts';
import type { ReadCounters } from '../../domain/spend/spend-question.ts';
import type { Implementation } from '../../http/operation.ts';
import type { exportSpend as operation } from './operations.ts';
import { type QuestionDependencies, questionOf } from './spend-query.ts';

interface ExportDependencies extends QuestionDependencies {
  readonly readCounters: ReadCounters;
  readonly now: () => Date;
}

const columns: Partial<Record<SpendDimensionName, string>> = { keyId: 'key', providerKey: 'provider_key' };

/** Column name of a dimension: `model`, `client`, `dim:team`. */
const columnOf = (name: SpendDimensionName): string => columns[name] ?? name;

export const exportSpend =
  ({ readCounters, now, ...dependencies }: ExportDependencies): Implementation<typeof operation> =>
  async ({ caller: { accountId }, query }) => {
    const range = rangeOf(query, now());
    const asked = await questionOf(dependencies, accountId, query);
    const question = { ...asked, range, latency: query.latency === 'true' };
    return spendCsv(readCounters(question), question, columnOf);
  };
