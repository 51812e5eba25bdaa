import type { ReadCounters } from '../spend/spend-question.ts';
import { forecastOf, useOf } from './limit.ts';
import { currentPeriod, evaluatorOf, type RuleCondition } from './rule.ts';
import { fillSeries } from './spend-query.ts';
import { spendSeries } from './spend-series.ts';

/** A rule or budget as it is stored, as far as its state depends on it. */
interface StoredRule {
  readonly condition: RuleCondition;
  readonly isActive: boolean;
  readonly effectiveFrom: string;
}

/** The use of the limits of rules, in their order: the spend of their periods, read once for all of them. */
export const limitStates = async <R extends StoredRule>(
  readCounters: ReadCounters,
  accountId: string,
  rules: readonly R[],
  at: Date,
) => {
  const judged = rules.flatMap((rule) => {
    const evaluator = evaluatorOf(rule.condition);
    const { limit } = evaluator;
    const series = spendSeries({ ...evaluator, effectiveFrom: rule.isActive ? rule.effectiveFrom : undefined });
    return limit ? [{ rule, limit, evaluator, series, period: currentPeriod(evaluator, at) }] : [];
  });
  await fillSeries(readCounters, accountId, judged, at);
  return judged.map(({ rule, limit, series, period }) => ({
    rule,
    limit,
    period,
    use: useOf(limit, period ? series.sum(period.start, period.end) : {}),
    projectedNanoUsd: (period && forecastOf(period, at, series)?.nanoUsd) ?? null,
    mayAlsoMatch: (period && series.mayAlsoMatch(period.start, period.end)) ?? null,
  }));
};
