import { evaluatorOf, type RuleCondition } from '../../../lambda/domain/limits/rule.ts';
import { type SpendSeries, spendSeries } from '../../../lambda/domain/limits/spend-series.ts';
import type { SpendCounter } from '../../../lambda/domain/spend/counters.ts';

/** The series of a rule's spend, of these counters. */
export const seriesOf = (condition: RuleCondition, counters: Iterable<SpendCounter>): SpendSeries => {
  const series = spendSeries(evaluatorOf(condition));
  for (const counter of counters) series.add(counter);
  return series;
};
