import { backtest, backtestRange } from '../../domain/alert-rules/backtest.ts';
import { evaluatorOf, type RuleCondition } from '../../domain/alert-rules/rule.ts';
import { spendSeries } from '../../domain/alert-rules/spend-series.ts';
import type { SpendDimensionName } from '../../domain/spend/dimensions.ts';
import type { ReadCounters } from '../../domain/spend/spend-report.ts';
import type { Implementation } from '../../http/operation.ts';
import type { previewRule as operation } from './operations.ts';

interface PreviewDependencies {
  readonly readCounters: ReadCounters;
  readonly now: () => Date;
}

export const previewRule =
  ({ readCounters, now }: PreviewDependencies): Implementation<typeof operation> =>
  async ({ caller: { accountId }, body: { type, config } }) => {
    const condition = { type, config } as RuleCondition;
    const at = now();
    const evaluator = evaluatorOf(condition);
    const { read } = backtestRange(condition, at);
    const series = spendSeries(evaluator);
    const dimensions = Object.keys(evaluator.filter ?? {}) as SpendDimensionName[];
    for await (const counter of readCounters(accountId, read, dimensions)) series.add(counter);
    return { ...backtest(condition, series, at), mayAlsoMatch: series.mayAlsoMatch(read.from, read.to) ?? null };
  };
