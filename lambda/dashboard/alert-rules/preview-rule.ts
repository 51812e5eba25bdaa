import { backtest, backtestSpan } from '../../domain/alert-rules/backtest.ts';
import { evaluatorOf, type RuleCondition } from '../../domain/alert-rules/rule.ts';
import type { SpendDimensionName } from '../../domain/spend/dimensions.ts';
import type { ReadCells, ReportCell } from '../../domain/spend-report.ts';
import type { Implementation } from '../../http/operation.ts';
import type { previewRule as operation } from './operations.ts';

interface PreviewDependencies {
  readonly readCells: ReadCells;
  readonly now: () => Date;
}

export const previewRule =
  ({ readCells, now }: PreviewDependencies): Implementation<typeof operation> =>
  async ({ caller: { accountId }, body: { type, config } }) => {
    const condition = { type, config } as RuleCondition;
    const at = now();
    const dimensions = Object.keys(evaluatorOf(condition).filter ?? {}) as SpendDimensionName[];
    const cells: ReportCell[] = [];
    for await (const cell of readCells(accountId, backtestSpan(condition, at).read, dimensions)) cells.push(cell);
    return backtest(condition, cells, at);
  };
