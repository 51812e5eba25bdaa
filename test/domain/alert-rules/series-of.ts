import { evaluatorOf, type RuleCondition } from '../../../lambda/domain/alert-rules/rule.ts';
import { type SpendSeries, spendSeries } from '../../../lambda/domain/alert-rules/spend-series.ts';
import type { ReportCounter } from '../../../lambda/domain/spend/spend-report.ts';

/** The series of a rule's spend, of these counters. */
export const seriesOf = (condition: RuleCondition, counters: Iterable<ReportCounter>): SpendSeries => {
  const series = spendSeries(evaluatorOf(condition));
  for (const counter of counters) series.add(counter);
  return series;
};
