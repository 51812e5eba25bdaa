import { backtest, backtestRange } from '../../domain/alert-rules/backtest.ts';
import { evaluatorOf, type RuleCondition } from '../../domain/alert-rules/rule.ts';
import { filteredBy, spendSeries } from '../../domain/alert-rules/spend-series.ts';
import type { ReadCounters } from '../../domain/spend/spend-report.ts';
import type { Implementation } from '../../http/operation.ts';
import type { previewRule as operation } from './operations.ts';
import { type FindDeclared, requireDeclared } from './require-declared.ts';

interface PreviewDependencies {
  readonly readCounters: ReadCounters;
  readonly findDeclared: FindDeclared;
  readonly now: () => Date;
}

export const previewRule =
  ({ readCounters, findDeclared, now }: PreviewDependencies): Implementation<typeof operation> =>
  async ({ caller: { accountId }, body: { type, config } }) => {
    const condition = { type, config } as RuleCondition;
    await requireDeclared(findDeclared, accountId, condition);
    const at = now();
    const evaluator = evaluatorOf(condition);
    const { read } = backtestRange(condition, at);
    const series = spendSeries(evaluator);
    for await (const counter of readCounters(accountId, read, filteredBy(evaluator.filter))) series.add(counter);
    return { ...backtest(condition, series, at), mayAlsoMatch: series.mayAlsoMatch(read.from, read.to) ?? null };
  };
