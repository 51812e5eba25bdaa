import { evaluatorOf, type RuleCondition } from '../../../lambda/domain/alert-rules/rule.ts';
import { granularityOf } from '../../../lambda/domain/alert-rules/spend-needed.ts';
import { type SpendSeries, spendSeries } from '../../../lambda/domain/alert-rules/spend-series.ts';
import type { ReportCounter } from '../../../lambda/domain/spend/spend-report.ts';

/** What a rule sees of some cells. */
export const seriesOf = (condition: RuleCondition, cells: Iterable<ReportCounter>): SpendSeries => {
  const evaluator = evaluatorOf(condition);
  const series = spendSeries(granularityOf(evaluator), evaluator.filter);
  for (const cell of cells) series.add(cell);
  return series;
};
